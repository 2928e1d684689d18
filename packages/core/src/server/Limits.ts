/**
 * The limits of a server: what one client, or all clients together, can make the server hold, do, or wait for. `McpServer.layer`, the HTTP
 * endpoint and `TasksServer.layerWith` each have an option `limits`. A limit that is not given has its default.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"

/**
 * The limits of a server over every transport, for the option `limits` of `McpServer.layer`.
 *
 * @category models
 */
export interface ServerLimits {
  /** How many requests of one client the server serves at the same time. Further requests wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /**
   * How many requests of one client may wait to be served. The server answers further requests with an error. Its code is -32000, or -32603
   * with revision 2026-07-28 or later. Default: 1,024.
   */
  readonly maxWaiting?: number | undefined
  /**
   * How many characters the waiting requests of one client may have together. The server answers further requests with the error of
   * `maxWaiting`. Default: 16 Mi (16,777,216).
   */
  readonly maxWaitingText?: number | undefined
  /**
   * How many requests without a session the server serves at the same time, of all clients together. Further requests wait. All clients
   * without a principal count as one client: for them this limit replaces `maxInFlight`, and they share `maxWaiting` and `maxWaitingText`.
   * Default: 4,096.
   */
  readonly maxExchanges?: number | undefined
  /**
   * How long a request of the server to a client waits for its response, unless the request has a timeout of its own: sampling, roots and
   * `ping`. For questions to a person there is `elicitationTimeout`. Default: 60 seconds.
   */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /**
   * How long a question to a person (`elicit`, also in `ask`) waits for its answer, unless the question has a timeout of its own. The
   * question also ends when the session ends. With revision 2026-07-28 or later, a client sends its request again with the answers: this is
   * the time that the client has for that. Default: 10 minutes.
   */
  readonly elicitationTimeout?: Duration.DurationInput | undefined
  /**
   * How often the handler of one request may end the request with questions, with revision 2026-07-28 or later. After each such round the
   * client sends the request again with its answers. Default: 10.
   */
  readonly maxRounds?: number | undefined
  /**
   * How many entries a page of a list has. A page also ends before its JSON has more than 2,097,152 characters, so that clients can read
   * the page. An entry that is longer than that by itself is left out of the list, and logged. Default: 1,000.
   */
  readonly pageSize?: number | undefined
  /**
   * How many resources one client may subscribe to. With revision 2026-07-28 or later: how many resources and keys of extensions one
   * `subscriptions/listen` may name. Default: 1,024.
   */
  readonly maxSubscribedResources?: number | undefined
  /**
   * How many `subscriptions/listen` of all clients together may be open, with revision 2026-07-28 or later. A further request is refused.
   * Default: 10,000.
   */
  readonly maxListens?: number | undefined
  /**
   * How many `subscriptions/listen` one client may have open at the same time. One client is one pipe, or one principal over HTTP. HTTP
   * clients without a principal are limited by `maxListens` alone. Default: 64.
   */
  readonly maxListensPerClient?: number | undefined
  /**
   * How long the session layer of a user is kept while no request uses it. This limit is for servers with the option `lifetime: "user"`.
   * Default: 30 minutes.
   */
  readonly userSessionIdleTimeout?: Duration.DurationInput | undefined
}

/**
 * The limits of an HTTP endpoint, for the option `limits` of `HttpOptions`.
 *
 * @category models
 */
export interface HttpLimits {
  /** How many bytes the body of a request may have. A larger body is answered with status 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * How long a client may take to send a body. At the earliest after this time, and at the latest after twice this time, the client gets
   * status 408, and its connection is closed. Default: 1 minute.
   */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /**
   * How many bytes all incomplete bodies may take together. Beyond this limit the server answers one incomplete body with status 503 and
   * closes its connection. It chooses the oldest body that names neither a user nor a session of this server. If there is none, it chooses
   * the oldest body of the user or session that holds the most bytes. Complete bodies of more than 16 Ki characters are read as messages
   * one after another, so that the server serves other clients between them. This limit also says how many characters of complete bodies
   * may wait to be read; one user may have half of them. A further body is answered with status 503. Default: 128 MiB.
   */
  readonly maxIncompleteBytes?: number | undefined
  /** How deep the JSON of a message may nest. A message that nests deeper is answered with status 400. Default: 64 levels. */
  readonly maxDepth?: number | undefined
  /**
   * How many values a request or a notification may hold, nested values included. A message with more values is answered with status 400.
   * Default: 100,000.
   */
  readonly maxNodes?: number | undefined
  /**
   * How many values a response of a client to a request of the server may hold, with revision 2025-11-25 or earlier. Default: 1,000,000.
   */
  readonly maxResponseNodes?: number | undefined
  /** How many events a stream buffers for a slow reader. When the buffer is full, handlers that send more are suspended. Default: 256. */
  readonly capacity?: number | undefined
  /**
   * How many characters a stream buffers for a slow reader. When the buffer is full, handlers that send more are suspended. A response is
   * added even when the buffer is full. Default: 16 Mi (16,777,216).
   */
  readonly maxQueued?: number | undefined
  /**
   * How many characters all answers of the endpoint together may hold that clients have not taken yet. Beyond this limit the endpoint
   * closes the connection whose reader took nothing for the longest time. Default: 256 Mi (268,435,456).
   */
  readonly maxUnsent?: number | undefined
  /**
   * How long a client may take nothing of an answer (an event stream or JSON) before its connection is closed. Default: 30 seconds.
   */
  readonly stallTimeout?: Duration.DurationInput | undefined
  /**
   * How many sessions there may be. At the limit, a new session replaces an idle session. The endpoint looks in this order: for a session
   * without a principal, then for a session of the same principal, then for a session of the principal with the most sessions. Among
   * several such sessions, it first replaces a session that was never used, and then the session that was idle longest. The session of a
   * client without a principal replaces only a session without a principal. A session with a stream or a running request is never replaced.
   * If no session can be replaced, `initialize` is answered with status 503.
   *
   * A session whose client has sent nothing after `initialize` ends after 30 seconds. Such sessions are counted apart: there may be a tenth
   * of `maxSessions`, and at least 16. They replace only one another. When none of them can be replaced, `initialize` is answered with
   * status 503.
   *
   * The streams of HTTP+SSE are counted apart, too, with the same limits. The stream of a client with a principal replaces the stream of a
   * client without a principal; no other stream is replaced. Default: 10,000.
   */
  readonly maxSessions?: number | undefined
  /**
   * How many sessions one principal may have. A further session replaces an idle session of the same principal. If there is none, it is
   * answered with status 503. Sessions of clients without a principal are limited by `maxSessions` only. Default: a tenth of `maxSessions`.
   */
  readonly maxSessionsPerPrincipal?: number | undefined
  /**
   * How long the client of a session may send nothing, read no stream and wait for no response. At the earliest after this time, and at the
   * latest after twice this time, the session ends, and requests that still run are interrupted. Default: 30 minutes.
   */
  readonly sessionIdleTimeout?: Duration.DurationInput | undefined
}

/**
 * The limits of tasks, for the option `limits` of `TasksServer.layerWith`. The `TaskStore` limits how much it stores.
 *
 * @category models
 */
export interface TaskLimits {
  /**
   * How many tasks of one principal run at the same time. Further calls are refused. All clients without a principal count as one
   * principal. Default: 64.
   */
  readonly maxRunning?: number | undefined
  /**
   * The longest time for which a client can have a task stored. When this time has passed, a task that still runs is interrupted. Default:
   * 1 day.
   */
  readonly maxTtl?: Duration.DurationInput | undefined
}
