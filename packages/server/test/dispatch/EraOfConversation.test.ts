import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Handler from "@effect-mcp/server/Handler"
import * as McpServer from "@effect-mcp/server/McpServer"
import * as Middleware from "@effect-mcp/server/Middleware"
import { Deferred, Effect, Layer } from "effect"
import { GreetLive, info, names, serve, uninitialized } from "../Serving.js"

const envelope = (version: unknown): JsonObject => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": info,
    "io.modelcontextprotocol/clientCapabilities": {}
  }
})

const modern = envelope("2026-07-28")

const supported = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

describe("A conversation that begins with a modern message", () => {
  it.scoped("gets no error of the modern era, so that the client falls back to initialize", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const discover = yield* peer.expectError(yield* peer.request("server/discover", modern))
      assert.strictEqual(discover.code, -32601)
      for (const method of ["tools/list", "subscriptions/listen", "ping"]) {
        const error = yield* peer.expectError(yield* peer.request(method, modern))
        assert.strictEqual(error.code, -32602)
        assert.deepStrictEqual(error.data, { supported, requested: "2026-07-28" })
        assert.include(error.message, "2026-07-28")
      }
      yield* peer.initialize()
      assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("receives only the revisions that this server supports", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const error = yield* peer.expectError(yield* peer.request("tools/list", modern))
      assert.deepStrictEqual(error.data, { supported: ["2025-06-18"], requested: "2026-07-28" })
    }).pipe(Effect.provide(serve(GreetLive, { versions: ["2026-07-28", "2025-06-18"] }))))

  it.scoped("gets an error that requires initialize first when its envelope names a revision that begins with initialize", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const error = yield* peer.expectError(yield* peer.request("tools/list", envelope("2025-11-25")))
      assert.strictEqual(error.code, -32602)
      assert.include(error.message, `before "initialize"`)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("gets a short error, whatever its envelope names", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      for (const version of [7, null, {}, "9".repeat(100_000), "__proto__"]) {
        const error = yield* peer.expectError(yield* peer.request("tools/list", envelope(version)))
        assert.strictEqual(error.code, -32602)
        assert.isBelow(JSON.stringify(error).length, 1000)
      }
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused inside the middleware, and never reaches a fallback handler", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware = Middleware.make((call, next) =>
        Effect.tapErrorCause(next, () => Effect.sync(() => seen.push(call.method)))
      )
      const features = Layer.merge(GreetLive, Handler.fallback(() => Effect.succeed({ proxied: true })))
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        for (const method of ["server/discover", "tools/list"]) {
          yield* peer.expectError(yield* peer.request(method, modern))
        }
        assert.deepStrictEqual(seen, ["server/discover", "tools/list"])
      }).pipe(Effect.scoped, Effect.provide(serve(features, { middleware })))
    }))
})

describe("A conversation that begins with initialize", () => {
  it.scoped("stays legacy, whatever the envelope of a later request names", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      // `initialize` begins a legacy conversation, also with an envelope.
      yield* peer.expectResult(
        yield* peer.request("initialize", {
          ...modern,
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: info
        })
      )
      yield* peer.notify("notifications/initialized")
      const { tools } = yield* peer.expectResult(yield* peer.request("tools/list", modern))
      assert.lengthOf(tools as ReadonlyArray<unknown>, 1)
      assert.strictEqual((yield* peer.expectError(yield* peer.request("server/discover", modern))).code, -32601)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is legacy from the request on: a modern message waits for its end, as any other", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: info
        })
        const second = yield* peer.request("tools/list", modern)
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        yield* peer.expectResult(second)
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session: Layer.effectDiscard(Deferred.await(gate)) })))
    }))
})

describe("A server with only revisions that it cannot serve", () => {
  it.effect("is not built, and the error names the revisions that it can serve", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(
        Effect.scoped(Layer.build(McpServer.layer(info, GreetLive, { versions: ["2026-07-28"] })))
      )
      assert.strictEqual(exit._tag, "Failure")
      assert.include(
        String(exit._tag === "Failure" ? exit.cause : ""),
        `This server can serve none of its versions (2026-07-28); it can serve ${supported.join(", ")}`
      )
    }))
})
