/**
 * How many of our calls are in flight at once, what becomes of those that wait to be sent, and the reason of a cancel.
 */
import { assert, it } from "@effect/vitest"
import type * as Conversation from "@effect-mcp/core/Conversation"
import type * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber, TestClock } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, side } from "../ScriptedPeer.js"

const requestOf = (incoming: Message.Incoming) => incoming as Message.Request

/** Forks a call and waits until the peer has received it. */
const calling = Effect.fnUntraced(function*(
  { conversation, peer }: Effect.Effect.Success<ReturnType<typeof connect>>,
  ...args: Parameters<Conversation.Conversation["request"]>
) {
  const fiber = yield* Effect.fork(conversation.request(...args))
  return { fiber, request: requestOf(yield* peer.receive) }
})

describe("calls beyond those that may be in flight", () => {
  const urgent = { ...side({}), neverWaits: (method: string) => method === "ping" }

  it.scoped("wait, and are sent in order as soon as others end", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { maxPending: 2 })
      const calls = yield* Effect.all([1, 2, 3, 4].map((n) => Effect.fork(t.conversation.request("m", { n }))))
      for (const n of [1, 2]) assert.strictEqual(requestOf(yield* t.peer.receive).params?.n, n)
      while (t.conversation.pending() < 4) yield* Effect.yieldNow()
      assert.deepStrictEqual(yield* t.peer.received, [])
      yield* t.peer.answer(2)
      assert.strictEqual(requestOf(yield* t.peer.receive).params?.n, 3)
      yield* t.peer.answer(1)
      assert.strictEqual(requestOf(yield* t.peer.receive).params?.n, 4)
      for (const id of [3, 4]) yield* t.peer.answer(id)
      assert.deepStrictEqual(yield* Effect.forEach(calls, (call) => Fiber.join(call)), [{}, {}, {}, {}])
    }))

  it.scoped("are a chain of 20,000, each sent when the one before it has ended", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { maxPending: 1 })
      const count = 20_000
      const calls = yield* Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        (n) => Effect.fork(t.conversation.request("m", { n }))
      )
      for (let n = 0; n < count; n++) yield* t.peer.answer((yield* t.peer.receive as Effect.Effect<Message.Request>).id)
      assert.lengthOf(yield* Effect.forEach(calls, Fiber.join), count)
    }))

  it.scoped("are sent at once when they never wait", () =>
    Effect.gen(function*() {
      const t = yield* connect(urgent, { maxPending: 1 })
      yield* Effect.all(["m", "m", "ping"].map((method) => Effect.fork(t.conversation.request(method))))
      assert.deepStrictEqual(
        [requestOf(yield* t.peer.receive).method, requestOf(yield* t.peer.receive).method],
        ["m", "ping"]
      )
    }))

  it.scoped("are never sent when their caller is interrupted, and nothing is cancelled", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { maxPending: 1 })
      const first = yield* calling(t, "m")
      const others = yield* Effect.all([1, 2, 3].map((n) => Effect.fork(t.conversation.request("other", { n }))))
      while (t.conversation.pending() < 4) yield* Effect.yieldNow()
      yield* Fiber.interrupt(others[0]!)
      assert.deepStrictEqual(yield* t.peer.received, [])
      yield* Fiber.interruptAll([first.fiber, others[1]!])
      assert.strictEqual(requestOf(yield* t.peer.receive).method, "notifications/cancelled")
      assert.deepStrictEqual(requestOf(yield* t.peer.receive).params, { n: 3 })
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("time out in their time, without being sent", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { maxPending: 1, timeout: "10 seconds" })
      const calls = yield* Effect.all(
        [1, 2, 3].map((n) => Effect.fork(Effect.flip(t.conversation.request("m", { n }))))
      )
      assert.deepStrictEqual(requestOf(yield* t.peer.receive).params, { n: 1 })
      yield* TestClock.adjust("10 seconds")
      for (const call of calls) assert.deepInclude(yield* Fiber.join(call), { _tag: "RequestTimeout", millis: 10_000 })
      assert.strictEqual(requestOf(yield* t.peer.receive).method, "notifications/cancelled")
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("fail when the conversation closes, and say that they were not sent", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { maxPending: 1 })
      const calls = yield* Effect.all([1, 2].map(() => Effect.fork(Effect.flip(t.conversation.request("m")))))
      while (t.conversation.pending() < 2) yield* Effect.yieldNow()
      yield* t.closeScope
      const errors = yield* Effect.forEach(calls, Fiber.join)
      for (const error of errors) assert.strictEqual(error._tag, "ConnectionClosed")
      assert.deepStrictEqual(errors.map((error) => "isUnsent" in error && error.isUnsent), [false, true])
    }))

  it.scoped("are measured once, however many calls end before them", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      let written = 0
      const long = { text: "x".repeat(9_000_000) }
      const measured = {
        toJSON: () => {
          written++
          return long
        }
      } as unknown as Message.Params
      yield* Effect.all(Array.from({ length: 100 }, () => Effect.fork(t.conversation.request("m"))))
      yield* Effect.fork(t.conversation.request("m", long))
      yield* Effect.fork(t.conversation.request("m", measured))
      while (t.conversation.pending() < 102) yield* Effect.yieldNow()
      for (let id = 1; id <= 30; id++) yield* t.peer.answer(id)
      while (t.conversation.pending() > 72) yield* Effect.yieldNow()
      assert.strictEqual(written, 1)
    }))

  it.scoped("wait when their text is long: a peer with our defaults refuses none", () =>
    Effect.gen(function*() {
      const text = "x".repeat(400_000)
      const t = yield* connect()
      const server = yield* connect(side({ m: () => Effect.as(Effect.yieldNow(), {}) }))
      const calls = yield* Effect.fork(
        Effect.all(Array.from({ length: 200 }, () => t.conversation.request("m", { text })), {
          concurrency: "unbounded"
        })
      )
      // The peer passes the messages between two conversations with the default limits.
      const pass = (from: typeof t, to: typeof t) =>
        Effect.forever(Effect.flatMap(from.peer.receive, (message) => to.peer.send(message as Message.Message)))
      yield* Effect.forkScoped(pass(t, server))
      yield* Effect.forkScoped(pass(server, t))
      assert.strictEqual((yield* Fiber.join(calls)).length, 200)
      assert.deepStrictEqual(server.diagnostics, [])
    }))
})

describe("the reason of our cancel", () => {
  for (const cancelReason of [undefined, "the user has left"]) {
    it.scoped(
      cancelReason === undefined ? "says by default that the caller was interrupted" : "may be given with the call",
      () =>
        Effect.gen(function*() {
          const t = yield* connect()
          const { fiber, request } = yield* calling(t, "m", undefined, { cancelReason })
          yield* Fiber.interrupt(fiber)
          const reason = cancelReason ?? "the caller was interrupted"
          assert.deepStrictEqual<unknown>(requestOf(yield* t.peer.receive).params, { requestId: request.id, reason })
        })
    )
  }
})
