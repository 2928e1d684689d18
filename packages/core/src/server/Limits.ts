/**
 * The limits of a server: what a client, or all clients together, can make the server hold, do, or wait for. `McpServer.layer`, the
 * HTTP endpoint and `TasksServer.layer` each have an option `limits`. A limit that is not given has its default.
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
  /** How many requests of one client are served at the same time; more wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /**
   * How many requests of one client may wait to be served; more get the error -32000, or -32603 from 2026-07-28 on.
   * Default: 1,024.
   */
  readonly maxWaiting?: number | undefined
  /** How many characters the waiting requests of one client may have; more get the same errors. Default: 16 Mi (16,777,216). */
  readonly maxWaitingText?: number | undefined
  /**
   * How many requests without a session are served at the same time, for all clients; more wait. Clients without a
   * principal share this limit, and the limits of the requests that wait. Default: 4,096.
   */
  readonly maxExchanges?: number | undefined
  /**
   * How long a request to a client waits for its response, unless the request has a timeout: sampling, roots and `ping`. A
   * question to a person has `elicitationTimeout`. Default: 60 seconds.
   */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /**
   * How long a question to a person (`elicit`, and in `ask`) waits for its answer, unless it has a timeout. The question
   * ends at once with the session. From 2026-07-28 on, how long a client has for its answers from one round of a request to the next.
   * Default: 10 minutes.
   */
  readonly elicitationTimeout?: Duration.DurationInput | undefined
  /** How many rounds a request may have in which its handler asks, from 2026-07-28 on. Default: 10. */
  readonly maxRounds?: number | undefined
  /**
   * How many entries a page of a list has. A page also ends before 2,097,152 characters, so that clients can read the page; a longer entry
   * is left out of the list and logged. Default: 1,000.
   */
  readonly pageSize?: number | undefined
  /**
   * How many resources one client may subscribe to. From 2026-07-28 on, how many resources, and keys of extensions, one
   * `subscriptions/listen` may name. Default: 1,024.
   */
  readonly maxSubscribedResources?: number | undefined
  /** How many `subscriptions/listen` of all clients may be open, from 2026-07-28 on; a further request is refused. Default: 10,000. */
  readonly maxListens?: number | undefined
  /**
   * How many `subscriptions/listen` one client may have open, on one pipe or as one principal. HTTP clients without a principal share
   * `maxListens`. Default: 64.
   */
  readonly maxListensPerClient?: number | undefined
  /** How long the session layer of a user is kept while no request uses it, with `lifetime: "user"`. Default: 30 minutes. */
  readonly userSessionIdleTimeout?: Duration.DurationInput | undefined
}

/**
 * The limits of an HTTP endpoint, for the option `limits` of `HttpOptions`.
 *
 * @category models
 */
export interface HttpLimits {
  /** The largest body, in bytes; a larger body is answered with 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * How long a client may take for a body, before it is answered with 408 and its connection is closed; at the latest after twice
   * this time. Default: 1 minute.
   */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /**
   * How many bytes all incomplete bodies may take together. Beyond that the server answers one incomplete body with 503 and closes its
   * connection: the oldest body that names neither a user nor a session of this server, or, where there is none, the oldest body of the
   * user or session that holds the most bytes. Complete bodies of more than 16 KiB are read as messages one after another, so that the
   * server serves other clients meanwhile. As many characters of complete bodies may wait, half of them from one user; a further body is
   * answered with 503. Default: 128 MiB.
   */
  readonly maxIncompleteBytes?: number | undefined
  /** How deep the JSON of a message may nest; a deeper message is answered with 400. Default: 64 levels. */
  readonly maxDepth?: number | undefined
  /**
   * How many values a request or a notification may hold, nested values included; a message with more values is answered with 400. Default:
   * 100,000.
   */
  readonly maxNodes?: number | undefined
  /** How many values a response to a request of the server may hold, up to 2025-11-25. Default: 1,000,000. */
  readonly maxResponseNodes?: number | undefined
  /** How many events a stream buffers for a slow reader; handlers that send more are suspended. Default: 256. */
  readonly capacity?: number | undefined
  /**
   * How many characters a stream buffers for a slow reader; handlers that send more are suspended. A response is added
   * also when there is no space. Default: 16 Mi (16,777,216).
   */
  readonly maxQueued?: number | undefined
  /**
   * How many characters that clients have not taken all answers of the endpoint may hold together. Beyond that, the connection is closed
   * whose reader took nothing for the longest time. Default: 256 Mi (268,435,456).
   */
  readonly maxUnsent?: number | undefined
  /**
   * How long a client may take nothing of an answer, an event stream or JSON, before its connection is closed.
   * Default: 30 seconds.
   */
  readonly stallTimeout?: Duration.DurationInput | undefined
  /**
   * How many sessions there may be. At the limit, a new session replaces an idle session: of a client without a principal, else of the same
   * principal, else of the principal with the most sessions. Among several sessions, a session that was never used goes first, and then the
   * session that was idle longest. The session of a client without a principal replaces no session of a principal. A session with a stream
   * or a running request is never replaced. If no session can be replaced, `initialize` is answered with 503. Sessions whose client has
   * sent nothing after `initialize` end after 30 seconds, and are counted apart: there may be a tenth of `maxSessions`, at least 16. They
   * replace only one another; when none of them can be replaced, `initialize` is answered with 503. The streams of HTTP+SSE are counted by
   * themselves, with the same limits: the stream of a principal replaces a stream without a principal, and no other stream is replaced.
   * Default: 10,000.
   */
  readonly maxSessions?: number | undefined
  /**
   * How many sessions one principal may have. A further session replaces an idle session of that principal, or is answered with 503.
   * Sessions of unauthenticated clients are limited by `maxSessions` only. Default: a tenth of `maxSessions`.
   */
  readonly maxSessionsPerPrincipal?: number | undefined
  /**
   * How long the client of a session may send nothing, read no stream and wait for no response. Then the session ends, and
   * requests that still run are interrupted; at the latest after twice this time. Default: 30 minutes.
   */
  readonly sessionIdleTimeout?: Duration.DurationInput | undefined
}

/**
 * The limits of tasks, for the option `limits` of `TasksServer.layer`. The `TaskStore` limits what it stores.
 *
 * @category models
 */
export interface TaskLimits {
  /**
   * How many tasks of one principal run at the same time; further calls are refused. All clients without a principal count as one.
   * Default: 64.
   */
  readonly maxRunning?: number | undefined
  /** The longest that a client can have a task stored. A task that still runs then is interrupted. Default: 1 day. */
  readonly maxTtl?: Duration.DurationInput | undefined
}
