import { assert, describe, it } from "@effect/vitest"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ErrorObject } from "@effect-mcp/core/JsonRpcError"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Effect, Fiber, Option, Stream } from "effect"
import { answered, exchange, legacyClient, refused } from "./Scripts.js"

const tool = { name: "echo", inputSchema: { type: "object" } }

describe("A result that is none of the method's", () => {
  const invalid: ReadonlyArray<
    readonly [
      name: string,
      run: (client: ClientSessionService) => Effect.Effect<unknown, ClientError>,
      method: string,
      answer: JsonObject,
      message: string
    ]
  > = [
    ["no list", (client) => client.listTools(), "tools/list", {}, "tools: is missing"],
    [
      "a cursor that is not a text",
      (client) => client.listTools(),
      "tools/list",
      { tools: [], nextCursor: 7 },
      "nextCursor: Expected string, actual 7"
    ],
    [
      "content that is not a list",
      (client) => client.callTool("echo"),
      "tools/call",
      { content: "a" },
      "content: Expected"
    ],
    [
      "a flag that is not a boolean",
      (client) => client.callTool("echo"),
      "tools/call",
      { content: [], isError: "no" },
      "isError: Expected boolean"
    ],
    ["ping", (client) => client.ping(), "ping", { _meta: 7 }, "_meta"]
  ]

  for (const [name, run, method, answer, message] of invalid) {
    it.scoped(`fails only its call, with the place in the message: ${name}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        const error = yield* refused(server, run(client), method, answer)
        assert.strictEqual((error as TransportError).reason, "Decode")
        assert.isTrue(
          error.message.startsWith(`The result of "${method}" is not valid: ${message}`),
          error.message
        )
        yield* answered(server, client.ping(), "ping", {})
      }))
  }

  const mended: ReadonlyArray<
    readonly [
      name: string,
      run: (client: ClientSessionService) => Effect.Effect<unknown, ClientError>,
      method: string,
      answer: JsonObject,
      result: unknown,
      place: string
    ]
  > = [
    [
      "a tool without a schema",
      (client) => client.listTools(),
      "tools/list",
      { tools: [tool, { name: "half" }] },
      { tools: [tool] },
      "tools.1: was left out: inputSchema: is missing"
    ],
    [
      "a tool whose names are written in another way",
      (client) => client.listTools(),
      "tools/list",
      { tools: [{ name: "echo", input_schema: { type: "object" } }] },
      { tools: [] },
      "tools.0: was left out: inputSchema: is missing"
    ],
    [
      "no content",
      (client) => client.callTool("echo", {}, { checkOutput: false }),
      "tools/call",
      { isError: true },
      { isError: true, content: [] },
      "content: is missing; the client reads it as []"
    ],
    [
      "content of an unknown kind",
      (client) => client.callTool("echo", {}, { checkOutput: false }),
      "tools/call",
      { content: [{ type: "smell", data: "" }] },
      { content: [] },
      "content.0: was left out: type: Expected \"text\" | \"image\" | \"audio\" | \"resource_link\" | \"resource\", " +
      "actual a string of 5 characters"
    ],
    [
      "content without what makes it",
      (client) => client.callTool("echo", {}, { checkOutput: false }),
      "tools/call",
      { content: [{ type: "text" }] },
      { content: [] },
      "content.0: was left out: text: is missing"
    ]
  ]

  for (const [name, run, method, answer, result, place] of mended) {
    it.scoped(`is mended, and reported with its place: ${name}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        const reported = yield* Effect.fork(Stream.runHead(client.diagnostics))
        yield* Effect.yieldNow()
        const { value } = yield* answered(server, run(client), method, answer)
        assert.deepStrictEqual(value, result)
        const diagnostic = Option.getOrThrow(yield* Fiber.join(reported))
        assert.deepInclude(diagnostic, { _tag: "Mended", method, count: 1 })
        assert.deepStrictEqual(
          diagnostic._tag === "Mended" ? diagnostic.places.map(({ message, path }) => `${path}: ${message}`) : [],
          [place]
        )
      }))
  }

  it.scoped("is not checked by `request`", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { value } = yield* answered(server, client.request("tools/list"), "tools/list", { tools: "none" })
      assert.deepStrictEqual(value, { tools: "none" })
    }))

  it.scoped("fails its call when it is not an object", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      for (const result of [null, "text", 7, [1]]) {
        const { exit } = yield* exchange(server, Effect.flip(client.ping()), "ping", result as never)
        assert.deepInclude(yield* exit, { _tag: "TransportError", reason: "Decode" })
      }
    }))
})

describe("An error of the server's", () => {
  const errors: ReadonlyArray<
    readonly [ErrorObject, JsonObject]
  > = [
    [{ code: -32602, message: "Unknown tool: x" }, { _tag: "InvalidParams", message: "Unknown tool: x" }],
    [
      { code: -32602, message: "Bad", data: { issues: [] } },
      { _tag: "InvalidParams", message: "Bad", data: { issues: [] } }
    ],
    [{ code: -32601, message: "Method not found: x" }, { _tag: "MethodNotFound", method: "x" }],
    [{ code: -32603, message: "Internal error" }, { _tag: "InternalError", message: "Internal error" }],
    [{ code: -32600, message: "Not now" }, { _tag: "InvalidRequest", message: "Not now" }],
    [{ code: -32700, message: "What?" }, { _tag: "ParseError", message: "What?" }],
    [{ code: -32002, message: "Gone", data: { uri: "a:b" } }, { _tag: "ResourceNotFound", uri: "a:b" }],
    [{ code: -32000, message: "Busy" }, { _tag: "PeerError", code: -32000, message: "Busy" }],
    [
      { code: 42, message: "Ours", data: [{ a: null }] },
      { _tag: "PeerError", code: 42, message: "Ours", data: [{ a: null }] }
    ]
  ]

  for (const [error, expected] of errors) {
    it.scoped(`fails the call with its typed error: ${error.code} "${error.message}"`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient()
        for (const call of [client.callTool("x"), client.request("tools/call", { name: "x" })]) {
          const calling = yield* Effect.fork(Effect.flip(call))
          const { id } = yield* server.expectRequest("tools/call")
          yield* server.send(Message.failure(id, error))
          assert.deepInclude(yield* Fiber.join(calling), expected)
        }
      }))
  }
})

describe("A conversation that ends", () => {
  it.scoped("fails every call that waits, and every call to come", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calling = yield* Effect.fork(Effect.all(
        [client.ping(), client.listTools(), client.callTool("echo"), client.request("ours/do")].map(Effect.flip),
        { concurrency: "unbounded" }
      ))
      for (const method of ["ping", "tools/list", "tools/call", "ours/do"]) yield* server.expectRequest(method)
      yield* server.hangUp
      for (const error of yield* Fiber.join(calling)) assert.strictEqual(error._tag, "ConnectionClosed")
      yield* client.ended
      assert.strictEqual((yield* Effect.flip(client.callTool("echo")))._tag, "ConnectionClosed")
      assert.strictEqual((yield* Effect.flip(client.ping({ timeout: 0 })))._tag, "ConnectionClosed")
    }))

  it.scoped("still gives the result that came before the end", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calling = yield* Effect.fork(client.callTool("echo"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.send(Message.success(id, { content: [] }))
      yield* server.hangUp
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [] })
    }))
})
