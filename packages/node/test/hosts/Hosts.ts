/**
 * Applications that mount an MCP endpoint beside a route of their own, "/health", each on a port of its own.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { getRequestListener } from "@hono/node-server"
import { Effect, Layer, Schema, type Scope } from "effect"
import type { RequestHandler } from "express"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { compress } from "hono/compress"
import type { RequestListener, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { createGzip } from "node:zlib"
import { createServer } from "../Shells.js"

/** Serves until the scope closes, and gives the origin. */
export type Host = (options: HttpOptions) => Effect.Effect<string, never, Dispatcher | Scope.Scope>

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** The listener is made after the server, so that it is closed before it. */
const serving = <R>(make: Effect.Effect<RequestListener, never, R>): Effect.Effect<string, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const server = createServer()
    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        // Node's `close` waits for connections that have not sent a request.
        server.closeAllConnections()
      })
    )
    server.on("request", yield* make)
    yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    return originOf(server)
  })

const onNode = (listener: (handler: NodeHandler.Handler) => RequestListener): Host => (options) =>
  serving(Effect.map(NodeHandler.make(options), ({ handler }) => listener(handler)))

const inExpress = (mount: (app: express.Express, handler: NodeHandler.Handler) => unknown): Host =>
  onNode((handler) => {
    const app = express()
    app.get("/health", (_, response) => void response.json({ ok: true }))
    mount(app, handler)
    return app
  })

/** Compresses every answer, and sends each chunk when it has been compressed. */
const gzipped: RequestHandler = (request, response, next) => {
  if (!/gzip/.test(request.headers["accept-encoding"] ?? "")) return next()
  const { end, write, writeHead } = response
  const gzip = createGzip({ flush: 2 })
  gzip.on("data", (chunk) => write.call(response, chunk, "utf8"))
  gzip.on("end", () => end.call(response, undefined, "utf8"))
  Object.assign(response, {
    writeHead: (status: number, headers: Record<string, string>) => {
      const { "content-length": _, ...rest } = headers
      return writeHead.call(response, status, { ...rest, "content-encoding": "gzip" } as never)
    },
    write: (chunk: string) => gzip.write(chunk),
    end: (chunk?: string) => gzip.end(chunk)
  })
  next()
}

const inFastify: Host = (options) =>
  Effect.gen(function*() {
    // Fastify would wait for connections that have not sent a request.
    const app = Fastify({ forceCloseConnections: true })
    yield* Effect.addFinalizer(() => Effect.promise(() => app.close()))
    const { handler } = yield* NodeHandler.make(options)
    app.get("/health", () => ({ ok: true }))
    app.all("/mcp", (request, reply) => {
      reply.hijack()
      handler(request.raw, reply.raw, { body: request.body })
    })
    return yield* Effect.promise(() => app.listen({ port: 0, host: "127.0.0.1" }))
  })

const honoOf = (handler: WebHandler.Handler, app = new Hono()) =>
  app.get("/health", (c) => c.json({ ok: true })).all("/mcp", (c) => handler(c.req.raw))

const inHono = (app: () => Hono): Host => (options) =>
  serving(Effect.map(
    WebHandler.make(options),
    ({ handler }) => getRequestListener(honoOf(handler, app()).fetch, { overrideGlobalObjects: false })
  ))

const onPlatform = (
  app: (endpoint: HttpApp.Default) => Layer.Layer<
    never,
    never,
    PlatformServer.HttpServer
  >
): Host =>
(options) =>
  Effect.gen(function*() {
    const platform = yield* Effect.orDie(
      Layer.build(PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
    const endpoint = yield* HttpEndpoint.make(options)
    yield* Effect.provide(Layer.build(app(endpoint)), platform)
    return yield* Effect.provide(PlatformServer.addressFormattedWith(Effect.succeed), platform)
  })

const inHttpRouter = onPlatform((endpoint) =>
  HttpRouter.empty.pipe(
    HttpRouter.get("/health", HttpServerResponse.json({ ok: true }).pipe(Effect.orDie)),
    HttpRouter.all("/mcp", endpoint),
    PlatformServer.serve()
  )
)

const inMountedApp = onPlatform((endpoint) =>
  HttpRouter.empty.pipe(
    HttpRouter.get("/health", HttpServerResponse.json({ ok: true }).pipe(Effect.orDie)),
    HttpRouter.mountApp("/mcp", endpoint),
    PlatformServer.serve()
  )
)

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("own", { topLevel: true }).add(
    HttpApiEndpoint.get("health", "/health").addSuccess(Schema.Struct({ ok: Schema.Boolean }))
  )
)

const inHttpApi = onPlatform((endpoint) =>
  HttpApiBuilder.serve().pipe(
    Layer.provide(HttpApiBuilder.Router.use((router) => router.all("/mcp", endpoint))),
    Layer.provide(HttpApiBuilder.api(Api)),
    Layer.provide(
      HttpApiBuilder.group(Api, "own", (handlers) => handlers.handle("health", () => Effect.succeed({ ok: true })))
    ),
    Layer.provide(PlatformServer.layerContext),
    Layer.orDie
  )
)

export const hosts: Readonly<Record<string, Host>> = {
  "node:http": onNode((handler) => (request, response) =>
    request.url === "/mcp" ? handler(request, response) : void response.end(`{"ok":true}`)
  ),
  "Express, mounted at a path": inExpress((app, handler) => app.use("/mcp", handler)),
  "Express, behind its body parser": inExpress((app, handler) => app.use(express.json()).all("/mcp", handler)),
  "Express, behind a parser of texts": inExpress((app, handler) =>
    app.use(express.text({ type: "*/*" })).all("/mcp", handler)
  ),
  "Express, behind a parser of bytes": inExpress((app, handler) =>
    app.use(express.raw({ type: "*/*" })).all("/mcp", handler)
  ),
  "Express, behind a middleware that compresses": inExpress((app, handler) => app.use(gzipped).use("/mcp", handler)),
  Fastify: inFastify,
  Hono: inHono(() => new Hono()),
  "Hono, behind a middleware that compresses": inHono(() => new Hono().use(compress())),
  HttpRouter: inHttpRouter,
  "HttpRouter, mounted at a path": inMountedApp,
  HttpApi: inHttpApi
}
