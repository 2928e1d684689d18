/**
 * The endpoint in all shells, over real sockets.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { createServer } from "node:http"
import { act, ask, call, dial, info, listen, open, request, until } from "./HttpFixture.js"
import { type Shell, shells } from "./Shells.js"

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

const own: Shell = (options) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    const { address } = yield* Effect.provide(
      Effect.zipRight(Layer.build(HttpEndpoint.layerWith(options)), PlatformServer.HttpServer),
      context
    )
    return address._tag === "TcpAddress" ? address.port : 0
  }).pipe(Effect.orDie)

for (const [shell, start] of Object.entries({ ...shells, "the platform app on the platform's own server": own })) {
  const served = (features: Layer.Layer<never, never, Registry>, options?: HttpOptions) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
      const server = Layer.merge(McpServer.layer(info, features), EventStore.layerMemory)
      const context = yield* Layer.buildWithScope(server, scope)
      const port = yield* start({ path: "/mcp", ...options }).pipe(Scope.extend(scope), Effect.provide(context))
      return { port, url: `http://127.0.0.1:${port}/mcp`, close: Scope.close(scope, Exit.void) }
    })

  describe(shell, () => {
    it.scopedLive("serves the endpoint: responses, streams, and resumed streams", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const { url } = yield* served(Layer.merge(
          act(Effect.zipRight(Effect.zipRight(log("a"), Deferred.await(gate)), log("b"))),
          act(Effect.void, "quick")
        ))
        const session = yield* open(url)
        const quick = yield* ask(url, call(1, "quick"), session)
        assert.deepStrictEqual([quick.status, quick.headers["content-type"]], [200, "application/json"])
        assert.strictEqual((yield* ask(url, Message.notification("notifications/initialized"), session)).status, 202)
        const first = yield* listen(url, session, call(2, "act"))
        yield* until(() => first.messages().length === 1)
        yield* first.close
        yield* Deferred.succeed(gate, undefined)
        const second = yield* listen(url, { ...session, "last-event-id": first.events.at(-1)!.id! })
        yield* until(second.ended)
        assert.deepStrictEqual(second.messages().map(({ id, params }) => id ?? params.data), ["b", 2])
        assert.strictEqual((yield* ask(url.replace("/mcp", "/other"), call(1, "quick"))).status, 404)
      }))

    it.scopedLive("refuses a body whose header announces too many bytes", () =>
      Effect.gen(function*() {
        const { url } = yield* served(act(Effect.void))
        assert.strictEqual((yield* ask(url, "x".repeat(5_000_000))).status, 413)
      }))

    it.scopedLive("survives clients that disconnect", () =>
      Effect.gen(function*() {
        const { port, url } = yield* served(act(Effect.never))
        const session = yield* open(url)
        for (let id = 1; id <= 20; id++) {
          const { socket } = yield* dial(port)
          const whole = request(JSON.stringify(call(id, "act")), session)
          socket.write(id % 2 === 0 ? whole : whole.slice(0, -5), () => socket.resetAndDestroy())
        }
        assert.strictEqual((yield* ask(url, Message.request(0, "ping"), session)).status, 200)
        const beside = yield* listen(url, session)
        yield* beside.close
        yield* Effect.repeat(Effect.scoped(listen(url, session)), {
          until: ({ response }) => response.statusCode === 200
        })
      }))

    it.scopedLive("closes with open streams, and answers open requests", () =>
      Effect.gen(function*() {
        const began = yield* Deferred.make<void>()
        const { close, url } = yield* served(act(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)))
        const session = yield* open(url, "2025-06-18")
        const beside = yield* listen(url, session)
        const flying = yield* Effect.fork(ask(url, call(1, "act"), session))
        yield* Deferred.await(began)
        yield* close
        yield* until(beside.ended)
        assert.strictEqual((yield* Fiber.join(flying)).json.error.code, -32000)
      }))
  })
}

describe("the platform app", () => {
  it.scopedLive("refuses a request whose body middleware has read, and says what to do", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(McpServer.layer(info, act(Effect.void)))
      const server = yield* Effect.orDie(PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" }))
      const app = yield* Effect.provide(HttpEndpoint.make(), context)
      yield* server.serve(Effect.zipRight(
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ text }) => Effect.orDie(text)),
        app
      ))
      const { port } = server.address as PlatformServer.TcpAddress
      const { json, status } = yield* ask(`http://127.0.0.1:${port}/mcp`, call(1, "act"))
      assert.strictEqual(status, 500)
      assert.include(json.error.message, "the application has read the body of this request before the MCP endpoint")
    }))
})
