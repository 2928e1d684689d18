/**
 * The HTTP endpoint of a server as a function from a web `Request` to a web `Response`: for Deno, Bun, Workers, Hono, Next and whatever
 * else serves such functions. The function uses the Fetch API only; `http/WebExchange` translates requests and answers. An application of
 * `@effect/platform` uses `HttpEndpoint`; on Node, `HttpServer` of `@effect-mcp/node` serves the same endpoint faster.
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
 * `@effect-mcp/node`. Address and port belong to the server that the endpoint runs in. The server itself decides which clients it serves: see `authenticator` of `McpServer.layer`.
 *
 * @category models
 */
export interface HttpOptions {
  /**
   * Values of the Host header that are allowed: "mcp.example.com", "localhost:3000", "localhost:*" for any port or none,
   * "*" for any host. Default: any host for a server that listens on an address that is not loopback; the names of the
   * loopback interface, with any port, for other servers, and where the address is not known, as in a web handler.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * Values of the Origin header that are allowed: "https://app.example.com", "http://localhost:*", "*" for any origin. A
   * request without the header is allowed, because a browser sends the header with every request of a page from another
   * origin. Default: the origins of the loopback interface, with any port; none for `HttpServer` of `@effect-mcp/node` on
   * an address that is not loopback.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** The path of the endpoint. Default: "/mcp" for a server of its own, any path where the endpoint is mounted. */
  readonly path?: string | undefined
  /**
   * JSON documents beside the endpoint, by their paths, for everyone to read: they are served before a client is
   * authenticated. `/.well-known/oauth-protected-resource/mcp` for example, which the challenge of a 401 names. A router that
   * the endpoint is mounted in must pass these paths to it. Default: none.
   */
  readonly documents?: Readonly<Record<string, JsonObject>> | undefined
  /**
   * Whether supervisors and load balancers can ask for the health of the process: GET and HEAD at "/livez" and "/readyz", with
   * status 200 or 503, for every host and without authentication. A router that the endpoint is mounted in must pass these
   * paths to it. See `HealthOptions`. Default: false.
   */
  readonly health?: boolean | HealthOptions | undefined
  /**
   * How requests are answered.
   *
   * - "auto": with JSON. With an event stream if the handler sends a notification or a request before its result, if the
   *   result takes longer than `keepAlive`, or if the result is not ready at once and the client can resume the stream
   *   (there is an `EventStore`, and the revision is 2025-11-25 or later).
   * - "json": always with JSON. Notifications of a handler are dropped, and its requests to the client fail.
   * - "stream": always with an event stream.
   *
   * A client that accepts only JSON or only event streams gets the form that it accepts.
   *
   * Default: "auto".
   */
  readonly responses?: "auto" | "json" | "stream" | undefined
  /** Receives every message that the endpoint reads or sends, without secrets: `Tap.log`, for example. Default: none. */
  readonly tap?: Tap | undefined
  /** What clients can make the endpoint hold. A limit that is not given has its default. */
  readonly limits?: HttpLimits | undefined
  /** How long a stream may be silent before the server sends a comment; `Infinity` for never. Default: 15 seconds. */
  readonly keepAlive?: Duration.DurationInput | undefined
  /**
   * How long closing the endpoint waits for sessions to end, and a server of its own or a web handler for clients to read
   * their responses. Then it goes on without them, and logs a warning about sessions. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * How long running requests may go on when the endpoint closes, before they are interrupted. Meanwhile the endpoint refuses new requests
   * with 503. Where several nodes serve the endpoint, streams end so that clients open them at another node, and each session goes on at
   * another node as soon as none of its requests runs. This time comes before `closeTimeout`. Default: 5 seconds where there is a
   * `SessionDirectory`, none otherwise.
   */
  readonly drainTimeout?: Duration.DurationInput | undefined
  /** What concerns only clients of the revisions up to 2025-11-25. All other options are for clients of every revision. */
  readonly legacy?: LegacyOptions | undefined
}

/**
 * How the health of the process is answered: at "/livez", where a supervisor asks whether to restart it, and at "/readyz", where a load
 * balancer asks whether to send requests. The process lives while its event loop turns, whatever its stores do. It is ready until its
 * shutdown begins, while it is a member of the nodes that it serves with, and while the checks of `Readiness` pass.
 *
 * @category models
 */
export interface HealthOptions {
  /** How late the event loop may be. Default: 1 second. */
  readonly maxLag?: Duration.DurationInput | undefined
  /** How long a check of `Readiness` may take. Default: 1 second. */
  readonly timeout?: Duration.DurationInput | undefined
  /** How long the result of the checks is used again, so that many probes do not load a store. Default: 1 second. */
  readonly maxAge?: Duration.DurationInput | undefined
  /**
   * How long the process serves as before after its shutdown has begun, while it is not ready: longer than the interval of the
   * load balancer, which then sends requests elsewhere before this process refuses them. `closeTimeout` begins after it. An
   * application that serves an app of `HttpEndpoint.make` needs `HttpEndpoint.drainFirst` for it. Default: 0.
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
   * The service that the application hands over with each request, to which it must provide it: the user that the
   * authenticator of the server takes as it is. Default: the application hands over nothing, and the authenticator finds
   * the user of each request.
   */
  readonly user?: Context.Tag<User, any> | undefined
}

/**
 * The options for clients of the revisions up to 2025-11-25, which have sessions, requests from the server to the client, and
 * streams that a client resumes. The revisions from 2026-07-28 on have none of these.
 *
 * @category models
 */
export interface LegacyOptions {
  /**
   * Whether the endpoint keeps sessions. Without sessions it remembers nothing between two requests, and requests of a handler to the
   * client fail. A handler runs on for 30 seconds after its client has disconnected. Default: true.
   */
  readonly sessions?: boolean | undefined
  /**
   * What the ids of sessions begin with, so that a load balancer can find the node that has opened a session: at most 64 letters, digits
   * and `.`, `_`, `~`, `-`. With another prefix the endpoint does not start. Every client can read it. Default: nothing.
   */
  readonly sessionIdPrefix?: string | undefined
  /**
   * The path of HTTP+SSE, the transport of 2024-11-05: "/sse", for example. Default: the transport is not served.
   *
   * @deprecated since 2025-03-26; a revision may be without it three months after SEP-2596 is final.
   */
  readonly ssePath?: string | undefined
  /** How long clients wait before they reconnect to a stream that can be resumed. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
}

/**
 * Answers a request. A client has disconnected when `request.signal` is aborted or the body of the response is canceled; from
 * 2026-07-28 on, that interrupts the request. Then the response has status 499, and no client receives it.
 *
 * `context` has services for this request alone: the user that a framework has authenticated (see the option `user`), or the
 * bindings of a platform. The authenticator, middleware and handlers read other services than the user with
 * `Effect.serviceOption`, because the compiler does not know them.
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
 * A handler that serves until the scope closes. It serves any path, unless `path` names one. Only loopback hosts and origins are allowed
 * unless `allowedHosts` and `allowedOrigins` are given; the host comes from the Host header, or from the URL when there is no Host header.
 *
 * Closing ends streams, interrupts handlers and answers their requests, answers new requests with 503, and waits until the platform has
 * taken all responses. After `closeTimeout` it cuts off the responses that are left.
 *
 * The platform receives answers of up to 64 Ki characters whole. An HTTP server below that accepts pipelined requests must
 * itself cut clients that do not read them.
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
 * `make` as a layer. Provide an `EventStore` to let clients resume streams.
 * A program with two servers needs a
 * layer for each: every `layerWith()` is another layer.
 *
 * @category layers
 */
export const layer: Layer.Layer<WebHandler, never, Dispatcher> = layerWith()

/**
 * A handler of a server. The first request builds the server, because some platforms allow no work before the first request.
 * When the layer fails, the cause is logged, the handler rejects, and the next request builds the server again. `ready`
 * builds the server before the first request and rejects when the layer fails. `dispose` closes the handler, as closing the
 * scope of `make` does, and releases the server. With an `EventStore` in the layer, clients can resume streams.
 *
 * Sessions are in the memory of one process. A platform that spreads requests over several processes, or that ends a process
 * after a request, needs `legacy: { sessions: false }`. Requests from 2026-07-28 on belong to no session.
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
