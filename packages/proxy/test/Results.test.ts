import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Resource from "@effect-mcp/core/Resource"
import { Context, Effect, Layer } from "effect"
import { entrance, modern, pairs, proxied, server } from "./Setting.js"

/** A tool that sends what no definition allows. */
const raw = (name: string, result: JsonObject) =>
  Feature.make(({ tools }) =>
    tools.register({
      context: Context.empty(),
      advertised: { name, inputSchema: { type: "object" }, "x-extra": [1] } as never,
      call: () => Effect.succeed(MethodHandler.unchecked(result) as never)
    })
  )

const strange = {
  content: [{ type: "hologram", depth: 3 }, { type: "text", text: "flat", "x-color": "red" }],
  structuredContent: { deep: { n: [1, null] } },
  _meta: { "example.com/trace": "t" },
  later: true
}

const features = Layer.mergeAll(
  raw("strange", strange),
  raw("empty", { structuredContent: { a: 1 } }),
  raw("rubbish", { content: "no list" }),
  raw("worse", { content: [7] })
)

for (const [name, client, upstream] of pairs) {
  describe(`Results through a proxy, ${name}`, () => {
    const connected = proxied(features, { client, upstream, transport: { oracle: false } })

    it.scopedLive("stay as they are, with unknown members and kinds of content", () =>
      Effect.gen(function*() {
        const session = yield* connected
        const { _meta, resultType: _, ...result } = yield* session.request("tools/call", { name: "strange" })
        const { "io.modelcontextprotocol/serverInfo": __, ...meta } = _meta as JsonObject
        assert.deepStrictEqual<unknown>({ ...result, _meta: meta }, strange)
      }))

    it.scopedLive("are errors that name the upstream, when they are not results", () =>
      Effect.gen(function*() {
        const session = yield* connected
        for (const tool of ["rubbish", "worse"]) {
          const error = yield* Effect.flip(session.request("tools/call", { name: tool }))
          assert.deepInclude(error, {
            _tag: "InternalError",
            message: "The upstream \"up\" sent no valid result of \"tools/call\""
          })
        }
        yield* session.ping()
      }))

    it.scopedLive("list unknown members of tools", () =>
      Effect.gen(function*() {
        const session = yield* connected
        const { tools } = yield* session.request("tools/list")
        assert.deepInclude((tools as ReadonlyArray<JsonObject>)[0]!, { name: "empty", "x-extra": [1] })
      }))
  })
}

describe("A question of an upstream of 2026-07-28", () => {
  const asking = (inputRequests: JsonObject): JsonObject => ({ resultType: "input_required", inputRequests })
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, { method: "roots/list" }]))
  const curious = Layer.mergeAll(
    raw("null", asking({ one: { method: "elicitation/create", params: null } })),
    raw("inherited", asking({ one: { method: "toString" } })),
    raw("curious", asking(many))
  )
  const connected = proxied(curious, { upstream: modern, transport: { oracle: false } })

  it.scopedLive("fails the call when no client has its method", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip((yield* connected).callTool("inherited"))
      assert.deepInclude(error, { _tag: "MethodNotFound" })
    }))

  it.scopedLive("fails the call when its parameters are not an object", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip((yield* connected).callTool("null"))
      assert.deepInclude(error, {
        _tag: "InternalError",
        message: "The upstream \"up\" sent no valid result of \"tools/call\""
      })
    }))

  it.scopedLive("fails the call when it comes with 1000 others", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip((yield* connected).callTool("curious"))
      assert.deepInclude(error, {
        _tag: "InternalError",
        message: "The upstream \"up\" asks more than 1000 questions at once to serve \"tools/call\""
      })
    }))
})

describe("A private result that may be cached", () => {
  it.scopedLive("is kept by the client that has read it, and given to no other client of the proxy", () =>
    Effect.gen(function*() {
      let count = 0
      const counted = McpServer.resource(
        Resource.make("count", { uri: "test://count" }),
        Effect.sync(() => String(++count))
      )
      const upstream = yield* server(counted, { versions: modern, cache: { ttl: "1 hour", scope: "private" } })
      const gateway = yield* entrance(upstream, { proxy: { sessions: "shared" } })
      const read = (client: Client.Client["Type"]) =>
        Effect.map(
          client.readResource("test://count"),
          ({ contents }) => (contents[0] as { readonly text: string }).text
        )
      const [one, other] = [
        yield* Client.make(gateway, { versions: modern }),
        yield* Client.make(gateway, { versions: modern })
      ]
      assert.deepStrictEqual(yield* Effect.forEach([one, other, one, other], read), ["1", "2", "1", "2"])
    }))
})
