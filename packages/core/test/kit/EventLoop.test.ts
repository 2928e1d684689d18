import { assert, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as EventLoop from "../../src/kit/EventLoop.js"
import * as Outbox from "../../src/kit/Outbox.js"

/** Waits until the event loop has turned, sockets and timers included. */
const turned = Effect.async<void>((resume) => {
  setTimeout(() => setImmediate(() => resume(Effect.void)), 1)
})

const endless: Readonly<Record<string, Effect.Effect<void, unknown>>> = {
  "drop what they send": EventLoop.drop,
  "send what is kept for a later reader": Outbox.send(
    { congestion: undefined, unsafeSend: () => true, isUnread: true },
    Message.notification("n"),
    undefined
  ),
  "send what always fits": Outbox.send(
    { congestion: undefined, unsafeSend: () => true },
    Message.notification("n"),
    undefined
  )
}

describe("Senders that never wait", () => {
  for (const [what, send] of Object.entries(endless)) {
    it.live(`let the event loop turn while they ${what}`, () =>
      Effect.gen(function*() {
        let count = 0
        const sending = Effect.forever(Effect.zipRight(send, Effect.sync(() => count++)))
        const senders = yield* Effect.replicateEffect(Effect.fork(sending), 100)
        for (let turns = 0; turns < 10; turns++) yield* turned
        const before = count
        yield* turned
        assert.isAbove(count, before)
        yield* Fiber.interruptAll(senders)
      }))
  }
})

describe("A turn of the event loop", () => {
  it.live("comes once to a fiber that waits, however many others were interrupted before it came", () =>
    Effect.gen(function*() {
      let turns = 0
      let isOver = false
      const count = (): void => {
        turns++
        if (!isOver) setImmediate(count)
      }
      count()
      for (let n = 0; n < 10; n++) {
        const other = yield* Effect.fork(EventLoop.turn)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(other)
      }
      const seen: Array<number> = []
      yield* Effect.repeatN(Effect.zipRight(EventLoop.turn, Effect.sync(() => seen.push(turns))), 9)
      isOver = true
      assert.deepStrictEqual(seen, seen.map((_, n) => seen[0]! + n))
    }))

  it.live("comes to a chain of 20,000 that wait for it, though some are interrupted", () =>
    Effect.gen(function*() {
      let count = 0
      const waiting = yield* Effect.replicateEffect(
        Effect.fork(Effect.zipRight(EventLoop.turn, Effect.sync(() => count++))),
        20_000
      )
      yield* Effect.yieldNow({ priority: 10 })
      yield* Fiber.interruptAll(waiting.slice(0, 5_000))
      for (const fiber of waiting.slice(5_000)) yield* Fiber.join(fiber)
      assert.strictEqual(count, 15_000)
    }))
})
