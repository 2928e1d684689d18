import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"

const text = (message: Message.Message) => MessageText.stringify(message)!

const shape = (incoming: Message.Incoming) =>
  Message.isMalformed(incoming)
    ? { kind: incoming.kind, code: incoming.code, id: incoming.id }
    : incoming

const parseError = { kind: "request", code: JsonRpcError.PARSE_ERROR, id: undefined } as const

describe("MessageText.parse", () => {
  const deep = "[".repeat(70) + "]".repeat(70)
  const refusals: ReadonlyArray<readonly [name: string, text: string, verdict: unknown]> = [
    ["text that is not JSON", "{", parseError],
    ["a request that nests too deep", `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":${deep}}}`, {
      kind: "request",
      code: JsonRpcError.INVALID_REQUEST,
      id: 7
    }],
    ["a notification that nests too deep", `{"jsonrpc":"2.0","method":"m","params":{"a":${deep}}}`, {
      kind: "notification",
      code: JsonRpcError.INVALID_REQUEST,
      id: undefined
    }],
    ["a result that names a prototype", `{"jsonrpc":"2.0","id":"a","result":{"__proto__":{}}}`, {
      kind: "response",
      code: JsonRpcError.INVALID_REQUEST,
      id: "a"
    }],
    [
      "an error without an id that names a prototype",
      `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m","data":{"__proto__":1}}}`,
      {
        kind: "response",
        code: JsonRpcError.INVALID_REQUEST,
        id: undefined
      }
    ],
    ["no message that names a prototype", `{"id":3,"__proto__":1}`, {
      kind: "request",
      code: JsonRpcError.INVALID_REQUEST,
      id: 3
    }],
    ["a batch that nests too deep", deep, { kind: "request", code: JsonRpcError.INVALID_REQUEST, id: undefined }]
  ]

  for (const [name, text, verdict] of refusals) {
    it(`refuses ${name}`, () => {
      assert.deepStrictEqual(shape(MessageText.parse(text)), verdict)
    })
  }

  it("allows the depth that the caller names", () => {
    const text = `{"jsonrpc":"2.0","method":"m","params":{"a":${deep}}}`
    assert.isFalse(Message.isMalformed(MessageText.parse(text, 100)))
  })
})

describe("MessageText.stringify", () => {
  it("is one line without a newline at its end", () => {
    const written = MessageText.stringify(Message.notification("m", { text: "a\nb\r\n" }))!
    assert.notInclude(written, "\n")
    assert.deepStrictEqual(JSON.parse(written), Message.notification("m", { text: "a\nb\r\n" }))
  })

  it("is \"Internal error\" under its id for an answer that has no JSON form", () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const result of [cycle, { a: 1n }]) {
      for (const id of [0, "", "x"]) {
        assert.deepStrictEqual(
          JSON.parse(text(Message.success(id, result))),
          Message.failure(id, JsonRpcError.internal)
        )
      }
    }
    const error = Message.failure(4, { code: 1, message: "m", data: 1n })
    assert.deepStrictEqual(JSON.parse(text(error)), Message.failure(4, JsonRpcError.internal))
  })

  it("is undefined for a request, a notification or an answer without an id that has no JSON form", () => {
    assert.strictEqual(MessageText.stringify(Message.request(1, "m", { a: 1n })), undefined)
    assert.strictEqual(MessageText.stringify(Message.notification("m", { a: 1n })), undefined)
    assert.strictEqual(
      MessageText.stringify(Message.failure(undefined, { code: 1, message: "m", data: 1n })),
      undefined
    )
  })
})
