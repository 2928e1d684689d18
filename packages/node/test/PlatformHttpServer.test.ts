/**
 * Closing while clients send nothing, half a request or do not read, on the application's own HTTP server.
 */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { createServer } from "node:http"
import { act, ask, call, dial, info, open, passing, request, until } from "./HttpFixture.js"

const ping = Message.request(1, "ping")

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

/** An application with a route beside the endpoint, which can be closed before the test ends. */
const application = (
  closeTimeout: Duration.DurationInput,
  features: Layer.Layer<never, never, Registry> = act(Effect.void),
  beside: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const app = Layer.scopedDiscard(Effect.flatMap(HttpEndpoint.make({ path: "/mcp", closeTimeout }), (endpoint) =>
      PlatformServer.serveEffect(HttpRouter.empty.pipe(
        HttpRouter.all("/mcp", endpoint),
        HttpRouter.get("/beside", Effect.as(beside, HttpServerResponse.text("beside")))
      ))))
    const context = yield* Layer.buildWithScope(
      app.pipe(
        Layer.provideMerge(PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", closeTimeout })),
        Layer.provide(McpServer.layer(info, features))
      ),
      scope
    )
    const { address } = yield* Effect.provide(PlatformServer.HttpServer, context)
    const port = address._tag === "TcpAddress" ? address.port : 0
    return { port, url: `http://127.0.0.1:${port}/mcp`, close: Scope.close(scope, Exit.void) }
  })

describe("closing the server of an application", () => {
  for (
    const [what, text, answers] of [
      ["nothing", "", 0],
      ["half of a header", "POST /mcp HTTP/1.1\r\nhost: loc", 0],
      ["half of a body", request("{", { "content-length": "100" }), 0],
      ["half of a second request", `${request(JSON.stringify(ping))}POST /mcp HT`, 1]
    ] as const
  ) {
    it.scopedLive(`does not wait for a client that sends ${what}`, () =>
      Effect.gen(function*() {
        const { close, port, url } = yield* application("1 hour")
        const client = yield* dial(port)
        client.socket.write(text)
        if (answers > 0) yield* until(() => client.text() !== "")
        // The server accepts connections in order, so it has the first one.
        yield* Effect.repeat(ask(url, ping), { times: 3 })
        yield* close
        yield* until(client.closed)
      }))
  }

  it.scopedLive("refuses requests with 503 as long as no application serves them", () =>
    Effect.gen(function*() {
      const { address } = yield* Effect.orDie(PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" }))
      const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/mcp`
      assert.strictEqual((yield* ask(url, ping)).status, 503)
    }))

  it.scopedLive("waits for a request to another route, and for its response", () =>
    Effect.gen(function*() {
      const [began, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { close, url } = yield* application(
        "1 hour",
        undefined,
        Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(gate))
      )
      const flying = yield* Effect.fork(ask(url.replace("/mcp", "/beside"), "", { "content-type": "text/plain" }))
      const got = yield* Effect.fork(Effect.promise(() => fetch(url.replace("/mcp", "/beside")).then((r) => r.text())))
      yield* Deferred.await(began)
      const closing = yield* Effect.fork(close)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(got), "beside")
      yield* Fiber.join(closing)
      yield* Fiber.await(flying)
    }))

  it.scoped("takes no longer than `closeTimeout`, whatever clients and handlers do", () =>
    Effect.gen(function*() {
      const forever = Effect.forever(log("x".repeat(100_000)))
      const { close, port, url } = yield* application(
        "300 millis",
        act(forever),
        Effect.never
      )
      const session = yield* open(url)
      for (let id = 0; id < 20; id++) {
        const { socket } = yield* dial(port)
        socket.pause()
        socket.write(request(JSON.stringify(call(id, "act")), session))
      }
      const beside = yield* dial(port)
      beside.socket.write(request("", {}, "GET /beside HTTP/1.1"))
      yield* Effect.repeat(ask(url, ping, session), { times: 3 })
      const [time] = yield* passing("50 millis")(Effect.timed(close))
      assert.isBelow(Duration.toMillis(time), 3000)
      yield* until(beside.closed)
    }))
})
