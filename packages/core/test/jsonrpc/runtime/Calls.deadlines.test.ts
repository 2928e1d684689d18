import { assert, it } from "@effect/vitest"
import type * as Conversation from "@effect-mcp/core/Conversation"
import { make } from "@effect-mcp/core/Conversation"
import * as Direct from "@effect-mcp/core/Direct"
import type * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type * as Outbound from "@effect-mcp/core/Outbound"
import * as Transport from "@effect-mcp/core/Transport"
import { Duration, Effect, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, refusal, side } from "../ScriptedPeer.js"

/** Forks a call and waits until the peer has received it. */
const calling = Effect.fnUntraced(function*(
  options: Outbound.RequestOptions,
  conversationOptions?: Conversation.Options
) {
  const t = yield* connect(side({}), conversationOptions)
  const fiber = yield* Effect.fork(t.conversation.request("slow", {}, options))
  const request = (yield* t.peer.receive) as Message.Request
  const progress = (progress: number) =>
    Effect.sync(() =>
      t.conversation.receive(Message.notification("notifications/progress", { progressToken: request.id, progress }))
    )
  return { ...t, fiber, request, progress, over: Effect.sync(() => fiber.unsafePoll() !== null) }
})

/** Advances the clock, and returns the millisecond at which the call ended. */
const endOf = (call: Effect.Effect.Success<ReturnType<typeof calling>>, from: number, to: number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(to - from - 1)
    assert.isFalse(yield* call.over, `over before ${to} ms`)
    yield* TestClock.adjust(1)
    const error = yield* refusal(Fiber.join(call.fiber))
    assert.strictEqual(error._tag, "RequestTimeout")
    return error as LocalError.RequestTimeout
  })

describe("a timeout", () => {
  it.scoped("fails the call with RequestTimeout, on the millisecond, and SHOULD cancel the request", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: "3 seconds" })
      const error = yield* endOf(call, 0, 3000)
      assert.deepInclude(error, { method: "slow", millis: 3000 })
      assert.deepStrictEqual<unknown>(yield* call.peer.received, [
        Message.notification("notifications/cancelled", { requestId: 1, reason: "timed out after 3000 ms" })
      ])
      assert.strictEqual(call.conversation.pending(), 0)
    }))

  it.scoped("MUST NOT cancel a request with cancelOnAbandon false", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 10, cancelOnAbandon: false })
      yield* endOf(call, 0, 10)
      assert.deepStrictEqual(yield* call.peer.received, [])
    }))

  it.scoped("leaves the conversation usable, and a late answer is reported", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 10 })
      yield* endOf(call, 0, 10)
      yield* call.peer.answer(1)
      assert.deepInclude(yield* call.diagnostic, { _tag: "UnknownResponse", late: true })
      assert.strictEqual(((yield* call.peer.receive) as Message.Notification).method, "notifications/cancelled")
      const again = yield* Effect.fork(call.conversation.request("again"))
      yield* call.peer.answer(((yield* call.peer.receive) as Message.Request).id, { ok: true })
      assert.deepStrictEqual(yield* Fiber.join(again), { ok: true })
    }))

  it.scoped("of the conversation holds for a request that has none", () =>
    Effect.gen(function*() {
      const call = yield* calling({}, { timeout: "1 second" })
      assert.strictEqual((yield* endOf(call, 0, 1000)).millis, 1000)
    }))

  for (const timeout of [500, 2000]) {
    it.scoped(`of the request replaces that of the conversation: ${timeout} instead of 1000`, () =>
      Effect.gen(function*() {
        const call = yield* calling({ timeout }, { timeout: "1 second" })
        yield* endOf(call, 0, timeout)
      }))
  }

  for (const timeout of [0, -1, NaN, Duration.zero]) {
    it.scoped(`of ${String(timeout)} fails at once and sends nothing, whatever the timeout of the conversation`, () =>
      Effect.gen(function*() {
        const t = yield* connect(side({}), { timeout: "1 minute" })
        const error = yield* refusal(t.conversation.request("slow", {}, { timeout }))
        assert.deepInclude(error, { _tag: "RequestTimeout", method: "slow", millis: 0 })
        assert.deepStrictEqual(yield* t.peer.received, [])
      }))
  }

  for (const timeout of [Infinity, Duration.infinity, 2 ** 31, 2 ** 53, "1000 days"] as const) {
    it.scoped(`of ${String(timeout)} does not fire at once`, () =>
      Effect.gen(function*() {
        const call = yield* calling({ timeout }, { timeout: 10 })
        yield* TestClock.adjust("20 days")
        assert.isFalse(yield* call.over)
        yield* call.peer.answer(1)
        yield* Fiber.join(call.fiber)
      }))
  }

  it.effect("applies to a transport that accepts nothing", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const conversation = yield* Transport.make({ incoming: Stream.never, write: () => Effect.never, capacity: 1 })
        .pipe(
          Effect.flatMap((wedged) => make(wedged, side({}))),
          Scope.extend(scope)
        )
      const calls = yield* Effect.fork(Effect.all(
        Array.from({ length: 10 }, () => refusal(conversation.request("slow", {}, { timeout: 100 }))),
        { concurrency: "unbounded" }
      ))
      while (conversation.pending() < 10) yield* Effect.yieldNow()
      yield* TestClock.adjust(100)
      assert.deepStrictEqual((yield* Fiber.join(calls)).map((error) => error._tag), Array(10).fill("RequestTimeout"))
      const leaving = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(leaving)
    }))

  it.scoped("ends calls in the order of their deadlines, and each of them once", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const order: Array<number> = []
      for (const timeout of [300, 100, 200, 100]) {
        yield* Effect.forkScoped(Effect.ensuring(
          t.conversation.request("slow", {}, { timeout }),
          Effect.sync(() => order.push(timeout))
        ))
        yield* t.peer.receive
      }
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(order, [100, 100, 200, 300])
      assert.strictEqual((yield* t.peer.received).length, 4)
    }))
})

describe("resetTimeoutOnProgress", () => {
  for (const callback of [true, false]) {
    const name = callback ? "with a callback" : "without a callback"
    const options = {
      timeout: 100,
      resetTimeoutOnProgress: true,
      ...(callback ? { onProgress: () => Effect.void } : undefined)
    }

    it.scoped(`restarts the timeout with each progress, ${name}`, () =>
      Effect.gen(function*() {
        const call = yield* calling(options)
        assert.deepStrictEqual<unknown>(call.request.params?._meta, { progressToken: call.request.id })
        for (let i = 1; i <= 5; i++) {
          yield* TestClock.adjust(99)
          assert.isFalse(yield* call.over)
          yield* call.progress(i)
        }
        assert.strictEqual((yield* endOf(call, 495, 595)).millis, 595)
      }))

    it.scoped(`does not exceed maxTotalTimeout, ${name}`, () =>
      Effect.gen(function*() {
        const call = yield* calling({ ...options, maxTotalTimeout: 250 })
        for (let i = 1; i <= 4; i++) {
          yield* TestClock.adjust(60)
          yield* call.progress(i)
        }
        assert.strictEqual((yield* endOf(call, 240, 250)).millis, 250)
      }))
  }

  it.scoped("SHOULD not keep a call for ever: a day, unless the call says otherwise", () =>
    Effect.gen(function*() {
      const one = yield* calling({ timeout: "1 hour", resetTimeoutOnProgress: true })
      const other = yield* calling({ timeout: "1 hour", resetTimeoutOnProgress: true, maxTotalTimeout: Infinity })
      for (let hour = 1; hour <= 24; hour++) {
        assert.isFalse(yield* one.over)
        yield* TestClock.adjust("59 minutes")
        yield* one.progress(hour)
        yield* other.progress(hour)
      }
      yield* endOf(one, 23.6 * 3_600_000, 24 * 3_600_000)
      assert.isFalse(yield* other.over)
    }))

  it.scoped("is not the default: progress alone does not restart the timeout", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 100, onProgress: () => Effect.void })
      yield* TestClock.adjust(60)
      yield* call.progress(1)
      yield* endOf(call, 60, 100)
    }))

  it.scoped("needs progress: a notification without it does not restart the timeout", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 100, resetTimeoutOnProgress: true })
      yield* TestClock.adjust(60)
      call.conversation.receive(Message.notification("notifications/progress", { progressToken: 1 }))
      call.conversation.receive(Message.notification("notifications/progress", { progressToken: true, progress: 1 }))
      call.conversation.receive(Message.notification("notifications/progress", { progressToken: 2, progress: 1 }))
      yield* endOf(call, 60, 100)
    }))

  it.scoped("has no effect on a call without a timeout", () =>
    Effect.gen(function*() {
      const call = yield* calling({ resetTimeoutOnProgress: true })
      yield* call.progress(1)
      yield* TestClock.adjust("1 hour")
      assert.isFalse(yield* call.over)
    }))
})

describe("maxTotalTimeout", () => {
  it.scoped("limits a call without a timeout", () =>
    Effect.gen(function*() {
      const call = yield* calling({ maxTotalTimeout: 100 })
      assert.strictEqual((yield* endOf(call, 0, 100)).millis, 100)
    }))

  it.scoped("wins over a longer timeout", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 500, maxTotalTimeout: 100 })
      yield* endOf(call, 0, 100)
    }))

  it.scoped("does not extend a shorter one", () =>
    Effect.gen(function*() {
      const call = yield* calling({ timeout: 100, maxTotalTimeout: 500 })
      yield* endOf(call, 0, 100)
    }))

  it.scoped("of 0 fails at once", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const error = yield* refusal(t.conversation.request("slow", {}, { maxTotalTimeout: 0 }))
      assert.strictEqual(error._tag, "RequestTimeout")
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))
})

describe("a timeout over Direct, where a cancel is received before unsafeSend returns:", () => {
  it.scoped("a call that ends because another one times out is not cancelled as well", () =>
    Effect.gen(function*() {
      const [left, right] = yield* Direct.pair
      const received: Array<Transport.Delivery> = []
      yield* Effect.fork(right.run!((incoming) => {
        received.push(incoming)
        const { method, params } = incoming as Message.Notification
        if (method === "notifications/cancelled" && params?.requestId === 1) right.unsafeSend(Message.success(2, {}))
      }))
      const conversation = yield* make(left, side({}))
      const calls = yield* Effect.fork(Effect.all(
        [1, 2].map(() => Effect.exit(conversation.request("slow", {}, { timeout: 100 }))),
        { concurrency: "unbounded" }
      ))
      while (received.length < 2) yield* Effect.yieldNow()
      yield* TestClock.adjust(100)
      const [first, second] = yield* Fiber.join(calls)
      assert.isTrue(Exit.isFailure(first!))
      assert.deepStrictEqual<unknown>(second, Exit.succeed({}))
      assert.strictEqual(received.length, 3, "one cancel")
    }))
})
