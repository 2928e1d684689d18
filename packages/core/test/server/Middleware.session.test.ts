import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, Stream } from "effect"
import { act, call, connect, logbook, result, serve } from "./Serving.js"
import { everything, useAll, used, watching } from "./Surrounded.js"

class Cart extends Context.Tag("Cart")<Cart, string>() {}
class Quota extends Context.Tag("Quota")<Quota, string>() {}

const eras = ["2025-11-25", "2026-07-28"] as const
const nothing = Definition.make()

for (const version of eras) {
  describe(`Middleware around a session, for clients of ${version}`, () => {
    it.effect("runs around every message but the handshake", () =>
      Effect.gen(function*() {
        const [outer, inner] = [watching("outer"), watching("inner")]
        const options = {
          versions: [version] as const,
          session: Layer.succeed(Cart, "cart"),
          middleware: outer.middleware,
          sessionMiddleware: Middleware.compose(Middleware.provide(Quota, () => Cart), inner.middleware)
        }
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          yield* useAll
          const lists: ReadonlyArray<Stream.Stream<unknown, unknown>> = [
            client.tools,
            client.prompts,
            client.resourceTemplates
          ]
          for (const list of lists) yield* Stream.runDrain(list)
          yield* Effect.ignore(client.request("x/unknown", {}))
        }).pipe(Effect.provide(TestServer.layer(nothing, everything(Quota), options)))
        const inside = outer.seen.map((line) => line.replace("outer", "inner"))
        assert.deepStrictEqual(inner.seen, inside.filter((line) => line !== "inner initialize"))
        for (const method of [...used, "tools/list", "prompts/list", "resources/templates/list", "x/unknown failed"]) {
          assert.include(inner.seen, `inner ${method}`)
        }
        assert.include(outer.seen, version === "2025-11-25" ? "outer initialize" : "outer server/discover")
      }))

    it.effect("refuses lists, too", () =>
      Effect.gen(function*() {
        const refuse = Middleware.make(({ method }, next) =>
          method.endsWith("/list") ? Effect.fail(new InvalidRequest({ message: "not you" })) : next
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const lists: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            client.listTools(),
            client.listPrompts(),
            client.listResources()
          ]
          for (const list of lists) {
            assert.deepInclude((yield* Effect.flip(list)) as object, { message: "not you" })
          }
        }).pipe(
          Effect.provide(
            TestServer.layer(nothing, everything(Effect.void), { versions: [version], sessionMiddleware: refuse })
          )
        )
      }))

    it.effect("may replace a result, which is checked as one of a handler", () =>
      Effect.gen(function*() {
        const { layer, lines } = logbook()
        const replace = Middleware.make(({ method }, next) =>
          method === "tools/list" ? Effect.succeed({ tools: "none" }) : next
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          assert.strictEqual((yield* Effect.flip(client.listTools()))._tag, "InternalError")
        }).pipe(
          Effect.provide(
            TestServer.layer(nothing, everything(Effect.void), { versions: [version], sessionMiddleware: replace })
          ),
          Effect.provide(layer)
        )
        assert.isTrue(lines.some(({ cause }) => String(cause).includes("not a result of the method")))
      }))
  })
}

describe("Middleware inside a session", () => {
  it.scoped("does not run for a client that has not shaken hands, and for its ping", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectSilence
        assert.deepStrictEqual(seen, [
          "seen notifications/initialized",
          "seen tools/call",
          "seen notifications/roots/list_changed",
          "seen ping"
        ])
      }).pipe(Effect.provide(serve(act(Effect.void), { sessionMiddleware: middleware })))
    }))

  it.scoped("around a handler of notifications may refuse them, and handler and list of another feature go on", () =>
    Effect.gen(function*() {
      let handled = 0
      const count = Effect.sync(() => void handled++)
      const refuse = FeatureMiddleware.make(() => Effect.fail(new InvalidRequest({ message: "not you" })))
      const features = Layer.merge(
        MethodHandler.rootsListChanged(count).pipe(FeatureMiddleware.around(refuse)),
        act(count)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.notify("notifications/roots/list_changed")
        yield* peer.expectSilence
        assert.strictEqual(handled, 0)
        yield* result(peer, "act")
        assert.strictEqual(handled, 1)
      }).pipe(Effect.provide(serve(features)))
    }))

  it.scoped("does not replace what describes the request, nor its scope", () =>
    Effect.gen(function*() {
      let released = false
      const scoped = FeatureMiddleware.make(({ next }) =>
        Effect.zipLeft(
          Effect.scoped(next as Effect.Effect<unknown, unknown>),
          Effect.sync(() => assert.isFalse(released))
        )
      )
      const tool = act(Effect.acquireRelease(Effect.void, () => Effect.sync(() => released = true))).pipe(
        FeatureMiddleware.around(scoped)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* peer.expectResult(yield* call(peer, "act"))
        assert.isTrue(released)
      }).pipe(Effect.provide(serve(tool)))
    }))
})
