import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { HttpConnection } from "../../src/http/HttpConnection.js"
import type { HttpSession } from "../../src/legacy/HttpSession.js"
import * as Incoming from "../../src/legacy/Incoming.js"

const site = { options: { maxDepth: 3 } } as HttpConnection
const session = (takesBatches = false) => ({ takesBatches }) as HttpSession

const read = (text: string, batches?: boolean) => Incoming.read(site, session(batches), text)

const note = { jsonrpc: "2.0", method: "n" }

const kinds = (messages: ReadonlyArray<Message.Incoming>) =>
  messages.map((one) => Message.isMalformed(one) ? one.kind : "message")

describe("Incoming", () => {
  it("is messages", () => {
    assert.deepStrictEqual<unknown>(read(JSON.stringify(note)), [note])
    assert.deepStrictEqual<unknown>(read(JSON.stringify([note, note]), true), [note, note])
  })

  it("is only reported when it is none, unless its sender waits for an answer", () => {
    for (const text of ["", "{", "{}", "1", "null", "[]", "[{}]", JSON.stringify(note).replace("2.0", "1.0")]) {
      assert.deepStrictEqual(kinds(read(text)), ["notification"], text)
    }
    assert.deepStrictEqual(kinds(read(`{"jsonrpc":"2.0","id":1,"method":1}`)), ["request"])
    assert.deepStrictEqual(kinds(read(`{"jsonrpc":"2.0","id":1,"result":1}`)), ["response"])
    assert.deepStrictEqual(kinds(read(`{"a":{"a":{"a":{}}},"b":[[[]]],"c":[],"d":[]}`)), ["notification"])
  })

  it("is refused before it is parsed when it holds too many values", () => {
    const many = `{"a":[${"0,".repeat(100_000)}0]}`
    const judged = (text: string) =>
      read(text).map((one) => Message.isMalformed(one) ? [one.kind, one.id, one.message] : "message")
    const tooMany = "Invalid request: more than 100000 values"
    assert.deepStrictEqual(judged(`{"jsonrpc":"2.0","id":1,"result":${many}}`), ["message"])
    assert.deepStrictEqual(judged(`{"jsonrpc":"2.0","id":1,"method":"m","params":${many}}`), [["request", 1, tooMany]])
    assert.deepStrictEqual(judged(`{"jsonrpc":"2.0","method":"m","params":${many}}`), [
      ["notification", undefined, tooMany]
    ])
    const answer = (limits: object) =>
      Incoming.read({ options: limits } as HttpConnection, session(), `{"id":1,"result":${many}}`).map((one) =>
        Message.isMalformed(one) && [one.kind, one.id, one.message]
      )
    assert.deepStrictEqual(answer({ maxResponseNodes: 100_000 }), [
      ["response", 1, "Invalid response: more than 100000 values"]
    ])
  })

  it("ends the call, or answers the question, when it nests too deep or names a prototype", () => {
    assert.deepStrictEqual(kinds(read(`{"jsonrpc":"2.0","id":1,"result":{"a":{"a":{"a":1}}},"b":[],"c":[]}`)), [
      "response"
    ])
    assert.deepStrictEqual(kinds(read(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":1}}`)), ["request"])
    assert.deepStrictEqual(kinds(read(`{"jsonrpc":"2.0","method":"m","params":{"__proto__":1}}`)), ["notification"])
  })

  it("is a batch of a bounded number of messages, none of them a batch", () => {
    assert.deepStrictEqual(kinds(read("[]", true)), ["notification"])
    assert.deepStrictEqual(kinds(read(JSON.stringify([note, [note], 1]), true)), [
      "message",
      "notification",
      "notification"
    ])
    assert.lengthOf(read(JSON.stringify(Array(100).fill(note)), true), 100)
    assert.deepStrictEqual(kinds(read(JSON.stringify(Array(101).fill(note)), true)), ["notification"])
  })

  it("MUST NOT be what is in an event with empty data, or with another name", () => {
    const ofEvent = (event: Parameters<typeof Incoming.ofEvent>[2]) => Incoming.ofEvent(site, session(), event)
    for (const event of [{}, { data: "" }, { id: "1", data: "" }, { event: "ping", data: "now" }]) {
      assert.deepStrictEqual(ofEvent(event), [])
    }
    for (const event of [undefined, "", "message"]) {
      assert.deepStrictEqual<unknown>(ofEvent({ event, data: JSON.stringify(note) }), [note])
    }
  })

  it("answers an id as written, or in its other form", () => {
    const answers = (a: unknown, b: Message.RequestId) =>
      Incoming.answers({ jsonrpc: "2.0", id: a, result: {} } as Message.Incoming, b)
    assert.isTrue(answers(1, 1) && answers("1", 1) && answers(1, "1") && answers("a", "a") && answers(0, 0))
    assert.isFalse(answers("01", 1) || answers(null, 1) || answers(undefined, 1) || answers("", 0))
    assert.isFalse(Incoming.answers({ jsonrpc: "2.0", id: 1, method: "m" }, 1))
  })
})
