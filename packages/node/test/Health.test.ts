import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServing from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Readiness from "@effect-mcp/core/Readiness"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { createServer } from "node:http"
import { passing } from "./HttpFixture.js"
import { shells } from "./Shells.js"

class Port extends Context.Tag("test/Port")<Port, number>() {}

const Server = McpServer.layer({ name: "test", version: "0.0.0" }, Layer.empty)

const status = (port: number, path: string, method = "GET") =>
  Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, { method }).then(({ status }) => status))

const both = (port: number) => Effect.all([status(port, "/livez"), status(port, "/readyz")])

const Listening = Layer.provideMerge(
  Layer.effect(
    Port,
    Effect.map(HttpServing.HttpServer, ({ address }) => address._tag === "TcpAddress" ? address.port : 0)
  ),
  PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
)

/** The servers that close their listener themselves, and the port of each. */
const servers: Readonly<Record<string, (options: HttpOptions) => Layer.Layer<Port, unknown>>> = {
  "node:http": (options) =>
    Layer.effect(Port, Effect.map(HttpServer.HttpServer, ({ port }) => port)).pipe(
      Layer.provide(HttpServer.layer({ port: 0, ...options })),
      Layer.provide(Server)
    ),
  "the platform's server": (options) =>
    HttpEndpoint.layerWith(options).pipe(Layer.provideMerge(Listening), Layer.provide(Server)),
  "an application with a router": (options) =>
    Effect.map(HttpEndpoint.make(options), (app) => HttpServing.serve(HttpRouter.empty.pipe(HttpRouter.all("*", app))))
      .pipe(
        Layer.unwrapScoped,
        HttpEndpoint.drainFirst,
        Layer.provideMerge(Listening),
        Layer.provide(Server)
      ),
  "an application with an HttpApi": (options) =>
    HttpApiBuilder.serve().pipe(
      Layer.provide([
        HttpApiBuilder.Router.use((router) =>
          Effect.flatMap(HttpEndpoint.make(options), (app) => router.all("*", app))
        ),
        HttpApiBuilder.api(HttpApi.make("api"))
      ]),
      HttpEndpoint.drainFirst,
      Layer.provideMerge(Listening),
      Layer.provide(Server)
    )
}

describe("The health of a process is served by", () => {
  for (const [name, shell] of Object.entries(shells)) {
    it.scopedLive(name, () =>
      Effect.gen(function*() {
        let isReady = true
        yield* Readiness.add("store", Effect.suspend(() => isReady ? Effect.void : Effect.fail("away")))
        const port = yield* shell({ health: { maxAge: 0, maxLag: "1 minute" } })
        assert.deepStrictEqual(yield* both(port), [200, 200])
        assert.strictEqual(yield* status(port, "/readyz", "HEAD"), 200)
        isReady = false
        assert.deepStrictEqual(yield* both(port), [200, 503])
      }).pipe(Effect.provide(Server)))
  }
})

describe("Readiness ends, as soon as the shutdown begins and before the listener closes, at", () => {
  for (const [name, server] of Object.entries(servers)) {
    it.scoped(name, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(
          server({ health: { grace: "1 hour", maxLag: "1 minute" } }),
          scope
        )
        const port = yield* Effect.provide(Port, context)
        // What is asked about the event loop lasts a millisecond.
        const asked = passing("1 millis")(both(port))
        assert.deepStrictEqual(yield* asked, [200, 200])
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        yield* Effect.yieldNow()
        assert.deepStrictEqual(yield* asked, [200, 503])
        yield* passing("1 hour")(Fiber.join(closing))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(both(port))))
      }))
  }
})
