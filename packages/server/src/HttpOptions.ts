/**
 * The options of an HTTP endpoint and their defaults, for `HttpEndpoint`, for `WebHandler` and for `HttpServer` of
 * `@effect-mcp/node`. Address and port belong to the server that the endpoint runs in.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { HttpRefusal } from "./HttpRefusal.js"
import type { Principal } from "./Principal.js"

/** `R` is what `authenticate` requires. */
export interface HttpOptions<R = never> {
  /**
   * Values of the Host header that are allowed: "mcp.example.com", "localhost:3000", "localhost:*" for any port or none,
   * "*" for any host. Default: the names of the loopback interface, with any port.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * Values of the Origin header that are allowed: "https://app.example.com", "http://localhost:*", "*" for any origin. A
   * request without the header is allowed, because a browser sends the header with every request of a page from another
   * origin. Default: the origins of the loopback interface, with any port.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** The one path of the endpoint. Default: "/mcp" for a server of its own, any path where it is mounted. */
  readonly path?: string | undefined
  /**
   * How requests are answered.
   *
   * - "auto": with JSON. With an event stream if the handler sends a notification or a request before its result, if the
   *   result takes longer than `keepAlive`, or if the result is not ready at once and the client can resume the stream
   *   (there is an `EventStore`, and the revision is 2025-11-25 or later).
   * - "json": always with JSON. Notifications of a handler are dropped, and its requests to the client fail.
   * - "stream": always with an event stream.
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
   * Finds the principal of a request before its body is read, or fails with the refusal that the client gets. A session
   * can be used by the principal that opened it only. Default: requests have no principal.
   */
  readonly authenticate?: ((request: RequestHead) => Effect.Effect<Principal | undefined, HttpRefusal, R>) | undefined
  /** What concerns only clients of the revisions up to 2025-11-25. All other options are for clients of every revision. */
  readonly legacy?: LegacyOptions | undefined
}

/**
 * The options for clients of the revisions up to 2025-11-25, which have sessions, requests from the server to the client, and
 * streams that a client resumes. The revisions from 2026-07-28 on have none of these.
 */
export interface LegacyOptions {
  /**
   * Whether the endpoint keeps sessions, and how many. Without sessions it remembers nothing between two requests, and
   * requests of a handler to the client fail. Default: true.
   */
  readonly sessions?: boolean | SessionOptions | undefined
  /** The path of HTTP+SSE, the transport of 2024-11-05: "/sse", for example. Default: the transport is not served. */
  readonly ssePath?: string | undefined
  /** How long clients wait before they reconnect to a stream that can be resumed. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
  /** Without sessions, how long a handler runs on after its client has disconnected. Default: 30 seconds. */
  readonly abandonAfter?: Duration.DurationInput | undefined
  /** How many values a response to a request of the server may hold. Default: 1,000,000. */
  readonly maxResponseNodes?: number | undefined
}

/** How many sessions an endpoint keeps, and how long. */
export interface SessionOptions {
  /**
   * How many sessions there may be. One more replaces the session that was idle longest, one of the same principal before
   * all others; a session with a stream or a running request is never replaced. If none is idle, `initialize` is answered
   * with 503. Sessions whose client has sent nothing after `initialize` are counted apart: there may be a tenth of `max`,
   * at least 16, they replace one another only, and when there are too many `initialize` is answered with 503.
   * Default: 10,000.
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
  /** How long a client may send nothing after `initialize`, before its session ends. Default: 30 seconds. */
  readonly handshakeTimeout?: Duration.DurationInput | undefined
}

/** An HTTP request without its body. */
export interface RequestHead {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}
