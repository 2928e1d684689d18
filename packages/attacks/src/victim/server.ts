/**
 * The server that is attacked: over standard streams (`stdio`), or over HTTP in one of three shapes (`node`, `platform`, `web`). It
 * reports its port, and on request its processor time and what it holds, to the process that forked it.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { getRequestListener } from "@hono/node-server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Growth from "../Growth.js"
import * as Features from "./Features.js"

const shape = process.argv[2]

const maxInFlight = process.argv[3] === undefined ? undefined : Number(process.argv[3])

// This process ends with the process that forked it.
process.on("disconnect", () => process.exit(1))

const http = {
  limits: { stallTimeout: "3 seconds", sessionIdleTimeout: shape === "stdio" ? "5 minutes" : "30 seconds" },
  legacy: { ssePath: "/sse" }
} as const

/** Reports the port, and from then on answers each `measure` of the parent. */
const serving = (port: number) =>
  Effect.map(Dispatcher.Dispatcher, ({ conversations }) => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length
    process.on("message", async (message) => {
      const held = message === "collect" ? await Growth.held() : 0
      process.send!({
        cpu: Growth.cpu(),
        held,
        conversations: conversations(),
        sockets: sockets(),
        timers: process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
      })
    })
    process.send?.({ port })
  })

const OverNode = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ port }) => serving(port))
).pipe(Layer.provide(HttpServer.layer({ port: 0, ...http })))

const OverPlatform = Layer.effectDiscard(
  Effect.flatMap(PlatformServer.HttpServer, ({ address }) => serving(address._tag === "TcpAddress" ? address.port : 0))
).pipe(
  Layer.provideMerge(HttpEndpoint.layerWith(http)),
  Layer.provide(PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

const OverWeb = Layer.scopedDiscard(Effect.gen(function*() {
  const server = createServer()
  yield* Effect.addFinalizer(() =>
    Effect.async<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    })
  )
  const { handler } = yield* WebHandler.make({ ...http, path: "/mcp" })
  server.on("request", getRequestListener((request) => handler(request)))
  yield* Effect.async<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* serving((server.address() as AddressInfo).port)
}))

// The canary uses HTTP.
const OverStdio = Layer.merge(StdioServer.layer, OverNode)

const Listener: Layer.Layer<never, unknown, Dispatcher.Dispatcher> = shape === "stdio"
  ? OverStdio
  : shape === "platform"
  ? OverPlatform
  : shape === "web"
  ? OverWeb
  : OverNode

Listener.pipe(
  Layer.provide([Features.server(maxInFlight), EventStore.layerMemory]),
  Layer.launch,
  NodeRuntime.runMain
)
