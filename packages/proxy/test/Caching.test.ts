/**
 * For how long, and for whom, clients of a proxy may keep the lists and the contents of its upstream.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import { assert, describe, it } from "@effect/vitest"
import type { CacheOptions } from "@effect-mcp/core/CacheHints"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import type { Options as ProxyOptions } from "@effect-mcp/proxy/Proxy"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Effect, Layer, Schema } from "effect"
import { type Features, legacy, modern, server } from "./Setting.js"

const tool = (name: string) => McpServer.tool(Tool.make(name), () => Effect.void)

const Note = Resource.make("first", { uri: "note://first" })

const NoteOf = ResourceTemplate.make("of")`note://of/${ResourceTemplate.param("id", Schema.String)}`

const features = Layer.mergeAll(
  tool("add"),
  McpServer.prompt(Prompt.make("greet"), () => Effect.succeed("Hello")),
  McpServer.resource(Note, Effect.succeed("one")),
  McpServer.resourceTemplate(NoteOf, ({ id }) => Effect.succeed(id))
)

const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]

interface Setting {
  /** The hints of each upstream. */
  readonly upstreams: ReadonlyArray<CacheOptions>
  readonly versions?: typeof modern
  /** The hints that the server with the proxies chooses. */
  readonly cache?: CacheOptions
  readonly proxy?: ProxyOptions
  readonly own?: Features
}

/** A client of a server that has a proxy of each upstream. */
const connected = ({ cache, own, proxy, upstreams, versions = modern }: Setting) =>
  Effect.gen(function*() {
    const proxies = yield* Effect.forEach(upstreams, (cache, i) =>
      Effect.map(server(features, { versions, cache }), (upstream) =>
        Proxy.layer(upstream, { name: `up${i}`, prefix: `u${i}_`, ...proxy })))
    const gateway = Layer.mergeAll(own ?? Layer.empty, ...proxies)
    return yield* Client.make(yield* server(gateway, { cache }, "gateway"), { versions: modern })
  })

const hintsOf = (session: ClientSessionService, method: string, params?: { readonly uri: string }) =>
  Effect.map(session.request(method, params), ({ cacheScope, ttlMs }) => [ttlMs, cacheScope])

const minute: CacheOptions = { ttl: "1 minute", scope: "public" }

describe("A list through a proxy", () => {
  const cases: ReadonlyArray<readonly [name: string, Setting, ttlMs: number, scope: string]> = [
    ["has the hints of its upstream", { upstreams: [minute] }, 60_000, "public"],
    ["is private where the upstream says it", { upstreams: [{ ttl: "1 minute" }] }, 60_000, "private"],
    ["is not kept where the upstream says it", { upstreams: [{ scope: "public" }] }, 0, "public"],
    [
      "has the least time of several upstreams, and their narrowest scope",
      { upstreams: [minute, { ttl: "1 second", scope: "private" }] },
      1000,
      "private"
    ],
    [
      "has the least time of several public upstreams",
      { upstreams: [{ ttl: "1 hour", scope: "public" }, minute] },
      60_000,
      "public"
    ],
    [
      "has the time of the server's option where that is less",
      { upstreams: [minute], cache: { ttl: "1 second" } },
      1000,
      "public"
    ],
    ["has no more time than the upstream allows", { upstreams: [minute], cache: { ttl: "1 hour" } }, 60_000, "public"],
    [
      "is private where the server's option says it",
      { upstreams: [minute], cache: { scope: "private" } },
      60_000,
      "private"
    ],
    [
      "has the hints of the server's option for an upstream without hints",
      { upstreams: [minute], versions: legacy, cache: minute, proxy: { sessions: "shared" } },
      60_000,
      "public"
    ],
    [
      "is not kept when an upstream without hints meets no option",
      { upstreams: [minute], versions: legacy },
      0,
      "private"
    ],
    [
      "is private where each client has a session with the upstream",
      { upstreams: [minute], proxy: { sessions: "each" } },
      60_000,
      "private"
    ]
  ]
  for (const [name, setting, ttlMs, scope] of cases) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        const session = yield* connected(setting)
        // Two upstreams have the same resources: clients get those of one of them.
        for (const method of setting.upstreams.length > 1 ? lists.slice(0, 2) : lists) {
          assert.deepStrictEqual([method, ...yield* hintsOf(session, method)], [method, ttlMs, scope])
        }
      }))
  }

  it.scopedLive("with features of the application has no more time than they have", () =>
    Effect.gen(function*() {
      const session = yield* connected({ upstreams: [minute], own: tool("own") })
      assert.deepStrictEqual(yield* hintsOf(session, "tools/list"), [0, "private"])
      assert.deepStrictEqual(yield* hintsOf(session, "prompts/list"), [60_000, "public"])
      const kept = yield* connected({
        upstreams: [minute],
        own: tool("own"),
        cache: { ttl: "1 second", scope: "public" }
      })
      assert.deepStrictEqual(yield* hintsOf(kept, "tools/list"), [1000, "public"])
    }))
})

describe("A content through a proxy", () => {
  it.scopedLive("has the hints of its upstream", () =>
    Effect.gen(function*() {
      const session = yield* connected({ upstreams: [minute] })
      for (const uri of ["note://first", "note://of/7"]) {
        assert.deepStrictEqual(yield* hintsOf(session, "resources/read", { uri }), [60_000, "public"])
      }
    }))

  it.scopedLive("is private where other clients may not see the resource", () =>
    Effect.gen(function*() {
      const session = yield* connected({ upstreams: [minute], proxy: { sessions: "each" } })
      for (const uri of ["note://first", "note://of/7"]) {
        assert.deepStrictEqual(yield* hintsOf(session, "resources/read", { uri }), [60_000, "private"])
      }
    }))
})
