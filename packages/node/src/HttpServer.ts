/**
 * The HTTP endpoint of a server on Node's own HTTP server, which is faster than the HTTP server of `@effect/platform`. An application that
 * has an HTTP server of `@effect/platform` uses `@effect-mcp/core/HttpEndpoint` instead.
 *
 * This module starts and stops the HTTP server. The endpoint in `@effect-mcp/core` handles the requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Endpoint from "@effect-mcp/core/unstable/server/Endpoint"
import * as Guard from "@effect-mcp/core/unstable/server/Guard"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type ServerOptions } from "node:http"
import type { AddressInfo } from "node:net"
import { Connections } from "./http/Connections.js"
import { NodeExchange } from "./http/NodeExchange.js"

/** @category models */
export interface HttpServerService {
  readonly host: string
  readonly port: number
  /** The URL of the endpoint, for clients on this machine. */
  readonly url: string
  /** The number of open sessions. */
  readonly sessions: () => number
}

/** @category tags */
export class HttpServer extends Context.Tag("@effect-mcp/node/HttpServer")<HttpServer, HttpServerService>() {}

/**
 * The server could not listen, for example because the port is in use. `code` is the error code of the operating system.
 *
 * @category errors
 */
export class ServeError extends Data.TaggedError("ServeError")<{
  readonly code: string | undefined
  readonly message: string
  readonly cause: unknown
}> {}

/** @category models */
export interface Options extends HttpOptions {
  /** The port on which the server listens. With `0`, the server uses any free port. */
  readonly port: number
  /**
   * The address on which the server listens. Default: "127.0.0.1", which other machines cannot reach. When the address is not a loopback
   * address, the default of `allowedHosts` is every host, and the default of `allowedOrigins` is no origin.
   */
  readonly host?: string | undefined
  /**
   * More options for Node's HTTP server, such as limits of headers. By default, a client has 20 seconds to send the headers of a request,
   * and 2 minutes to send the whole request.
   *
   * Node closes a connection 5 seconds after its last request. If a proxy in front of the server keeps its connections longer, set
   * `keepAliveTimeout` to a longer time than the proxy uses. Otherwise a request that the proxy sends at the moment of closing is lost, and
   * the client gets status 502.
   */
  readonly node?: Omit<ServerOptions, "joinDuplicateHeaders"> | undefined
}

/**
 * The timeouts of the HTTP server, in milliseconds. Node checks the timeouts once per interval, so a timeout may be late by one interval.
 */
const TIMEOUTS = { headersTimeout: 20_000, requestTimeout: 120_000, connectionsCheckingInterval: 5000 } as const

/**
 * Serves over HTTP until the scope closes. Fails with `ServeError` when the server cannot listen.
 *
 * When the scope closes, the server first continues to serve for the times of the options `health.grace` and `drainTimeout`. During these
 * times it closes each connection after the next response on it, so that proxies and clients open new connections to another process. Then
 * the server stops listening, ends streams, interrupts handlers and answers their requests, and waits until clients have read the
 * responses. After `closeTimeout`, the server destroys the remaining connections.
 *
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<HttpServerService, ServeError, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const host = options.host ?? "127.0.0.1"
    const path = options.path ?? "/mcp"
    const isOpen = !Guard.isLoopback(host)
    const open = isOpen ? { allowedHosts: ["*"], allowedOrigins: [] } : undefined
    const endpoint = yield* Endpoint.make({
      ...options,
      path,
      allowedHosts: options.allowedHosts ?? open?.allowedHosts,
      allowedOrigins: options.allowedOrigins ?? open?.allowedOrigins
    }, isOpen)
    const server = createServer({ ...TIMEOUTS, ...options.node, joinDuplicateHeaders: true }, (request, response) => {
      endpoint.handle(new NodeExchange(request, response))
    })
    const connections = new Connections(server)
    const address = yield* Effect.acquireRelease(
      listen(server, options.port, host),
      () =>
        Effect.zipRight(
          endpoint.drain,
          connections.close({
            drain: endpoint.close,
            timeout: options.closeTimeout ?? "5 seconds",
            refuseIncomplete: true
          })
        )
    )
    const runtime = yield* EffectInternals.currentServices()
    // The event reports a connection that could not be accepted. Without a listener, the event would end the process.
    server.on(
      "error",
      (error) => EffectInternals.runFork(runtime, Effect.logWarning("Cannot accept a connection", error))
    )
    // `::ffff:127.0.0.1` is an IPv4 address in the notation of IPv6.
    const ip = address.address.replace(/^::ffff:(?=[\d.]+$)/i, "")
    // On some systems a client cannot connect to "every address", so the URL names the loopback address.
    const reached = ip === "0.0.0.0" ? "127.0.0.1" : ip === "::" ? "::1" : ip
    const name = reached.includes(":") ? `[${reached}]` : reached
    const url = `http://${name}:${address.port}${path}`
    yield* Effect.logInfo(`The MCP server listens at ${url}`)
    return { host: address.address, port: address.port, url, sessions: endpoint.sessions }
  })

/**
 * Provides the HTTP server of `make` as a layer. Clients can resume streams when the application provides an `EventStore`.
 *
 * @example
 * ```ts
 * import * as EventStore from "@effect-mcp/core/EventStore"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import { Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * export const Live = HttpServer.layer({ port: 3000 }).pipe(
 *   Layer.provide([Server, EventStore.layerMemory])
 * )
 * ```
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<HttpServer, ServeError, Dispatcher> =>
  Layer.scoped(HttpServer, make(options))

/**
 * Provides the same layer as `layer`, with options from the configuration of the program.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import { Config, Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * export const Live = Layer.provide(HttpServer.layerConfig({ port: Config.port("PORT") }), Server)
 * ```
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<HttpServer, ServeError | ConfigError, Dispatcher> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))

const listen = (server: Server, port: number, host: string): Effect.Effect<AddressInfo, ServeError> =>
  Effect.async((resume) => {
    const failed = (cause: NodeJS.ErrnoException) => resume(Effect.fail(cannotListen(cause, host, port)))
    server.once("error", failed)
    server.listen(port, host, () => {
      server.off("error", failed)
      // `address()` is a string only for a server on a pipe, and `null` only before the server listens.
      resume(Effect.succeed(server.address() as AddressInfo))
    })
  })

const cannotListen = (cause: NodeJS.ErrnoException, host: string, port: number): ServeError => {
  const why = cause.code === "EADDRINUSE"
    ? "another program uses the port; choose another port, or 0 for any free port"
    : cause.code === "EACCES"
    ? "the process is not permitted to; choose a port above 1023"
    : cause.message
  return new ServeError({ code: cause.code, message: `Cannot listen on ${host}:${port}: ${why}`, cause })
}
