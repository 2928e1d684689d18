import { assert, describe, it } from "@effect/vitest"
import * as NodeMessage from "../../../src/server/nodes/NodeMessage.js"

const request: NodeMessage.Forth = {
  type: "exchange",
  from: "one",
  id: "1",
  method: "POST",
  url: "/mcp?a=1",
  path: "/mcp",
  headers: { "content-type": "application/json", "x-quoted": "a \"b\"\n" },
  remoteAddress: undefined,
  encrypted: true,
  body: undefined
}

const text = "id: 1\ndata: {\"a\":\"\\\"\"}\n\n"

const without = ({ ...members }: object, ...names: ReadonlyArray<string>): object => {
  for (const name of names) delete (members as Record<string, unknown>)[name]
  return members
}

describe("An envelope", () => {
  const envelopes: ReadonlyArray<NodeMessage.Envelope> = [
    without(request, "remoteAddress", "body") as NodeMessage.Envelope,
    ...["", "{}", "\n", "no JSON", "a\0b", text].map((body) => ({
      ...without(request, "remoteAddress"),
      body
    } as NodeMessage.Envelope)),
    { type: "reply", id: "1", status: 200, headers: {}, body: "" },
    { type: "text", id: "1", node: "two", body: text },
    { type: "stream", id: "1", node: "two", status: 200, headers: {} },
    { type: "taken", from: "one", id: "1", size: 5 },
    { type: "gone", from: "one", id: "1" },
    { type: "end", id: "1" },
    { type: "cut", id: "1" },
    { type: "moved", id: "1", isDraining: true }
  ]
  for (const envelope of envelopes) {
    it(`is read as it was written: ${JSON.stringify(envelope).slice(0, 40)}`, () => {
      assert.deepStrictEqual(NodeMessage.decode(NodeMessage.encode(envelope)), envelope)
    })
  }

  it("has its body as it is, and is longer than the body by its own line only, however long the body is", () => {
    const body = JSON.stringify({ text: "\"".repeat(1_000_000) })
    const encoded = NodeMessage.encode({ ...request, body })
    assert.isTrue(encoded.endsWith(`\n${body}`))
    assert.isBelow(encoded.length - body.length, 300)
  })

  it("is not read from anything else", () => {
    const strange = [
      "",
      "\n",
      "{",
      "null",
      "1",
      "[]",
      "{}",
      "{\"type\":\"gone\"}",
      "{\"type\":\"gone\",\"id\":1}",
      "{\"type\":\"other\",\"id\":\"1\"}",
      // The answers of an earlier version have no line of their own.
      "{\"type\":\"reply\",\"id\":\"1\",\"status\":200,\"headers\":{},\"body\":\"\"}",
      "{\"type\":\"text\",\"id\":\"1\",\"node\":\"two\",\"text\":\"a\"}"
    ]
    for (const text of strange) assert.isUndefined(NodeMessage.decode(text), text)
  })
})
