/**
 * The three HTTP shells of a server, each on a port of its own: Node's HTTP server, the platform app, and a web handler on an
 * HTTP server for such handlers. And what an application mounts in a server of its own: by itself, in Express, and in Hono.
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { getRequestListener } from "@hono/node-server"
import { Effect, type Scope } from "effect"
import express from "express"
import { Hono } from "hono"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Connections } from "../src/http/Connections.js"

/**
 * How long connections stay open between two requests: longer than a test. Node's 5 seconds may end just when a client that the
 * machine has kept waiting sends its next request.
 */
export const patient = { keepAliveTimeout: 600_000 } as const

/** An HTTP server of Node with patience. */
export const createServer = () => http.createServer(patient)

/** Serves requests of Node on a free port until the scope closes: first what `make` acquires is released, then the HTTP server. */
const serving = <R>(
  make: Effect.Effect<http.RequestListener, never, R>
): Effect.Effect<number, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const server = createServer()
    const connections = new Connections(server)
    yield* Effect.addFinalizer(() =>
      connections.close({ drain: Effect.void, timeout: "5 seconds", refuseIncomplete: false })
    )
    server.on("request", yield* make)
    yield* Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    })
    return (server.address() as AddressInfo).port
  })

/** Serves a web handler on a free port until the scope closes: first the handler is closed, then the HTTP server. */
export const listening = <R>(
  make: Effect.Effect<WebHandler.WebHandlerService, never, R>
): Effect.Effect<number, never, R | Scope.Scope> =>
  serving(
    Effect.map(
      make,
      ({ handler }) => getRequestListener((request) => handler(request), { overrideGlobalObjects: false })
    )
  )

/** Serves a server's endpoint until the scope closes, and gives the port. */
export type Shell = (options: HttpOptions) => Effect.Effect<number, never, Dispatcher | Scope.Scope>

export const shells: Readonly<Record<string, Shell>> = {
  "node:http": (options) =>
    Effect.map(Effect.orDie(HttpServer.make({ port: 0, node: patient, ...options })), ({ port }) => port),
  "the platform app": (options) =>
    Effect.gen(function*() {
      const server = yield* Effect.orDie(PlatformHttpServer.make(createServer, { port: 0, host: "127.0.0.1" }))
      // After the server, so that it is closed before it.
      yield* server.serve(yield* HttpEndpoint.make(options))
      return server.address._tag === "TcpAddress" ? server.address.port : 0
    }),
  "a web handler": (options) => listening(WebHandler.make(options))
}

export const shellsAndMounts: Readonly<Record<string, Shell>> = {
  ...shells,
  "a handler of Node": (options) => serving(Effect.map(NodeHandler.make(options), ({ handler }) => handler)),
  Express: (options) =>
    serving(
      Effect.map(NodeHandler.make(options), ({ handler }) => express().all("/mcp", (...args) => handler(...args)))
    ),
  Hono: (options) =>
    serving(
      Effect.map(WebHandler.make(options), ({ handler }) =>
        getRequestListener(
          new Hono().all("/mcp", ({ req }) => handler(req.raw)).fetch,
          { overrideGlobalObjects: false }
        ))
    )
}
