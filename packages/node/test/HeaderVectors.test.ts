/**
 * The HTTP headers of 2026-07-28 that repeat the name and the arguments of a call, over real sockets: as our client sends
 * them with each HTTP client of Node, and as our server reads them in each of its HTTP servers.
 */
import { FetchHttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Remote from "@effect-mcp/core/Remote"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer, type Scope } from "effect"
import * as http from "node:http"
import { ask, info } from "./HttpFixture.js"
import { shells } from "./Shells.js"

const NAME = "Ünï code"

const Regional = McpServer.tool(
  RawTool.make(NAME, {
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        at: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry-Run" } } },
        free: { type: "number" }
      }
    }
  }),
  (args) => Effect.succeed(ToolResult.text(JSON.stringify(args)))
)

/** Arguments, and the headers in which a client MUST repeat them. */
const vectors: ReadonlyArray<readonly [args: JsonObject, headers: Readonly<Record<string, string>>]> = [
  [{}, {}],
  [{ region: null, count: null, at: null }, {}],
  [{ free: 1.5 }, {}],
  ...([
    ["us-west1", "us-west1"],
    ["us west 1", "us west 1"],
    ["", ""],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    ["日本語", "=?base64?5pel5pys6Kqe?="],
    ["é", "=?base64?w6k=?="],
    ["😀", "=?base64?8J+YgA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["us-west1 ", "=?base64?dXMtd2VzdDEg?="],
    ["\tindented", "=?base64?CWluZGVudGVk?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["line1\r\nx-evil: 1", "=?base64?bGluZTENCngtZXZpbDogMQ==?="],
    ["a\u0000b", "=?base64?YQBi?="],
    ["a\u007fb", "=?base64?YX9i?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["SGVsbG8=", "SGVsbG8="],
    ["a, b; c=\"d\"", "a, b; c=\"d\""]
  ] as const).map(([region, header]) => [{ region }, { "mcp-param-region": header }] as const),
  ...[0, -42, 42, 2 ** 53 - 1, -(2 ** 53 - 1)].map((count) => [{ count }, { "mcp-param-count": `${count}` }] as const),
  ...[true, false].map((dry) => [{ at: { dry } }, { "mcp-param-dry-run": `${dry}` }] as const),
  [{ region: "eu", count: 7, at: { dry: true } }, {
    "mcp-param-region": "eu",
    "mcp-param-count": "7",
    "mcp-param-dry-run": "true"
  }]
]

/** A server of Node that records the headers of each call, and passes everything on. */
const recording = (
  url: string
): Effect.Effect<{ readonly url: string; readonly seen: Array<object> }, never, Scope.Scope> =>
  Effect.gen(function*() {
    const seen: Array<object> = []
    const server = http.createServer((request, response) => {
      if (request.headers["mcp-method"] === "tools/call") {
        seen.push(
          Object.fromEntries(Object.entries(request.headers).filter(([name]) => /^mcp-(name|param-)/.test(name)))
        )
      }
      const passed = http.request(url, {
        method: request.method!,
        headers: { ...request.headers, host: new URL(url).host }
      }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      passed.on("error", () => response.destroy())
      response.on("close", () => passed.destroy())
      request.pipe(passed)
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => (server.close(), server.closeAllConnections()))
    )
    return { url: `http://127.0.0.1:${(server.address() as { readonly port: number }).port}/mcp`, seen }
  })

for (const [shell, start] of Object.entries(shells)) {
  const serve = Effect.gen(function*() {
    const server = yield* Layer.build(McpServer.layer(info, Regional))
    return `http://127.0.0.1:${yield* Effect.provide(start({ path: "/mcp" }), server)}/mcp`
  })

  for (
    const [name, layer] of [
      ["fetch", FetchHttpClient.layer],
      ["node:http", NodeHttpClient.layer],
      ["undici", NodeHttpClient.layerUndici]
    ] as const
  ) {
    describe(`The headers of a call over ${name} to ${shell}`, () => {
      it.scopedLive("MUST repeat its name and the marked arguments, and the server agrees", () =>
        Effect.gen(function*() {
          const { seen, url } = yield* recording(yield* serve)
          const client = yield* Client.make(Remote.connector(url), { versions: ["2026-07-28"] })
          yield* client.listTools()
          for (const [args, headers] of vectors) {
            const { content } = yield* client.callTool(NAME, args, { checkOutput: false })
            assert.deepStrictEqual(seen.at(-1), { "mcp-name": "=?base64?w5xuw68gY29kZQ==?=", ...headers })
            if (args.region !== null) assert.deepStrictEqual(content, [{ type: "text", text: JSON.stringify(args) }])
          }
          assert.lengthOf(seen, vectors.length)
        }).pipe(Effect.provide(layer)))

      it.scopedLive("SHOULD be learnt when the server refuses a call without them", () =>
        Effect.gen(function*() {
          const { seen, url } = yield* recording(yield* serve)
          const client = yield* Client.make(Remote.connector(url), { versions: ["2026-07-28"] })
          yield* client.callTool(NAME, { region: "日本語" }, { checkOutput: false })
          assert.deepStrictEqual(seen.map((headers) => "mcp-param-region" in headers), [false, true])
        }).pipe(Effect.provide(layer)))
    })
  }

  describe(`The headers of a call that ${shell} reads`, () => {
    const call = (args: JsonObject) =>
      Message.request(1, "tools/call", {
        name: NAME,
        arguments: args,
        _meta: TestPeer.requestMeta()
      })
    const headers = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?w5xuw68gY29kZQ==?="
    }

    it.scopedLive("MUST agree with the body, in any spelling that means the same", () =>
      Effect.gen(function*() {
        const url = yield* serve
        for (
          const [args, others] of [
            ...vectors,
            [{ region: "x" }, { "MCP-PARAM-REGION": "=?base64?eA==?=" }],
            [{ region: "x" }, { "mcp-param-region": "  x\t" }],
            [{ count: 42 }, { "mcp-param-count": "42.0" }],
            [{ region: null }, { "mcp-param-region": "anything" }],
            [{}, { "mcp-param-unknown": "anything" }]
          ] as const
        ) {
          const answer = yield* ask(url, call(args), { ...headers, ...others })
          assert.strictEqual(answer.status, 200, `${JSON.stringify(args)} ${JSON.stringify(others)} ${answer.text}`)
        }
      }))

    it.scopedLive("MUST be refused with 400 and -32020 when they do not", () =>
      Effect.gen(function*() {
        const url = yield* serve
        for (
          const [args, others] of [
            [{ region: "x" }, {}],
            [{ region: "x" }, { "mcp-param-region": "X" }],
            [{ region: "x" }, { "mcp-param-region": "" }],
            [{ region: "x" }, { "mcp-param-region": ["x", "y"] }],
            [{ region: "x" }, { "mcp-param-region": "=?base64?eA?=" }],
            [{ region: "x" }, { "mcp-param-region": "=?base64?e!A=?=" }],
            [{ region: "x" }, { "mcp-param-region": "=?BASE64?eA==?=" }],
            [{ region: "é" }, { "mcp-param-region": "\u00e9" }],
            [{ region: "é" }, { "mcp-param-region": Buffer.from("é").toString("latin1") }],
            [{ count: 42 }, { "mcp-param-count": "0x2a" }],
            [{ count: 42 }, { "mcp-param-count": "4.2e1" }],
            [{ count: 42 }, { "mcp-param-count": "43" }],
            [{ at: { dry: true } }, { "mcp-param-dry-run": "True" }],
            [{ at: { dry: true } }, { "mcp-param-dry": "true" }],
            [{}, { "mcp-name": "Ünï code" }],
            [{}, { "mcp-name": "other" }],
            [{}, { "mcp-method": "Tools/Call" }],
            [{}, { "mcp-protocol-version": "2025-11-25" }]
          ] as ReadonlyArray<readonly [JsonObject, http.OutgoingHttpHeaders]>
        ) {
          const answer = yield* ask(url, call(args), { ...headers, ...others })
          assert.deepStrictEqual(
            [answer.status, answer.json.error?.code, answer.json.id],
            [400, -32020, 1],
            `${JSON.stringify(args)} ${JSON.stringify(others)}`
          )
        }
      }))
  })
}
