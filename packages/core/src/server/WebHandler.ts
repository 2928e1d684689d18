/**
 * The HTTP endpoint of a server as a function from a web `Request` to a web `Response`: for Deno, Bun, Workers, Hono, Next and everything
 * else that serves such functions. The function uses only the Fetch API; `http/WebExchange` translates requests and answers. An application
 * of `@effect/platform` uses `HttpEndpoint`. On Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster.
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
 * The options of an HTTP endpoint, in each of its forms: `WebHandler`, `HttpEndpoint`, and `HttpServer` and `NodeHandler` of
 * `@effect-mcp/node`. Address and port belong to the HTTP server that the endpoint runs in. Which clients are served is an option of the
 * MCP server: see `authenticator` of `McpServer.layer`.
 *
 * @category models
 */
export interface HttpOptions {
  /**
   * The values of the Host header that are allowed: "mcp.example.com", "localhost:3000", "localhost:*" for any port or none, "*" for any
   * host. Default: any host for a server that listens on an address that is not loopback. For other servers, and where the address is not
   * known, as in a web handler, the default is the names of the loopback interface, with any port.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * The values of the Origin header that are allowed: "https://app.example.com", "http://localhost:*", "*" for any origin. A request
   * without the header is allowed, because a browser sends the header with every request of a page from another origin. Default: the
   * origins of the loopback interface, with any port; no origin for `HttpServer` of `@effect-mcp/node` on an address that is not loopback.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /**
   * The path of the endpoint. Default: "/mcp" for an HTTP server that serves only the endpoint; any path where the endpoint is mounted in
   * an application.
   */
  readonly path?: string | undefined
  /**
   * JSON documents that the endpoint serves beside its own path, by their paths. Everyone can read them, because the endpoint serves them
   * before it authenticates a client. An example is `/.well-known/oauth-protected-resource/mcp`, which the challenge of a 401 names. A
   * router that the endpoint is mounted in must pass requests of these paths to the endpoint. Default: none.
   */
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  /**
   * Whether supervisors and load balancers can ask for the health of the process: with GET and HEAD at "/livez" and "/readyz". The endpoint
   * answers with status 200 or 503, for every host and without authentication. A router that the endpoint is mounted in must pass requests
   * of these paths to the endpoint. See `HealthOptions`. Default: `false`.
   */
  readonly health?: boolean | HealthOptions | undefined
  /**
   * In which form the endpoint answers requests.
   *
   * - "auto": with JSON. With an event stream if the handler sends a notification or a request before its result, or if the result takes
   *   longer than `keepAlive`. Also with an event stream if the result is not ready at once and the client can resume the stream (there is
   *   an `EventStore`, and the revision is 2025-11-25).
   * - "json": always with JSON. Notifications of a handler are dropped, and its requests to the client fail.
   * - "stream": always with an event stream.
   *
   * A client that accepts only JSON or only event streams gets the form that it accepts.
   *
   * Default: "auto".
   */
  readonly responses?: "auto" | "json" | "stream" | undefined
  /** Receives every message that the endpoint reads or sends, without secrets. An example is `Tap.log`. Default: none. */
  readonly tap?: Tap | undefined
  /** Limits what clients can make the endpoint hold. A limit that is not given has its default. */
  readonly limits?: HttpLimits | undefined
  /**
   * How long a stream may be silent before the endpoint sends a comment on it. `Infinity`: the endpoint sends no comments. Default: 15
   * seconds.
   */
  readonly keepAlive?: Duration.DurationInput | undefined
  /**
   * How long closing the endpoint waits for sessions to end. A web handler, and an HTTP server that serves only the endpoint, also wait for
   * clients to read their responses. After this time the closing goes on without them, and logs a warning about sessions. Default: 5
   * seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * How long running requests may go on when the endpoint closes, before they are interrupted. During this time the endpoint refuses new
   * requests with status 503. Where several nodes serve the endpoint, the endpoint ends streams, so that clients open them at another node.
   * Each session moves to another node as soon as no request of the session runs. `closeTimeout` begins after this time. Default: 5 seconds
   * where there is a `SessionDirectory`, otherwise no time.
   */
  readonly drainTimeout?: Duration.DurationInput | undefined
  /** Options that concern only clients of revision 2025-11-25 or earlier. All other options concern clients of every revision. */
  readonly legacy?: LegacyOptions | undefined
}

/**
 * How the endpoint answers questions about the health of the process. At "/livez" a supervisor asks whether to restart the process, and at
 * "/readyz" a load balancer asks whether to send requests. The process is alive while its event loop turns, whatever its stores do. It is
 * ready until its shutdown begins, while it is a member of the nodes that serve the endpoint, and while the checks of `Readiness` pass.
 *
 * @category models
 */
export interface HealthOptions {
  /** How late the event loop may be for the process to count as alive. Default: 1 second. */
  readonly maxLag?: Duration.DurationInput | undefined
  /** How long a check of `Readiness` may take. A check that takes longer fails. Default: 1 second. */
  readonly timeout?: Duration.DurationInput | undefined
  /** For how long the endpoint uses the result of the checks again, so that many probes do not load a store. Default: 1 second. */
  readonly maxAge?: Duration.DurationInput | undefined
  /**
   * How long the process continues to serve after its shutdown has begun. During this time it answers at "/readyz" that it is not ready.
   * Choose a time that is longer than the interval of the load balancer's probes: the load balancer then sends requests elsewhere before
   * this process refuses them. `drainTimeout` and `closeTimeout` begin after this time. An application that serves an app of
   * `HttpEndpoint.make` needs `HttpEndpoint.drainFirst` for it. Default: 0.
   */
  readonly grace?: Duration.DurationInput | undefined
}

/**
 * The options of an endpoint in an application that has users of its own.
 *
 * @category models
 */
export interface HostedOptions<User = never> extends HttpOptions {
  /**
   * The service with which the application hands a user over with each request; the application must provide it to each request. The
   * authenticator of the server takes this user as it is. Default: the application hands over nothing, and the authenticator finds the user
   * of each request.
   */
  readonly user?: Context.Tag<User, any> | undefined
}

/**
 * The options for clients of revision 2025-11-25 or earlier. These revisions have sessions, requests from the server to the client, and
 * streams that a client resumes. Revision 2026-07-28 has none of these.
 *
 * @category models
 */
export interface LegacyOptions {
  /**
   * Whether the endpoint keeps sessions. Without sessions it remembers nothing between two requests, and requests of a handler to the
   * client fail. Without sessions, a handler also runs on for at most 30 seconds after its client has disconnected. Default: `true`.
   */
  readonly sessions?: boolean | undefined
  /**
   * The beginning of the ids of sessions, by which a load balancer can find the node that has opened a session: at most 64 letters, digits
   * and `.`, `_`, `~`, `-`. With any other prefix the endpoint does not start. Every client can read the prefix. Default: nothing.
   */
  readonly sessionIdPrefix?: string | undefined
  /**
   * The path of HTTP+SSE, the transport of revision 2024-11-05, for example "/sse". Default: the endpoint does not serve this transport.
   *
   * @deprecated since 2025-03-26; a revision may be without it three months after SEP-2596 is final.
   */
  readonly ssePath?: string | undefined
  /** How long clients wait before they reconnect to a stream that they can resume. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
}

/**
 * Answers a request. A client has disconnected when `request.signal` is aborted or when the body of the response is canceled. With revision
 * 2026-07-28 or later, this interrupts the request. Its response then has status 499, which no client receives.
 *
 * `context` has services for this request alone, for example the user that a framework has authenticated (see the option `user`), or the
 * bindings of a platform. The authenticator, middleware and handlers read services other than the user with `Effect.serviceOption`, because
 * the compiler does not know these services.
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
 * A handler that serves until the scope closes. Without the option `path` it serves any path. Only loopback hosts and origins are allowed,
 * unless `allowedHosts` and `allowedOrigins` are given. The host comes from the Host header, or from the URL when there is no Host header.
 *
 * Closing ends streams, interrupts handlers and answers their requests, and answers new requests with status 503. Then it waits until the
 * platform has taken all responses. After `closeTimeout` it cuts off the responses that are left.
 *
 * The platform receives answers of up to 64 Ki characters as a whole. An HTTP server that accepts pipelined requests must itself disconnect
 * clients that do not read such answers.
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
 * `layer` with options.
 *
 * @category layers
 */
export const layerWith = (options?: HttpOptions): Layer.Layer<WebHandler, never, Dispatcher> =>
  Layer.scoped(WebHandler, make(options))

/**
 * `make` as a layer. Provide an `EventStore` to let clients resume streams. A program with two servers needs a layer for each server: every
 * call of `layerWith()` makes another layer.
 *
 * @category layers
 */
export const layer: Layer.Layer<WebHandler, never, Dispatcher> = layerWith()

/**
 * A handler of a server. The first request builds the server, because some platforms allow no work before the first request. When the layer
 * fails, the cause is logged, the handler rejects, and the next request builds the server again. `ready` builds the server before the first
 * request, and rejects when the layer fails. `dispose` closes the handler, as closing the scope of `make` does, and releases the server.
 * With an `EventStore` in the layer, clients can resume streams.
 *
 * Sessions are in the memory of one process. A platform that spreads requests over several processes, or that ends a process after a
 * request, needs `legacy: { sessions: false }`. Requests of revision 2026-07-28 or later belong to no session.
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
