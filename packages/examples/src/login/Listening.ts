/**
 * Serves an MCP server that must know its own URL, as a protected server must: first comes the address, then the server. A deployed server
 * reads its URL from its configuration, and does not need this module.
 */
import { HttpServer } from "@effect/platform"
import type * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"

/** Gives the URL, at a free port. The server runs until the scope closes. */
export const listen = <E, R>(server: (url: string) => Layer.Layer<Dispatcher.Dispatcher, E, R>) =>
  Effect.gen(function*() {
    const Http = Layer.succeedContext(
      yield* Layer.build(PlatformHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
    )
    const address = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), Http)
    const url = `${address}/mcp`
    yield* Layer.build(HttpEndpoint.layer.pipe(Layer.provide([server(url), Http])))
    return url
  })
