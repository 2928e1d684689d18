/**
 * The options of an HTTP endpoint and their defaults, for `HttpEndpoint` and `WebHandler`, and for `HttpServer` and
 * `NodeHandler` of `@effect-mcp/node`. Address and port belong to the server that the endpoint runs in.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

/**
 * The server itself decides which clients it serves: see `authenticator` of `McpServer.layer`.
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
  /** The one path of the endpoint. Default: "/mcp" for a server of its own, any path where it is mounted. */
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
   * A client that accepts one of JSON and event streams only gets the form that it accepts.
   *
   * Default: "auto".
   */
  readonly responses?: "auto" | "json" | "stream" | undefined
  /** The largest body, in bytes; a larger one is answered with 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How deep the JSON of a message may nest; a deeper one is answered with 400. Default: 64 levels. */
  readonly maxDepth?: number | undefined
  /** How many values a request or a notification may hold, nested ones included, before it gets a 400. Default: 100,000. */
  readonly maxNodes?: number | undefined
  /** How many events a stream buffers for a slow reader; handlers that send more are suspended. Default: 256. */
  readonly capacity?: number | undefined
  /**
   * How many characters a stream buffers for a slow reader; handlers that send more are suspended. A response is added
   * also when there is no space. Default: 16 Mi (16,777,216).
   */
  readonly maxQueued?: number | undefined
  /**
   * How many characters all answers of the endpoint together may hold that clients have not taken. Then the connection is
   * closed whose reader took nothing for the longest time. Default: 256 Mi (268,435,456).
   */
  readonly maxUnsent?: number | undefined
  /** How long a stream may be silent before the server sends a comment; `Infinity` for never. Default: 15 seconds. */
  readonly keepAlive?: Duration.DurationInput | undefined
  /**
   * How long a client may take nothing of an answer, an event stream or JSON, before its connection is closed.
   * Default: 30 seconds.
   */
  readonly stallTimeout?: Duration.DurationInput | undefined
  /**
   * How long closing the endpoint waits for sessions to end, and a server of its own or a web handler for clients to read
   * their responses. Then it goes on without them, and logs a warning about sessions. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * How long requests that run may go on when the endpoint closes, before they are interrupted. Meanwhile the endpoint refuses
   * new requests with 503; where several nodes serve the endpoint, streams end so that clients open them at another node, and
   * each session goes on at another node as soon as none of its requests runs. This time comes before `closeTimeout`.
   * Default: 5 seconds where there is a `SessionDirectory`, none otherwise.
   */
  readonly drainTimeout?: Duration.DurationInput | undefined
  /** What concerns only clients of the revisions up to 2025-11-25. All other options are for clients of every revision. */
  readonly legacy?: LegacyOptions | undefined
}

/**
 * How the health of the process is answered: at "/livez", where a supervisor asks whether to restart it, and at "/readyz", where a load
 * balancer asks whether to send requests. It lives while its event loop turns, whatever its stores do. It is ready until its
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
   * Whether the endpoint keeps sessions, and how many. Without sessions it remembers nothing between two requests, and
   * requests of a handler to the client fail. A handler runs on for 30 seconds after its client has disconnected. Default: true.
   */
  readonly sessions?: boolean | SessionOptions | undefined
  /**
   * The path of HTTP+SSE, the transport of 2024-11-05: "/sse", for example. Default: the transport is not served.
   *
   * @deprecated since 2025-03-26; a revision may be without it three months after SEP-2596 is final.
   */
  readonly ssePath?: string | undefined
  /** How long clients wait before they reconnect to a stream that can be resumed. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
  /** How many values a response to a request of the server may hold. Default: 1,000,000. */
  readonly maxResponseNodes?: number | undefined
}

/**
 * How many sessions an endpoint keeps, and how long.
 *
 * @category models
 */
export interface SessionOptions {
  /**
   * How many sessions there may be. At the limit, a new session replaces an idle session: of a client without a principal, else
   * of the same principal, else of the principal with the most sessions. Of several, sessions that were never used go first, and then
   * the session that was idle longest. The session of a client without a principal replaces no session of a principal. A session with
   * a stream or a running request is never replaced. If no session can be replaced, `initialize` is answered with 503.
   * Sessions whose client has sent nothing after `initialize` end after 30 seconds, and are counted apart: there may be a tenth of `max`, at least 16. They
   * replace one another only, and when none of them can be replaced, `initialize` is answered with 503.
   * The streams of HTTP+SSE are counted by themselves, with the same limits: the stream of a principal replaces a stream without a
   * principal, and no other stream is replaced. Default: 10,000.
   */
  readonly max?: number | undefined
  /**
   * How many sessions one principal may have. One more replaces an idle session of that principal, or is answered with 503.
   * Sessions of unauthenticated clients are limited by `max` only. Default: a tenth of `max`.
   */
  readonly maxPerPrincipal?: number | undefined
  /**
   * How long the client of a session may send nothing, read no stream and wait for no response. Then the session ends, and
   * requests that still run are interrupted; at the latest after twice this time. Default: 30 minutes.
   */
  readonly idleTimeout?: Duration.DurationInput | undefined
  /**
   * What the ids of sessions begin with, for a load balancer that finds by it the node that has opened a session: at most 64
   * letters, digits and `.`, `_`, `~`, `-`. With another one the endpoint does not start. Every client can read it.
   * Default: nothing.
   */
  readonly idPrefix?: string | undefined
}
