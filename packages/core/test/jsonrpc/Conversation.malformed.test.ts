/**
 * Input that is not a message: what is answered, which of our calls it ends, and what a client does differently.
 */
import { assert, it } from "@effect/vitest"
import type * as Conversation from "@effect-mcp/core/Conversation"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import { Effect, Fiber } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import { connect } from "./ScriptedPeer.js"

/** A conversation with one call in flight, whose id is 1, and a function that receives a text. */
const calling = (options?: Conversation.Options) =>
  Effect.gen(function*() {
    const t = yield* connect(undefined, options)
    const call = yield* Effect.fork(Effect.either(t.conversation.request("ask")))
    yield* t.peer.receive
    return { ...t, call, receive: (text: string) => t.conversation.receive(MessageText.parse(text)) }
  })

describe("an id without a method, a result or an error", () => {
  for (const text of [`{"jsonrpc":"2.0","id":1}`, `{"id":"1"}`, `{"jsonrpc":"2.0","id":1,"params":{}}`]) {
    it.scoped(`ends the call of ours that has this id, and is not answered: ${text}`, () =>
      Effect.gen(function*() {
        const { call, diagnostic, peer, receive } = yield* calling()
        receive(text)
        const ended = yield* Fiber.join(call)
        assert.deepInclude(ended._tag === "Left" && ended.left, {
          _tag: "TransportError",
          reason: "Decode",
          message: `Invalid response to "ask": it has neither "result" nor "error"`
        })
        assert.deepStrictEqual(yield* peer.received, [])
        assert.strictEqual((yield* diagnostic)._tag, "Malformed")
      }))
  }

  it.scoped("ends this call also when the input is too long to show more, with the limit", () =>
    Effect.gen(function*() {
      const { call, conversation, peer } = yield* calling()
      const decoder = new LineFraming.Decoder({ maxLineBytes: 10_000 })
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, _meta: { text: "x".repeat(10_000) }, result: {} })
      for (const message of decoder.push(new TextEncoder().encode(text))) conversation.receive(message)
      const ended = yield* Fiber.join(call)
      assert.deepInclude(ended._tag === "Left" && ended.left, {
        _tag: "TransportError",
        reason: "Decode",
        message: "Parse error: a line is longer than 10000 bytes"
      })
      assert.deepStrictEqual(yield* peer.received, [])
    }))

  it.scoped("is a malformed request where no call of ours has this id", () =>
    Effect.gen(function*() {
      const { conversation, peer, receive } = yield* calling()
      receive(`{"jsonrpc":"2.0","id":2}`)
      const error = { code: -32600, message: "Invalid request: \"method\" is missing" }
      assert.deepStrictEqual<unknown>(yield* peer.received, [Message.failure(2, error)])
      assert.strictEqual(conversation.pending(), 1)
    }))

  it.scoped("tells its channel that no answer comes", () =>
    Effect.gen(function*() {
      const { call, conversation } = yield* calling()
      const unanswered: Array<unknown> = []
      conversation.receive(MessageText.parse(`{"id":1}`), {
        send: () => Effect.void,
        unsafeSend: (message) => unanswered.push(message) > 0,
        onUnanswered: (id) => unanswered.push(id)
      })
      assert.strictEqual((yield* Fiber.join(call))._tag, "Left")
      assert.deepStrictEqual(unanswered, [1])
    }))
})

describe("null for an absent member of a response", () => {
  it.scoped("is absence, beside a result and beside an error", () =>
    Effect.gen(function*() {
      const one = yield* calling()
      one.receive(`{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}`)
      const ended = yield* Fiber.join(one.call)
      assert.deepStrictEqual<unknown>(ended._tag === "Right" && ended.right, { a: 1 })
      const other = yield* calling()
      other.receive(`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":7,"message":"no"}}`)
      const failed = yield* Fiber.join(other.call)
      assert.deepInclude(failed._tag === "Left" && failed.left, { _tag: "JsonRpcError", code: 7, message: "no" })
      const neither = yield* calling()
      neither.receive(`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`)
      assert.strictEqual((yield* Fiber.join(neither.call))._tag, "Left")
    }))
})

describe("a conversation that only reports", () => {
  const silent = [
    "stray",
    "{",
    "5",
    "null",
    `{"a":1}`,
    "[]",
    "[1]",
    `{"id":5}`,
    `{"method":"m"}`,
    `{"id":null,"method":"m"}`
  ]
  for (const text of silent) {
    it.scoped(`writes nothing for a line that is not a message, and reads on: ${text}`, () =>
      Effect.gen(function*() {
        const { diagnostic, peer, receive } = yield* calling({ reportOnly: true })
        receive(text)
        assert.strictEqual((yield* diagnostic)._tag, "Malformed")
        assert.deepStrictEqual(yield* peer.received, [])
      }))
  }

  it.scoped("answers a malformed request with an id, for which its peer waits", () =>
    Effect.gen(function*() {
      const { peer, receive } = yield* calling({ reportOnly: true })
      receive(`{"jsonrpc":"2.0","id":5,"method":"m","params":[]}`)
      const error = { code: -32602, message: "Invalid params: expected an object" }
      assert.deepStrictEqual<unknown>(yield* peer.received, [Message.failure(5, error)])
    }))
})

describe("a batch that is refused", () => {
  it.scoped("ends the calls whose answers it holds", () =>
    Effect.gen(function*() {
      for (const answer of [Message.success(1, {}), { jsonrpc: "2.0", id: 1, result: 5 }, { id: 1 }]) {
        const { call, peer, receive } = yield* calling({ reportOnly: true })
        receive(JSON.stringify([{ method: 1 }, answer, Message.request(1, "ping")]))
        const ended = yield* Fiber.join(call)
        assert.deepInclude(ended._tag === "Left" && ended.left, {
          _tag: "TransportError",
          reason: "Decode",
          message: "Invalid request: expected one message, received a batch"
        })
        assert.deepStrictEqual(yield* peer.received, [])
      }
    }))
})
