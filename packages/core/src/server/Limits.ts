/**
 * The limits of a server. A limit says how much one client, or all clients together, can make the server store, do or wait for.
 * `McpServer.layer`, the HTTP endpoint and `TasksServer.layerWith` each have an option `limits`. Each limit has a default.
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
   * How many requests of one client may wait to be served. The server answers further requests with an error. The code of the error is
   * -32000, or -32603 with revision 2026-07-28 or later. Default: 1,024.
   */
  readonly maxWaiting?: number | undefined
  /**
   * How many characters the waiting requests of one client may have together. The server answers further requests with the error of
   * `maxWaiting`. Default: 16 Mi (16,777,216).
   */
  readonly maxWaitingText?: number | undefined
  /**
   * How many requests without a session the server serves at the same time, for all clients together. Further requests wait. Clients
   * without a principal (an authenticated user) have only this limit, and not the limit `maxInFlight`. For `maxWaiting` and
   * `maxWaitingText`, all clients without a principal count as one client. Default: 4,096.
   */
  readonly maxExchanges?: number | undefined
  /**
   * How long a request of the server to a client (sampling, roots, `ping`) waits for its response. A timeout of the request itself replaces
   * this limit. Questions to a person have the limit `elicitationTimeout`. Default: 60 seconds.
   */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /**
   * How long a question to a person (`elicit`, also in `ask`) waits for its answer. A timeout of the question itself replaces this limit.
   * The question also ends when the session ends. With revision 2026-07-28 or later, the client must send its request again, with the
   * answers, within this time. Default: 10 minutes.
   */
  readonly elicitationTimeout?: Duration.DurationInput | undefined
  /**
   * How many times the server may answer one request with questions of the handler, with revision 2026-07-28 or later. After each of these
   * answers, the client sends the request again, together with its answers to the questions. Default: 10.
   */
  readonly maxRounds?: number | undefined
  /**
   * How many entries a page of a list has. The JSON of a page has at most 2,097,152 characters, so that clients can read the page. When a
   * single entry is longer, the server omits the entry from the list, and logs this. Default: 1,000.
   */
  readonly pageSize?: number | undefined
  /**
   * How many subscriptions to resources one client may have. With revision 2026-07-28 or later, this limit is for each
   * `subscriptions/listen`. It counts the resources that the request names, and the keys that the request names for notifications of
   * extensions. Default: 1,024.
   */
  readonly maxSubscribedResources?: number | undefined
  /**
   * How many `subscriptions/listen` of all clients together may be open, with revision 2026-07-28 or later. The server refuses a further
   * request. Default: 10,000.
   */
  readonly maxListens?: number | undefined
  /**
   * How many `subscriptions/listen` one client may have open at the same time. One client is one pipe (for example stdio), or one principal
   * over HTTP. For HTTP clients without a principal, only `maxListens` applies. Default: 64.
   */
  readonly maxListensPerClient?: number | undefined
  /**
   * How long the server keeps the session layer of a user while no request uses the layer. Only servers with the option `lifetime: "user"`
   * use this limit. Default: 30 minutes.
   */
  readonly userSessionIdleTimeout?: Duration.DurationInput | undefined
}

/**
 * The limits of an HTTP endpoint, for the option `limits` of `HttpOptions`.
 *
 * @category models
 */
export interface HttpLimits {
  /** How many bytes the body of a request may have. The server answers a larger body with status 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * How long a client may take to send a body. After this time, the server answers with status 408 and closes the connection. The server
   * looks for such bodies at intervals of this length. So a client may in fact get up to twice this time. Default: 1 minute.
   */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /**
   * How many bytes of incomplete bodies the server stores for all clients together. A body is incomplete while its client still sends the
   * body. Beyond this limit, the server answers one of these requests with status 503 and closes the connection. The server first chooses
   * the oldest request that has no known user and no known session. When every request has a known user or session, the server finds the
   * user or session with the most bytes, and chooses the oldest of its requests.
   *
   * This option also limits complete bodies. The server parses complete bodies of more than 16 Ki characters one after another, and serves
   * other clients between two of them. The bodies that wait for this may together have as many characters as this option says. The waiting
   * bodies of one user may have half as many. The server answers a further body with status 503. Default: 128 MiB.
   */
  readonly maxIncompleteBytes?: number | undefined
  /** How deep the JSON of a message may nest. The server answers a message that nests deeper with status 400. Default: 64 levels. */
  readonly maxDepth?: number | undefined
  /**
   * How many values a request or a notification may hold, nested values included. The server answers a message with more values with status
   * 400. Default: 100,000.
   */
  readonly maxNodes?: number | undefined
  /**
   * How many values a response of a client to a request of the server may hold, with revision 2025-11-25 or earlier. Default: 1,000,000.
   */
  readonly maxResponseNodes?: number | undefined
  /**
   * How many events a stream buffers for a client that reads slowly. When the buffer is full, the server suspends handlers that send more.
   * Default: 256.
   */
  readonly capacity?: number | undefined
  /**
   * How many characters a stream buffers for a client that reads slowly. When the buffer is full, the server suspends handlers that send
   * more. The server adds a response even when the buffer is full. Default: 16 Mi (16,777,216).
   */
  readonly maxQueued?: number | undefined
  /**
   * How many characters of all answers together may wait in the endpoint for clients to read them. Beyond this limit the endpoint closes
   * the connection whose client has read nothing for the longest time. Default: 256 Mi (268,435,456).
   */
  readonly maxUnsent?: number | undefined
  /**
   * How long a client may read nothing of an answer (an event stream or JSON) before the endpoint closes the connection. Default: 30
   * seconds.
   */
  readonly stallTimeout?: Duration.DurationInput | undefined
  /**
   * How many sessions the endpoint may have. At the limit, a new session replaces an idle session. The endpoint looks first for a session
   * without a principal, then for a session of the new session's principal, then for a session of the principal with the most sessions.
   * Among several possible sessions, the endpoint first replaces a session that was never used, and then the session that was idle longest.
   * A new session without a principal replaces only a session without a principal. The endpoint never replaces a session with a stream or a
   * running request. If the endpoint can replace no session, it answers `initialize` with status 503.
   *
   * A session whose client has sent nothing after `initialize` ends after 30 seconds. Such unused sessions have a separate limit: a tenth
   * of `maxSessions`, but at least 16. At this limit, a new session replaces another unused session. If the endpoint can replace no
   * session, it answers `initialize` with status 503.
   *
   * The endpoint counts the streams of HTTP+SSE separately. `maxSessions` and `maxSessionsPerPrincipal` are also the limits of these
   * streams. At the limit, the new stream of a client with a principal replaces the stream of a client without a principal. The endpoint
   * replaces no other streams. Default: 10,000.
   */
  readonly maxSessions?: number | undefined
  /**
   * How many sessions one principal may have. A further session replaces an idle session of the same principal. If there is no idle
   * session, the endpoint answers `initialize` with status 503. For clients without a principal, only `maxSessions` applies. Default: a
   * tenth of `maxSessions`.
   */
  readonly maxSessionsPerPrincipal?: number | undefined
  /**
   * How long a session may be idle. A session is idle while its client sends nothing, reads no stream and waits for no response. After this
   * time, the server ends the session, and interrupts requests that still run. The server does not notice immediately that a client has
   * stopped to read a stream or to wait for a response. After that, the session may be idle for up to twice this time. Default: 30 minutes.
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
   * How many tasks of one principal may run at the same time. The server refuses further calls of tools as tasks. All clients without a
   * principal count as one principal. With revision 2025-11-25, this number also limits how many `tasks/result` requests of one client may
   * wait at the same time. Default: 64.
   */
  readonly maxRunning?: number | undefined
  /**
   * The longest time for which a client can ask the server to store a task. When the storage time of a task has passed and the task still
   * runs, the server interrupts the task. Default: 1 day.
   */
  readonly maxTtl?: Duration.DurationInput | undefined
}
