import { assert, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { connect, side } from "./ScriptedPeer.js"

describe("a batch", () => {
  const batch = (...elements: ReadonlyArray<unknown>) => Message.fromUnknown(elements)
  const ping = (id: number) => Message.request(id, "ping")
  const refusal = Message.failure(undefined, {
    code: JsonRpcError.INVALID_REQUEST,
    message: "Invalid request: expected one message, received a batch"
  })

  it.scoped("is refused by default", () =>
    Effect.gen(function*() {
      for (const options of [{}, { batches: () => false }]) {
        const t = yield* connect(side({}), options)
        t.conversation.receive(batch(ping(1), ping(2)))
        assert.deepStrictEqual<unknown>(yield* t.peer.received, [refusal])
        assert.strictEqual((yield* t.diagnostic)._tag, "Malformed")
      }
    }))

  it.scoped("is handled message by message, in order, when batches are allowed", () =>
    Effect.gen(function*() {
      let allowed = false
      const notified: Array<string> = []
      const served = side({}, ({ method }) => {
        notified.push(method)
        return undefined
      })
      const t = yield* connect(served, { batches: () => allowed })
      allowed = true
      t.conversation.receive(batch(ping(1), Message.notification("note"), 5, ping(2)))
      const no = { code: -32600, message: "Invalid request: expected an object, received number" }
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [
        Message.success(1, {}),
        Message.failure(undefined, no),
        Message.success(2, {})
      ])
      assert.deepStrictEqual(notified, ["note"])
    }))

  it.scoped("may contain answers to our requests", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { batches: () => true })
      const calls = yield* Effect.fork(Effect.all([t.conversation.request("a"), t.conversation.request("b")], {
        concurrency: "unbounded"
      }))
      yield* t.peer.receive
      yield* t.peer.receive
      t.conversation.receive(batch(Message.success(2, { b: 1 }), Message.success(1, { a: 1 })))
      assert.deepStrictEqual(yield* Fiber.join(calls), [{ a: 1 }, { b: 1 }])
    }))

  it.scoped("is refused when it is empty, or has more than 100 messages", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { batches: () => true })
      t.conversation.receive(batch())
      t.conversation.receive(batch(...Array.from({ length: 101 }, (_, id) => ping(id))))
      const message = "Invalid request: a batch must have from 1 to 100 messages"
      const tooMany = Message.failure(undefined, { code: JsonRpcError.INVALID_REQUEST, message })
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [tooMany, tooMany])
      t.conversation.receive(batch(...Array.from({ length: 100 }, (_, id) => ping(id))))
      assert.strictEqual((yield* t.peer.received).length, 100)
    }))

  it.scoped("may not contain another batch", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { batches: () => true })
      t.conversation.receive(batch([ping(1)], ping(2)))
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [refusal, Message.success(2, {})])
    }))

  it.scoped("is refused when the option `batches` throws", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), {
        batches: () => {
          throw new Error("boom")
        }
      })
      t.conversation.receive(batch(ping(1)))
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [refusal])
    }))

  it.scoped("is answered on the channel that it arrived on", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({}), { batches: () => true })
      const written: Array<Message.Message> = []
      t.conversation.receive(batch(ping(1), 5), {
        send: () => Effect.void,
        unsafeSend: (message) => written.push(message) > 0
      })
      assert.strictEqual(written.length, 2)
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))
})
