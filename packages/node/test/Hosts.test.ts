/**
 * The Host header that an endpoint allows by itself, where the server of the application listens: in all shells.
 */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Effect, Layer, Logger, type Scope } from "effect"
import { createServer } from "node:http"
import { act, ask, info, initialize, listening as onNode } from "./HttpFixture.js"
import { listening } from "./Shells.js"

type Start = (host: string) => Effect.Effect<number, never, Dispatcher | Scope.Scope>

const starts: Readonly<Record<string, Start>> = {
  "node:http": (host) => Effect.map(Effect.orDie(HttpServer.make({ port: 0, host })), ({ port }) => port),
  "the platform app, served alone": (host) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(NodeHttpServer.layer(createServer, { port: 0, host }))
      const { address } = yield* Effect.provide(
        Effect.zipRight(Layer.build(HttpEndpoint.layer), PlatformServer.HttpServer),
        context
      )
      return address._tag === "TcpAddress" ? address.port : 0
    }).pipe(Effect.orDie),
  "the platform app, mounted in a router": (host) =>
    Effect.gen(function*() {
      const server = yield* NodeHttpServer.make(createServer, { port: 0, host })
      const app = yield* HttpEndpoint.make()
      yield* server.serve(HttpRouter.empty.pipe(HttpRouter.mountApp("/mcp", app)))
      return server.address._tag === "TcpAddress" ? server.address.port : 0
    }).pipe(Effect.orDie),
  "a handler on a server of Node": (host) =>
    Effect.gen(function*() {
      const { handler } = yield* NodeHandler.make()
      const { port } = yield* onNode((request, response) => handler(request, response), host)
      return port
    })
}

/** The status of `initialize` with these headers. */
const statusOf = (port: number, headers: Record<string, string>) =>
  Effect.map(ask(`http://127.0.0.1:${port}/mcp`, initialize(), headers), ({ status }) => status)

const services = McpServer.layer(info, act(Effect.void)).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))

for (const [name, start] of Object.entries(starts)) {
  describe(name, () => {
    it.scopedLive("allows the hosts of this machine only where it listens on a loopback address", () =>
      Effect.gen(function*() {
        const port = yield* start("127.0.0.1")
        assert.strictEqual(yield* statusOf(port, { host: "localhost" }), 200)
        assert.strictEqual(yield* statusOf(port, { host: "mcp.example.com" }), 403)
      }).pipe(Effect.provide(services)))

    it.scopedLive("allows any host where it listens on other addresses, and no page of another machine", () =>
      Effect.gen(function*() {
        for (const address of ["0.0.0.0", "::"]) {
          const port = yield* start(address)
          assert.strictEqual(yield* statusOf(port, { host: "mcp.example.com" }), 200)
          assert.strictEqual(yield* statusOf(port, { host: "localhost" }), 200)
          const rebound = { host: "evil.com", origin: "http://evil.com" }
          assert.strictEqual(yield* statusOf(port, rebound), 403)
        }
      }).pipe(Effect.provide(services)))
  })
}

describe("a web handler", () => {
  it.scopedLive("does not know where it is reached, and allows the hosts of this machine and those of its options", () =>
    Effect.gen(function*() {
      const port = yield* listening(WebHandler.make())
      assert.strictEqual(yield* statusOf(port, { host: "localhost" }), 200)
      assert.strictEqual(yield* statusOf(port, { host: "mcp.example.com" }), 403)
      const named = yield* listening(WebHandler.make({ allowedHosts: ["mcp.example.com"] }))
      assert.strictEqual(yield* statusOf(named, { host: "mcp.example.com" }), 200)
    }).pipe(Effect.provide(services)))
})
