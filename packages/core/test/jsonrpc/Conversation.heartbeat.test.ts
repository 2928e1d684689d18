/**
 * The heartbeat of a conversation: when pings are sent, and when the peer counts as gone.
 */
import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Fiber, TestClock } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { connect, side } from "./ScriptedPeer.js"

const beating = (method: () => string | undefined = () => "ping") =>
  connect(undefined, { heartbeat: { interval: "10 seconds", method } } satisfies Conversation.Options)

const isPing = (message: Message.Incoming) => assert.strictEqual((message as Message.Request).method, "ping")

describe("a heartbeat", () => {
  it.scoped("ends the conversation when two pings in a row bring nothing, and fails its calls", () =>
    Effect.gen(function*() {
      const { conversation, peer } = yield* beating()
      const call = yield* Effect.fork(Effect.flip(conversation.request("m")))
      yield* peer.receive
      yield* TestClock.adjust("10 seconds")
      isPing(yield* peer.receive)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(((yield* peer.receive) as Message.Notification).method, "notifications/cancelled")
      isPing(yield* peer.receive)
      yield* TestClock.adjust("10 seconds")
      const error = yield* Effect.flip(conversation.ended)
      assert.match(error.message, /^The peer is gone: 2 pings had no answer, each within 10s/)
      assert.deepInclude(yield* Fiber.join(call), { _tag: "ConnectionClosed", cause: error })
    }))

  it.scoped("sends no ping while messages arrive", () =>
    Effect.gen(function*() {
      const { peer } = yield* beating()
      for (let i = 0; i < 5; i++) {
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(yield* peer.received, [])
      }
    }))

  const signs: ReadonlyArray<readonly [name: string, sign: (id: Message.RequestId) => Message.Message]> = [
    ["an answer", (id) => Message.success(id, {})],
    ["an error", (id) => Message.failure(id, { code: JsonRpcError.METHOD_NOT_FOUND, message: "no" })],
    ["another message", () => Message.notification("n")]
  ]
  for (const [name, sign] of signs) {
    it.scoped(`takes ${name} as a sign that the peer is there`, () =>
      Effect.gen(function*() {
        const { peer } = yield* beating()
        yield* TestClock.adjust("10 seconds")
        const ping = (yield* peer.receive) as Message.Request
        yield* peer.send(sign(ping.id))
        yield* peer.received
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(yield* peer.received, [])
        yield* TestClock.adjust("10 seconds")
        yield* peer.received
        yield* TestClock.adjust("10 seconds")
        // Two intervals later it is still there.
        yield* peer.received
      }))
  }

  it.scoped("sends nothing while it has no method", () =>
    Effect.gen(function*() {
      const { peer } = yield* beating(() => undefined)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* peer.received, [])
    }))

  it.scoped("counts a ping that the transport cannot deliver as one that brings nothing, after the interval", () =>
    Effect.gen(function*() {
      const [here] = yield* Transport.memory()
      const lost = new TransportError({ reason: "Write", message: "the network is down" })
      const failing: Transport.Transport = {
        ...here,
        run: (receive) => Effect.zipRight(Effect.sync(() => deliver = receive), Effect.never),
        unsafeSend: (message) => {
          pings++
          if ("id" in message) deliver(new Transport.Undelivered(message.id!, lost))
          return true
        }
      }
      let deliver: (delivery: Transport.Delivery) => void
      let pings = 0
      const conversation = yield* Conversation.make(failing, side({}), {
        heartbeat: { interval: "10 seconds", method: () => "ping" }
      })
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(pings, 2)
      assert.strictEqual(conversation.pending(), 0)
      yield* TestClock.adjust("1 second")
      assert.match((yield* Effect.flip(conversation.ended)).message, /^The peer is gone/)
    }))

  it.scoped("ends the conversation while the timeouts of its calls stand still", () =>
    Effect.gen(function*() {
      const { conversation, peer } = yield* beating()
      yield* Effect.forkScoped(conversation.pauseTimeouts(Effect.never))
      yield* TestClock.adjust("30 seconds")
      assert.match((yield* Effect.flip(conversation.ended)).message, /^The peer is gone/)
      yield* peer.closed
    }))
})
