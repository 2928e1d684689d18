/**
 * The HTTP endpoint of a server as a function from a web `Request` to a web `Response`: for Deno, Bun, Workers, Hono, Next and all other
 * platforms that serve such functions. The function uses only the Fetch API. `http/WebExchange` translates requests and answers. An
 * application of `@effect/platform` uses `HttpEndpoint`. On Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Tap } from "../jsonrpc/Tap.js"
import type { JsonObject } from "../protocol/Json.js"
import * as Endpoint from "./dispatch/Endpoint.js"
import type { Dispatcher } from "./Dispatcher.js"
import * as BuiltOnce from "./http/BuiltOnce.js"
import * as OpenExchanges from "./http/OpenExchanges.js"
import * as Refusal from "./http/Refusal.js"
import { WebExchange } from "./http/WebExchange.js"
import type { HttpLimits } from "./Limits.js"

/**
 * The options of every HTTP endpoint: `WebHandler`, `HttpEndpoint`, and `HttpServer` and `NodeHandler` of `@effect-mcp/node`. Address and
 * port are options of the HTTP server around the endpoint. To authenticate clients, use the option `authenticator` of `McpServer.layer`.
 *
 * @category models
 */
export interface HttpOptions {
  /**
   * The allowed values of the Host header: "mcp.example.com", "localhost:3000", "localhost:*" for any port or none, "*" for any host.
   * Default: the names of the loopback interface, with any port; any host, if the server is known to listen on an address that is not
   * loopback (never known in a web handler).
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * The allowed values of the Origin header: "https://app.example.com", "http://localhost:*", "*" for any origin. The endpoint also allows
   * requests without this header, for example of clients that are not browsers. A browser sends the header with every POST and every other
   * request with which a page of another origin could use the server. Default: the origins of the loopback interface, with any port; no
   * origin for `HttpServer` of `@effect-mcp/node` on an address that is not loopback.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /**
   * The path of the endpoint. Default: "/mcp" for an HTTP server that serves only the endpoint; any path for an endpoint that an
   * application mounts.
   */
  readonly path?: string | undefined
  /**
   * JSON documents that the endpoint serves at other paths than its own. The keys are the paths. Everyone can read the documents, because
   * the endpoint serves them without authentication. An example is `/.well-known/oauth-protected-resource/mcp`: a response with status 401
   * refers the client to this document. When a router of the application mounts the endpoint, the router must pass requests of these paths
   * to the endpoint. Default: none.
   */
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  /**
   * Whether the endpoint answers health checks of supervisors and load balancers: GET and HEAD at "/livez" and "/readyz". The endpoint
   * answers with status 200 or 503, for every host and without authentication. When a router of the application mounts the endpoint, the
   * router must pass requests of these paths to the endpoint. `true`: with the defaults of `HealthOptions`. A value of `HealthOptions`:
   * with these options. Default: `false`.
   */
  readonly health?: boolean | HealthOptions | undefined
  /**
   * The form of the answers to requests: JSON or an event stream.
   *
   * - "auto": JSON in most cases. The answer is an event stream in three cases: the handler sends a notification or a request before its
   * result; the result takes longer than `keepAlive`; or the result is not ready immediately and the client can resume the stream (with an
   * `EventStore` and revision 2025-11-25).
   * - "json": JSON. The endpoint drops the notifications of a handler, and the handler's requests to the client fail.
   * - "stream": an event stream.
   *
   * With each of the three values, a client that accepts only one form gets this form.
   *
   * Default: "auto".
   */
  readonly responses?: "auto" | "json" | "stream" | undefined
  /** A function that gets every message that the endpoint reads or sends, without secrets. An example is `Tap.log`. Default: none. */
  readonly tap?: Tap | undefined
  /** The limits of the memory and the work that clients can cause in the endpoint. Each limit has its own default. */
  readonly limits?: HttpLimits | undefined
  /**
   * How long a stream may be silent before the endpoint sends a comment on the stream. `Infinity`: the endpoint sends no comments. Default:
   * 15 seconds.
   */
  readonly keepAlive?: Duration.DurationInput | undefined
  /**
   * How long the endpoint, when it closes, waits for sessions to end. A web handler, and an HTTP server that serves only the endpoint, also
   * wait for clients to read their responses. After this time the endpoint closes without waiting, and logs a warning if sessions have not
   * ended. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * How long running requests may go on when the endpoint closes. During this time the endpoint refuses new requests with status 503. After
   * this time the endpoint interrupts the requests that still run, and `closeTimeout` begins. Where several nodes serve the endpoint, this
   * node ends its streams at the beginning of this time, and clients open them at another node. Each session moves to another node as soon
   * as no request of the session runs. Default: 5 seconds with a `SessionDirectory`, otherwise 0 seconds.
   */
  readonly drainTimeout?: Duration.DurationInput | undefined
  /** Options for clients of revision 2025-11-25 or earlier. All other options apply to clients of every revision. */
  readonly legacy?: LegacyOptions | undefined
}

/**
 * The options of health checks. A supervisor requests "/livez" to learn whether to restart the process. A load balancer requests "/readyz"
 * to learn whether to send requests to the process. The process is alive while its event loop is not blocked. A store that fails does not
 * change this. The process is ready when three conditions hold: its shutdown has not begun, the node is a member of the server's nodes (on
 * several nodes), and the checks of `Readiness` pass.
 *
 * @category models
 */
export interface HealthOptions {
  /** The greatest delay of the event loop with which the process counts as alive. Default: 1 second. */
  readonly maxLag?: Duration.DurationInput | undefined
  /** How long a check of `Readiness` may take. A check that takes longer fails. Default: 1 second. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * For how long the endpoint reuses the result of the checks of `Readiness`. Then even frequent health checks cause only few requests to a
   * store. Default: 1 second.
   */
  readonly maxAge?: Duration.DurationInput | undefined
  /**
   * How long the process continues to serve after its shutdown has begun. During this time it answers at "/readyz" that it is not ready.
   * Choose a time that is longer than the interval of the load balancer's health checks. Then the load balancer stops sending requests
   * before this process refuses them. `drainTimeout` and `closeTimeout` begin after this time. An application that serves an app of
   * `HttpEndpoint.make` must also use `HttpEndpoint.drainFirst`. Default: 0.
   */
  readonly grace?: Duration.DurationInput | undefined
}

/**
 * The options of an endpoint in an application that authenticates its users itself.
 *
 * @category models
 */
export interface HostedOptions<User = never> extends HttpOptions {
  /**
   * The service that contains the user of a request. The application must provide this service with each request. The authenticator of the
   * server then uses this user, and does not look for another. Default: no service; the authenticator finds the user of each request.
   */
  readonly user?: Context.Tag<User, any> | undefined
}

/**
 * The options for clients of revision 2025-11-25 or earlier. These revisions have sessions, requests from the server to the client, and
 * streams that a client can resume. Revision 2026-07-28 does not have these.
 *
 * @category models
 */
export interface LegacyOptions {
  /**
   * Whether the endpoint keeps sessions. Without sessions, the endpoint stores nothing between two requests. Requests of a handler to the
   * client then fail. When a client disconnects before the response, its handler goes on, and the endpoint interrupts the handler after 30
   * seconds. Default: `true`.
   */
  readonly sessions?: boolean | undefined
  /**
   * The prefix of session ids. With the prefix, a load balancer can find the node that has opened a session. The prefix has at most 64
   * characters: letters, digits and `.`, `_`, `~`, `-`. With any other prefix the endpoint does not start. Every client can read the
   * prefix. Default: no prefix.
   */
  readonly sessionIdPrefix?: string | undefined
  /**
   * The path of HTTP+SSE, the transport of revision 2024-11-05, for example "/sse". Default: the endpoint does not serve this transport.
   *
   * @deprecated since 2025-03-26. A later revision may remove this transport three months after SEP-2596 is final.
   */
  readonly ssePath?: string | undefined
  /** How long clients wait before they reconnect to a stream that they can resume. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
}

/**
 * Answers a request. The platform reports a client that has disconnected: it aborts `request.signal`, or cancels the body of the response.
 * With revision 2026-07-28 or later, the handler then interrupts the request. The response then has status 499, which no client receives.
 *
 * `context` contains services for this request alone, for example the user that a framework has authenticated (see the option `user`), or
 * the bindings of a platform. The compiler does not check whether `context` contains services other than the user. So the authenticator,
 * middleware and handlers read these services with `Effect.serviceOption`.
 *
 * @category models
 */
export type Handler<User = never> = (
  request: Request,
  ...context: [User] extends [never] ? [context?: Context.Context<never> | undefined] : [context: Context.Context<User>]
) => Promise<Response>

/** @category models */
export interface WebHandlerService<User = never> {
  readonly handler: Handler<User>
  /** The number of open sessions. */
  readonly sessions: () => number
}

/** @category tags */
export class WebHandler extends Context.Tag("@effect-mcp/core/WebHandler")<WebHandler, WebHandlerService>() {}

/**
 * Makes a handler that serves until the scope closes. Without the option `path`, the handler serves any path. By default the handler allows
 * only loopback hosts and origins (see `allowedHosts` and `allowedOrigins`). The host comes from the Host header, or from the URL when
 * there is no Host header.
 *
 * When the scope closes, the handler ends streams, interrupts running requests and answers them, and answers new requests with status 503.
 * Then the scope waits until the platform has read all responses. After `closeTimeout` the handler cuts off the remaining responses.
 *
 * The handler gives answers of up to 64 Ki characters to the platform as a whole. An HTTP server that accepts pipelined requests must
 * itself disconnect clients that do not read such answers.
 *
 * @category constructors
 */
export const make = <User = never>(
  options: HostedOptions<User> = {}
): Effect.Effect<WebHandlerService<User>, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.make(options, true)
    const open = yield* OpenExchanges.make<WebExchange>(endpoint, options.closeTimeout)
    return {
      handler: (request, ...[services]) =>
        new Promise((settle) =>
          open.handle(new WebExchange(request, services as Context.Context<never> | undefined, settle, open.remove))
        ),
      sessions: endpoint.sessions
    }
  })

/**
 * Makes the same layer as `layer`, with options.
 *
 * @category layers
 */
export const layerWith = (options?: HttpOptions): Layer.Layer<WebHandler, never, Dispatcher> =>
  Layer.scoped(WebHandler, make(options))

/**
 * The layer of `make`. Provide an `EventStore` to allow clients to resume streams. A program with two servers needs two layers: every call
 * of `layerWith()` makes another layer.
 *
 * @category layers
 */
export const layer: Layer.Layer<WebHandler, never, Dispatcher> = layerWith()

/**
 * Makes a handler from the layer of a server. The first request builds the server, because some platforms allow no work before the first
 * request. When the layer fails, the library logs the cause, the handler rejects, and the next request builds the server again. `ready`
 * builds the server before the first request, and rejects when the layer fails. `dispose` closes the handler in the same way as the end of
 * the scope of `make`, and releases the server. With an `EventStore` in the layer, clients can resume streams.
 *
 * Sessions are in the memory of one process. Use `legacy: { sessions: false }` on a platform that spreads requests over several processes,
 * or that ends a process after a request. Requests of revision 2026-07-28 or later belong to no session.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as WebHandler from "@effect-mcp/core/WebHandler"
 * import { Layer } from "effect"
 *
 * const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, Layer.empty)
 *
 * const { handler } = WebHandler.fromLayer(Server, { allowedHosts: ["mcp.example.com"] })
 *
 * export default { fetch: (request: Request) => handler(request) }
 * ```
 * @category constructors
 */
export const fromLayer = <A, E, User = never>(
  server: Layer.Layer<A | Dispatcher, E>,
  options?: HostedOptions<User>
): {
  readonly handler: Handler<User>
  readonly ready: () => Promise<void>
  readonly dispose: () => Promise<void>
} => {
  const web = Effect.flatMap(Layer.build(server), (context) => Effect.provide(make(options), context))
  const { current, dispose, ready } = BuiltOnce.make(web as Effect.Effect<WebHandlerService<User>, E, Scope.Scope>)
  return {
    dispose,
    ready,
    handler: (request, ...context) => {
      const built = current()
      return built === undefined
        ? refused(request)
        : built instanceof Promise
        ? built.then(({ handler }) => handler(request, ...context))
        : built.handler(request, ...context)
    }
  }
}

const refused = (request: Request): Promise<Response> =>
  new Promise((settle) => Refusal.send(new WebExchange(request, undefined, settle, () => {}), Refusal.closing))
