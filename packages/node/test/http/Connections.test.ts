/**
 * What the end of a server does to the connections that proxies keep open, in every HTTP shell.
 */
import { HttpServer } from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Effect, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { Agent } from "node:http"
import { ask, dial, info, initialize, passing, request, until } from "../HttpFixture.js"
import { createServer, shells } from "../Shells.js"

const servers: typeof shells = {
  ...shells,
  // The endpoint leaves before the server loses it.
  "the platform app": (options) =>
    Effect.gen(function*() {
      const server = yield* Effect.orDie(PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" }))
      yield* Effect.provideService(Layer.build(HttpEndpoint.layerWith(options)), HttpServer, server)
      return server.address._tag === "TcpAddress" ? server.address.port : 0
    })
}

for (const [name, shell] of Object.entries(servers)) {
  describe(`the end of a server with ${name}`, () => {
    const serving = Effect.fnUntraced(function*(instructions?: string) {
      const scope = yield* Effect.acquireRelease(
        Scope.make(),
        (scope) => passing("1 second")(Scope.close(scope, Exit.void))
      )
      const server = yield* Layer.buildWithScope(McpServer.layer(info, Layer.empty, { instructions }), scope)
      const port = yield* shell({ health: { grace: "500 millis" } }).pipe(Effect.provide(server), Scope.extend(scope))
      return { port, url: `http://127.0.0.1:${port}/mcp`, close: Scope.close(scope, Exit.void) }
    })
    const served = serving()

    it.scoped("ends each connection with the next answer, from the beginning of the shutdown on", () =>
      Effect.gen(function*() {
        const { close, url } = yield* served
        const agent = yield* Effect.acquireRelease(
          Effect.sync(() => new Agent({ keepAlive: true })),
          (agent) => Effect.sync(() => agent.destroy())
        )
        const connection = (headers = {}) =>
          Effect.map(
            ask(url, initialize(), headers, agent),
            ({ headers, status }) => [status, headers.connection, headers["access-control-allow-origin"]]
          )
        assert.deepStrictEqual(yield* connection(), [200, "keep-alive", undefined])
        const closing = yield* Effect.fork(close)
        yield* Effect.yieldNow()
        assert.deepStrictEqual(yield* connection(), [200, "close", undefined])
        const origin = "http://localhost:3000"
        assert.deepStrictEqual(yield* connection({ origin }), [200, "close", origin])
        yield* passing("1 second")(Fiber.join(closing))
      }))

    it.scoped("answers a first request that arrives after the listener has closed", () =>
      Effect.gen(function*() {
        const { close, port, url } = yield* served
        const client = yield* dial(port)
        // The server accepts connections in order, so it has the first one.
        yield* Effect.repeat(ask(url, initialize()), { times: 3 })
        const closing = yield* Effect.fork(close)
        yield* TestClock.adjust("500 millis")
        yield* Effect.repeat(Effect.exit(ask(url, initialize())), { until: Exit.isFailure })
        client.socket.write(request(JSON.stringify(initialize())))
        yield* until(client.closed)
        assert.match(client.text(), /^HTTP\/1\.1 503 [^]*\r\nconnection: close/i)
        yield* passing("1 second")(Fiber.join(closing))
      }))

    it.scoped("lets a client read the rest of its answer", () =>
      Effect.gen(function*() {
        const instructions = "x".repeat(16_000_000)
        const { close, port, url } = yield* serving(instructions)
        const { closed, socket, text } = yield* dial(port)
        socket.once("data", () => socket.pause())
        socket.write(request(JSON.stringify(initialize())))
        yield* until(() => text() !== "")
        const closing = yield* Effect.fork(close)
        yield* TestClock.adjust("500 millis")
        // Refused by the endpoint, or by nobody: the shutdown goes on meanwhile.
        yield* Effect.repeatN(Effect.exit(ask(url, "")), 10)
        assert.isBelow(text().length, instructions.length)
        socket.resume()
        yield* until(closed)
        assert.isAbove(text().length, instructions.length)
        yield* passing("1 second")(Fiber.join(closing))
      }))
  })
}
