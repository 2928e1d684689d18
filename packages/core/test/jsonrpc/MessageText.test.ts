import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"

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
    ["no message that names a prototype", `{"id":3,"__proto__":1}`, {
      kind: "unknown",
      code: JsonRpcError.INVALID_REQUEST,
      id: 3
    }],
    ["a batch that nests too deep", deep, { kind: "request", code: JsonRpcError.INVALID_REQUEST, id: undefined }]
  ]

  it("never throws, however deep a response nests that may nest as deep as it likes", () => {
    for (let depth = 1000; depth < 20_000; depth += 97) {
      for (const name of ["__proto__", "a"]) {
        const data = `${"[".repeat(depth)}{"${name}":1}${"]".repeat(depth)}`
        const read = MessageText.parse(`{"jsonrpc":"2.0","id":1,"result":{"data":${data}}}`, { maxDepth: 1e9 })
        assert.strictEqual(read instanceof Message.Malformed ? read.kind : "response", "response")
      }
    }
  })

  it("drops the members of a response that name a prototype, and no others", () => {
    const texts = [
      [`{"jsonrpc":"2.0","id":"a","result":{"__proto__":{"a":1},"b":[{"__proto__":2,"c":3}]}}`, {
        jsonrpc: "2.0",
        id: "a",
        result: { b: [{ c: 3 }] }
      }],
      [`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m","data":{"\\u005f_proto__":1}}}`, {
        jsonrpc: "2.0",
        id: null,
        error: { code: 1, message: "m", data: {} }
      }]
    ] as const
    for (const [text, message] of texts) {
      const parsed = MessageText.parse(text)
      assert.deepStrictEqual<unknown>(parsed, message)
      assert.strictEqual(JSON.stringify(parsed), JSON.stringify(message))
    }
  })

  for (const [name, text, verdict] of refusals) {
    it(`refuses ${name}`, () => {
      assert.deepStrictEqual(shape(MessageText.parse(text)), verdict)
    })
  }

  it("allows the depth that the caller names", () => {
    const text = `{"jsonrpc":"2.0","method":"m","params":{"a":${deep}}}`
    const response = (levels: number) =>
      `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(levels)}${"]".repeat(levels)},"__proto__":{}}}`
    const isRefused = (text: string, limits?: MessageText.Limits) =>
      Message.isMalformed(MessageText.parse(text, limits))
    assert.deepStrictEqual(
      [isRefused(response(500)), isRefused(response(520)), isRefused(response(100), { maxDepth: 100 })],
      [false, true, true]
    )
    assert.isFalse(Message.isMalformed(MessageText.parse(text, { maxDepth: 100 })))
  })

  it("reads a batch of answers like an answer, and gives no elements of a batch that it refuses", () => {
    const answer = (levels: number) =>
      `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(levels)}${"]".repeat(levels)},"__proto__":{}}}`
    const parsed = (text: string) => MessageText.parse(text) as Message.Malformed
    assert.deepStrictEqual(
      parsed(`[${answer(500)}]`).batch?.map((one) => Object.keys((one as Message.Success).result)),
      [["a"]]
    )
    assert.include(parsed(answer(600)).message, "more than 512 levels")
    for (const text of [`[${answer(600)}]`, `[${answer(1)},{"jsonrpc":"2.0","method":"m"}]`]) {
      assert.isUndefined(parsed(text).batch)
    }
  })
})

describe("MessageText.parse of a message with many values", () => {
  const numbers = (count: number) => `[${"0,".repeat(count - 1)}0]`
  const ok = "message"
  const judge = (text: string, limits?: MessageText.Limits): unknown => {
    const incoming = MessageText.parse(text, limits)
    return Message.isMalformed(incoming) ? [incoming.kind, incoming.code, incoming.id] : ok
  }
  const refused = (kind: string, id?: unknown): unknown => [kind, JsonRpcError.INVALID_REQUEST, id]

  // The numbers stand in an object with an array, within a message of three or four members.
  const request = (count: number) => `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":${numbers(count - 6)}}}`
  const notification = (count: number) => `{"jsonrpc":"2.0","method":"m","params":{"a":${numbers(count - 5)}}}`
  const response = (count: number) => `{"jsonrpc":"2.0","id":"a","result":{"a":${numbers(count - 5)}}}`

  it("accepts 100,000 in a request and in a notification, and refuses one more", () => {
    assert.strictEqual(judge(request(100_000)), ok)
    assert.deepStrictEqual(judge(request(100_001)), refused("request", 7))
    assert.strictEqual(judge(notification(100_000)), ok)
    assert.deepStrictEqual(judge(notification(100_001)), refused("request"))
  })

  it("accepts 1,000,000 in a response, and refuses one more", () => {
    assert.strictEqual(judge(response(1_000_000)), ok)
    assert.deepStrictEqual(judge(response(1_000_001)), refused("response", "a"))
  })

  it("accepts as many as the caller names", () => {
    const limits = { maxNodes: 50, maxResponseNodes: 100 }
    assert.strictEqual(judge(request(50), limits), ok)
    assert.deepStrictEqual(judge(request(51), limits), refused("request", 7))
    assert.strictEqual(judge(response(100), limits), ok)
    assert.deepStrictEqual(judge(response(101), limits), refused("response", "a"))
    assert.deepStrictEqual(judge(response(50), { maxNodes: 100, maxResponseNodes: 49 }), refused("response", "a"))
  })

  it("accepts a text of any length with few values", () => {
    const value = "a, \"b\": [{}],\n".repeat(200_000)
    assert.strictEqual(judge(text(Message.request(1, "m", { value }))), ok)
    assert.strictEqual(judge(text(Message.success(1, { value }))), ok)
  })

  it("refuses before it parses: text that is not JSON is refused for its values, too", () => {
    assert.deepStrictEqual(judge(request(100_001).slice(0, -1)), refused("request", 7))
  })

  it("applies the limit of requests to a request that looked like a response", () => {
    const many = numbers(200_000)
    assert.deepStrictEqual(
      judge(`{"result":{},"a":{"b":"${"x".repeat(2000)}"},"method":"m","params":{"a":${many}},"jsonrpc":"2.0","id":7}`),
      refused("request", 7)
    )
    assert.deepStrictEqual(
      judge(`{"jsonrpc":"2.0","id":7,"result":{"a":"${"x".repeat(2000)}"},"m\\u0065thod":"m","params":{"a":${many}}}`),
      refused("request", 7)
    )
    const answer = `{"jsonrpc":"2.0","id":7,"result":{"a":"${"x".repeat(2000)}"}}`
    assert.deepStrictEqual(judge(`[${answer},${request(200_000)}]`), refused("request"))
    const batch = MessageText.parse(`[${answer},${response(200_000)}]`)
    assert.lengthOf((batch as Message.Malformed).batch!, 2)
  })

  it("names the fault of a malformed response, whatever its size", () => {
    assert.deepStrictEqual(judge(`{"id":7,"result":{"a":${numbers(200_000)}}}`), refused("response", 7))
    assert.deepStrictEqual(judge(`{"id":7,"result":{"a":${numbers(200_000)}`), [
      "request",
      JsonRpcError.PARSE_ERROR,
      undefined
    ])
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
