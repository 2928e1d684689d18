import { assert, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type * as Outbound from "@effect-mcp/core/Outbound"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, refusal, side } from "../ScriptedPeer.js"

/** A conversation, calls whose end the test awaits, and pauses that the test ends. */
const scene = Effect.gen(function*() {
  const t = yield* connect(side({}))
  const call = (options: Outbound.RequestOptions) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkScoped(t.conversation.request("slow", {}, options))
      const { id } = (yield* t.peer.receive) as Message.Request
      const progress = Effect.sync(() =>
        t.conversation.receive(Message.notification("notifications/progress", { progressToken: id, progress: 1 }))
      )
      /** It fails when the clock has moved by this, and no earlier. */
      const endsIn = (millis: number, waited: number) =>
        Effect.gen(function*() {
          yield* TestClock.adjust(millis - 1)
          assert.isNull(fiber.unsafePoll(), "ended too early")
          yield* TestClock.adjust(1)
          assert.deepInclude(yield* refusal(Fiber.join(fiber)), { _tag: "RequestTimeout", millis: waited })
          assert.deepInclude(yield* t.peer.receive, { method: "notifications/cancelled" })
        })
      return { endsIn, progress }
    })
  const pause = Effect.gen(function*() {
    const over = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkScoped(t.conversation.pauseTimeouts(Deferred.await(over)))
    yield* Effect.yieldNow()
    return { end: Effect.zipRight(Deferred.succeed(over, undefined), Fiber.join(fiber)), fiber }
  })
  return { call, pause }
})

describe("Calls, while timeouts are paused:", () => {
  it.scoped("no call times out; each goes on afterwards with what was left of it", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      const early = yield* call({ timeout: 1000 })
      yield* TestClock.adjust(400)
      const pausing = yield* pause
      yield* TestClock.adjust(100_000)
      yield* pausing.end
      yield* early.endsIn(600, 101_000)
    }))

  it.scoped("the clock of a call that begins meanwhile starts at the end", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      const pausing = yield* pause
      yield* TestClock.adjust(5000)
      const meanwhile = yield* call({ timeout: 1000 })
      yield* TestClock.adjust(5000)
      yield* pausing.end
      yield* meanwhile.endsIn(1000, 6000)
    }))

  it.scoped("the longest wait in all runs on", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      yield* pause
      const limited = yield* call({ timeout: 1000, maxTotalTimeout: 3000 })
      yield* limited.endsIn(3000, 3000)
    }))

  it.scoped("progress restarts a timeout, which then begins at the end", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      const reporting = yield* call({ timeout: 1000, resetTimeoutOnProgress: true })
      yield* TestClock.adjust(900)
      const pausing = yield* pause
      yield* TestClock.adjust(5000)
      yield* reporting.progress
      yield* TestClock.adjust(5000)
      yield* pausing.end
      yield* reporting.endsIn(1000, 11_900)
    }))

  it.scoped("by several at once, they stand still until the last has ended, however it ends", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      const waiting = yield* call({ timeout: 1000 })
      const first = yield* pause
      const second = yield* pause
      yield* TestClock.adjust(5000)
      yield* first.end
      yield* TestClock.adjust(5000)
      yield* Fiber.interrupt(second.fiber)
      yield* waiting.endsIn(1000, 11_000)
    }))

  it.scoped("a call without a timeout stays without one", () =>
    Effect.gen(function*() {
      const { call, pause } = yield* scene
      const endless = yield* call({ timeout: Infinity })
      const limited = yield* call({ timeout: Infinity, maxTotalTimeout: 9000 })
      const pausing = yield* pause
      yield* TestClock.adjust(1000)
      yield* pausing.end
      yield* limited.endsIn(8000, 9000)
      void endless
    }))
})
