import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import { FastCheck } from "effect"

type Verdict = readonly [kind: Message.Malformed["kind"], code: number, id: Message.RequestId | undefined]

const invalid = JsonRpcError.INVALID_REQUEST

const malformed: ReadonlyArray<readonly [name: string, input: unknown, verdict: Verdict]> = [
  ["nothing", null, ["request", invalid, undefined]],
  ["a missing value", undefined, ["request", invalid, undefined]],
  ["a number", 7, ["request", invalid, undefined]],
  ["a string", "ping", ["request", invalid, undefined]],
  ["a truth", true, ["request", invalid, undefined]],
  ["an empty object", {}, ["request", invalid, undefined]],
  ["an id and nothing else", { id: 99 }, ["unknown", invalid, 99]],
  ["an id and a version", { jsonrpc: "2.0", id: "a" }, ["unknown", invalid, "a"]],
  ["a request without a version", { id: 1, method: "m" }, ["request", invalid, 1]],
  ["a request of version 1.0", { jsonrpc: "1.0", id: "", method: "m" }, ["request", invalid, ""]],
  ["a request of version 2", { jsonrpc: 2, id: 0, method: "m" }, ["request", invalid, 0]],
  ["a request with id null", { jsonrpc: "2.0", id: null, method: "m" }, ["request", invalid, undefined]],
  ["a request with id true", { jsonrpc: "2.0", id: true, method: "m" }, ["request", invalid, undefined]],
  ["a request with id 1.5", { jsonrpc: "2.0", id: 1.5, method: "m" }, ["request", invalid, undefined]],
  ["a request with id 2^53", { jsonrpc: "2.0", id: 2 ** 53, method: "m" }, ["request", invalid, undefined]],
  ["a request with id NaN", { jsonrpc: "2.0", id: NaN, method: "m" }, ["request", invalid, undefined]],
  ["a request with an id in an array", { jsonrpc: "2.0", id: [1], method: "m" }, ["request", invalid, undefined]],
  ["a request with an id in an object", { jsonrpc: "2.0", id: { a: 1 }, method: "m" }, ["request", invalid, undefined]],
  ["a request with an id that is undefined", { jsonrpc: "2.0", id: undefined, method: "m" }, [
    "request",
    invalid,
    undefined
  ]],
  ["a method that is a number", { jsonrpc: "2.0", id: 3, method: 3 }, ["request", invalid, 3]],
  ["a method that is null", { jsonrpc: "2.0", id: 3, method: null }, ["request", invalid, 3]],
  ["positional params", { jsonrpc: "2.0", id: 4, method: "m", params: [1] }, [
    "request",
    JsonRpcError.INVALID_PARAMS,
    4
  ]],
  ["params that are a string", { jsonrpc: "2.0", id: 4, method: "m", params: "x" }, ["request", invalid, 4]],
  ["a notification without a version", { method: "m" }, ["notification", invalid, undefined]],
  ["a notification with a method that is an object", { jsonrpc: "2.0", method: {} }, [
    "notification",
    invalid,
    undefined
  ]],
  ["a notification with positional params", { jsonrpc: "2.0", method: "m", params: [] }, [
    "notification",
    JsonRpcError.INVALID_PARAMS,
    undefined
  ]],
  ["a notification with params that are a number", { jsonrpc: "2.0", method: "m", params: 0 }, [
    "notification",
    invalid,
    undefined
  ]],
  ["a result without a version", { id: 5, result: {} }, ["response", invalid, 5]],
  ["an error without a version", { id: 5, error: { code: 1, message: "m" } }, ["response", invalid, 5]],
  ["a result and an error", { jsonrpc: "2.0", id: 5, result: {}, error: { code: 1, message: "m" } }, [
    "response",
    invalid,
    5
  ]],
  ["a result without an id", { jsonrpc: "2.0", result: {} }, ["response", invalid, undefined]],
  ["a result with id null", { jsonrpc: "2.0", id: null, result: {} }, ["response", invalid, undefined]],
  ["a result with id true", { jsonrpc: "2.0", id: true, result: {} }, ["response", invalid, undefined]],
  ["a result that is null", { jsonrpc: "2.0", id: 6, result: null }, ["response", invalid, 6]],
  ["a result that is an array", { jsonrpc: "2.0", id: 6, result: [] }, ["response", invalid, 6]],
  ["a result that is a string", { jsonrpc: "2.0", id: 6, result: "x" }, ["response", invalid, 6]],
  ["an error with id 1.5", { jsonrpc: "2.0", id: 1.5, error: { code: 1, message: "m" } }, [
    "response",
    invalid,
    undefined
  ]],
  ["an error that is null", { jsonrpc: "2.0", id: 7, error: null }, ["response", invalid, 7]],
  ["an error that is a number", { jsonrpc: "2.0", id: 7, error: 7 }, ["response", invalid, 7]],
  ["an error that is a list", { jsonrpc: "2.0", id: 7, error: [{}] }, ["response", invalid, 7]],
  ["neither a result nor an error", { jsonrpc: "2.0", id: 7, result: null, error: null }, ["response", invalid, 7]]
]

describe("Message.fromUnknown", () => {
  for (const [name, input, [kind, code, id]] of malformed) {
    it(`refuses ${name}`, () => {
      const incoming = Message.fromUnknown(input)
      assert.instanceOf(incoming, Message.Malformed)
      assert.deepStrictEqual(
        { kind: incoming.kind, code: incoming.code, id: incoming.id, batch: incoming.batch },
        { kind, code, id, batch: undefined }
      )
    })
  }

  it("refuses a batch, and keeps its elements", () => {
    const batch = [{ jsonrpc: "2.0", id: 1, method: "m" }]
    const incoming = Message.fromUnknown(batch)
    assert.instanceOf(incoming, Message.Malformed)
    assert.strictEqual(incoming.kind, "request")
    assert.strictEqual(incoming.code, invalid)
    assert.strictEqual(incoming.id, undefined)
    assert.strictEqual(incoming.batch, batch)
  })

  const messages: ReadonlyArray<readonly [name: string, input: object, guard: (message: Message.Message) => boolean]> =
    [
      ["a request", { jsonrpc: "2.0", id: 1, method: "m", params: {} }, Message.isRequest],
      ["a request with id 0", { jsonrpc: "2.0", id: 0, method: "m" }, Message.isRequest],
      ["a request with an empty id", { jsonrpc: "2.0", id: "", method: "m" }, Message.isRequest],
      ["a request with a negative id", { jsonrpc: "2.0", id: -1, method: "m" }, Message.isRequest],
      ["a request with an empty method", { jsonrpc: "2.0", id: 1, method: "" }, Message.isRequest],
      ["a notification", { jsonrpc: "2.0", method: "m", params: { a: [] } }, Message.isNotification],
      ["a result", { jsonrpc: "2.0", id: "a", result: {} }, Message.isResponse],
      ["an error", { jsonrpc: "2.0", id: 1, error: { code: -1, message: "" } }, Message.isResponse],
      ["an error without an id", { jsonrpc: "2.0", error: { code: 1, message: "m" } }, Message.isResponse],
      ["an error with id null", { jsonrpc: "2.0", id: null, error: { code: 1, message: "m" } }, Message.isResponse]
    ]

  for (const [name, input, guard] of messages) {
    it(`returns the same object for ${name}, with unknown members`, () => {
      const whole = { ...input, extra: 1 }
      const incoming = Message.fromUnknown(whole)
      assert.strictEqual<unknown>(incoming, whole)
      assert.isFalse(Message.isMalformed(incoming))
      const guards = [Message.isRequest, Message.isNotification, Message.isResponse]
      assert.deepStrictEqual(guards.filter((is) => is(incoming as Message.Message)), [guard])
    })
  }

  const mended: ReadonlyArray<readonly [name: string, input: object, message: Message.Message]> = [
    ["params that are null as absent", { id: 4, method: "m", params: null }, Message.request(4, "m")],
    ["params of a notification that are null as absent", { method: "m", params: null }, Message.notification("m")],
    [
      "an error that is null, beside a result, as absent",
      { id: 5, result: { a: 1 }, error: null },
      Message.success(5, {
        a: 1
      })
    ],
    [
      "a result that is null, beside an error, as absent",
      { id: 5, result: null, error: { code: 1, message: "m", data: 0 } },
      Message.failure(5, { code: 1, message: "m", data: 0 })
    ],
    [
      "an error that is a string as its message",
      { id: 7, error: "x" },
      Message.failure(7, {
        code: JsonRpcError.INTERNAL_ERROR,
        message: "x"
      })
    ],
    [
      "a code that is a number in a string as the number",
      { id: 7, error: { code: "-32601", message: "m" } },
      Message.failure(7, { code: JsonRpcError.METHOD_NOT_FOUND, message: "m" })
    ],
    ...[undefined, null, 1.5, "ENOENT", {}, "99999999999999999999"].map((code) =>
      [
        `an error with code ${JSON.stringify(code)} as an internal error`,
        { id: 7, error: { code, message: "m", data: { a: 1 } } },
        Message.failure(7, { code: JsonRpcError.INTERNAL_ERROR, message: "m", data: { a: 1 } })
      ] as const
    ),
    ...[undefined, null, 5, { text: "secret" }].map((message) =>
      [
        `an error with message ${JSON.stringify(message)} as one without a message`,
        { id: 7, error: { code: 1, message } },
        Message.failure(7, { code: 1, message: "The peer sent an error without a message" })
      ] as const
    )
  ]

  for (const [name, input, message] of mended) {
    it(`reads ${name}`, () => {
      assert.deepStrictEqual<unknown>(Message.fromUnknown({ jsonrpc: "2.0", ...input }), message)
    })
  }

  it("never throws, whatever the value", () => {
    const text = FastCheck.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
    FastCheck.assert(FastCheck.property(text, (value) => {
      Message.fromUnknown(value)
    }))
  })

  it("refuses with a sentence that does not repeat the text of the peer", () => {
    const incoming = Message.fromUnknown({ jsonrpc: "2.0", id: 1, method: { secret: "s3cret" } })
    assert.instanceOf(incoming, Message.Malformed)
    assert.notInclude(incoming.message, "s3cret")
  })
})

describe("Message", () => {
  it("has strings and safe integers as ids", () => {
    assert.deepStrictEqual([0, -1, "", "x", 2 ** 53 - 1].map(Message.isRequestId), [true, true, true, true, true])
    assert.deepStrictEqual(
      [true, null, undefined, 1.5, 2 ** 53, NaN, Infinity, {}, [1]].map(Message.isRequestId),
      Array.from({ length: 9 }, () => false)
    )
  })

  it("leaves params out when there are none", () => {
    assert.deepStrictEqual(Object.keys(Message.request(1, "m")), ["jsonrpc", "id", "method"])
    assert.deepStrictEqual(Object.keys(Message.notification("m")), ["jsonrpc", "method"])
    assert.deepStrictEqual(Message.request(1, "m", {}).params, {})
    assert.deepStrictEqual(Message.notification("m", { a: 1 }).params, { a: 1 })
  })

  it("distinguishes a result from an error", () => {
    assert.isTrue(Message.isSuccess(Message.success(1, {})))
    assert.isFalse(Message.isSuccess(Message.failure(1, JsonRpcError.internal)))
  })

  it("answers a malformed message with its code, under its id if it has one", () => {
    const response = (input: unknown) => Message.malformedResponse(Message.fromUnknown(input) as Message.Malformed)
    assert.deepStrictEqual(response({ jsonrpc: "2.0", id: 0, method: "m", params: [] }), {
      jsonrpc: "2.0",
      id: 0,
      error: { code: JsonRpcError.INVALID_PARAMS, message: "Invalid params: expected an object" }
    })
    assert.deepStrictEqual(Object.keys(response(5)), ["jsonrpc", "error"])
  })
})
