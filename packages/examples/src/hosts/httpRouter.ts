/**
 * In an `HttpRouter` of `@effect/platform`, beside other routes. The endpoint is an app of the platform; `PlatformHttpServer`
 * closes the server within a deadline.
 */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as PlatformServer from "@effect/platform/HttpServer"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { Server, User, userOf } from "./server.js"

/** The user, from the request that is served. */
const found = Layer.effectContext(Effect.map(HttpServerRequest, ({ headers }) => userOf(headers["x-user"])))

const router = Effect.map(HttpEndpoint.make({ user: User }), (endpoint) =>
  HttpRouter.empty.pipe(
    HttpRouter.get("/health", HttpServerResponse.json({ ok: true })),
    HttpRouter.all("/mcp", Effect.provide(endpoint, found)),
    PlatformServer.serve()
  ))

export const Live = Layer.unwrapScoped(router).pipe(
  HttpEndpoint.drainFirst,
  Layer.provideMerge(PlatformHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Server)
)
