import { assert, describe, it } from "@effect/vitest"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Version from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer } from "effect"
import { GreetLive, info, names, serve, uninitialized } from "../Serving.js"

const envelope = (version: unknown) => ({
  _meta: { ...TestPeer.requestMeta(), "io.modelcontextprotocol/protocolVersion": version }
})

const handshake = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info }

const modern = envelope("2026-07-28")

const supported = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

const legacyOnly = serve(GreetLive, { versions: Version.legacy })

describe("A modern message to a server with no modern revision", () => {
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
    }).pipe(Effect.provide(legacyOnly)))

  it.scoped("receives only the revisions that this server supports", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const error = yield* peer.expectError(yield* peer.request("tools/list", modern))
      assert.deepStrictEqual(error.data, { supported: ["2025-06-18"], requested: "2026-07-28" })
    }).pipe(Effect.provide(serve(GreetLive, { versions: ["2025-06-18"] }))))

  it.scoped("gets an error that requires initialize first when its envelope names a revision that begins with initialize", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const error = yield* peer.expectError(yield* peer.request("tools/list", envelope("2025-11-25")))
      assert.strictEqual(error.code, -32602)
      assert.include(error.message, `before "initialize"`)
    }).pipe(Effect.provide(legacyOnly)))

  it.scoped("gets a short error, whatever its envelope names", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      for (const version of [7, null, {}, "9".repeat(100_000), "__proto__"]) {
        const error = yield* peer.expectError(yield* peer.request("tools/list", envelope(version)))
        assert.strictEqual(error.code, -32602)
        assert.isBelow(JSON.stringify(error).length, 1000)
      }
    }).pipe(Effect.provide(legacyOnly)))

  it.scoped("is refused inside the middleware, and never reaches a fallback handler", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware = Middleware.make((call, next) =>
        Effect.tapErrorCause(next, () => Effect.sync(() => seen.push(call.method)))
      )
      const features = Layer.merge(GreetLive, MethodHandler.fallback(() => Effect.succeed({ proxied: true })))
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        for (const method of ["server/discover", "tools/list"]) {
          yield* peer.expectError(yield* peer.request(method, modern))
        }
        assert.deepStrictEqual(seen, ["server/discover", "tools/list"])
      }).pipe(Effect.scoped, Effect.provide(serve(features, { middleware, versions: Version.legacy })))
    }))
})

describe("A server of both eras", () => {
  it.scoped("serves modern and legacy requests on one pipe, each in its era, in any order", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const discovered = yield* peer.expectResult(yield* peer.request("server/discover", modern))
      assert.deepStrictEqual(discovered.supportedVersions, [...supported, "2026-07-28"])
      yield* peer.initialize()
      assert.deepStrictEqual(yield* names(peer), ["greet"])
      const listed = yield* peer.expectResult(yield* peer.request("tools/list", modern))
      assert.strictEqual(listed.resultType, "complete")
      const legacy = yield* peer.expectResult(yield* peer.request("tools/list"))
      assert.notProperty(legacy, "resultType")
      assert.strictEqual((yield* peer.expectError(yield* peer.request("ping", modern))).code, -32601)
      yield* peer.expectSilence
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("limits a legacy request as any other, even one with the name of a modern method", () => {
    const middleware = Middleware.make(({ method }, next) => method === "subscriptions/listen" ? Effect.never : next)
    return Effect.gen(function*() {
      const peer = yield* uninitialized
      yield* peer.initialize()
      yield* peer.request("subscriptions/listen", { notifications: {} })
      const error = yield* peer.expectError(yield* peer.request("subscriptions/listen", { notifications: {} }))
      assert.include(error.message, "Too many requests: 1 are running")
    }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { limits: { maxInFlight: 1, maxWaiting: 0 }, middleware })))
  })

  it.scoped("serves a modern request while a handshake is under way", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const session = Layer.effectDiscard(
        Effect.flatMap(RequestContext, ({ method }) => method === "initialize" ? Deferred.await(gate) : Effect.void)
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const first = yield* peer.request("initialize", handshake)
        yield* peer.expectResult(yield* peer.request("tools/list", modern))
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session })))
    }))
})

describe("A server with only modern revisions", () => {
  const modernOnly = serve(GreetLive, { versions: ["2026-07-28"] })

  it.scoped("SHOULD name its revisions to a client that sends initialize, and serves modern requests afterwards", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const refused = yield* peer.expectError(yield* peer.request("initialize", handshake))
      assert.strictEqual(refused.code, -32022)
      assert.deepStrictEqual(refused.data, { supported: ["2026-07-28"], requested: "2025-11-25" })
      assert.include(refused.message, "2026-07-28")
      assert.strictEqual((yield* peer.expectError(yield* peer.request("tools/list"))).code, -32602)
      yield* peer.notify("notifications/initialized")
      yield* peer.expectResult(yield* peer.request("tools/list", modern))
    }).pipe(Effect.provide(modernOnly)))
})

// The schema of a request's envelope is not that of the conversation.
const unchecked = TestPeer.client({ oracle: false })

describe("A conversation with a server of legacy revisions", () => {
  it.scoped("stays legacy, whatever the envelope of a later request names", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked
      // `initialize` begins a legacy conversation, also with an envelope.
      yield* peer.expectResult(
        yield* peer.request("initialize", {
          ...modern,
          ...handshake
        })
      )
      yield* peer.notify("notifications/initialized")
      const { tools } = yield* peer.expectResult(yield* peer.request("tools/list", modern))
      assert.lengthOf(tools as ReadonlyArray<unknown>, 1)
      assert.strictEqual((yield* peer.expectError(yield* peer.request("server/discover", modern))).code, -32601)
    }).pipe(Effect.provide(legacyOnly)))

  it.scoped("is legacy from the request on: a modern message waits for its end, as any other", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const peer = yield* unchecked
        const first = yield* peer.request("initialize", handshake)
        const second = yield* peer.request("tools/list", modern)
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        yield* peer.expectResult(first)
        yield* peer.expectResult(second)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          serve(GreetLive, { session: Layer.effectDiscard(Deferred.await(gate)), versions: Version.legacy })
        )
      )
    }))
})
