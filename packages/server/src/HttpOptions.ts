/**
 * What can be said about an HTTP endpoint, and what holds when nothing is said.
 *
 * Where it listens is not said here: that is for the shells to ask.
 *
 * @since 0.1.0
 */
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Guard from "./http/Guard.js"
import type { Headers } from "./http/HttpExchange.js"
import type { Refusal } from "./http/Refusal.js"
import type { Principal } from "./Principal.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface HttpOptions<R = never> extends Guard.Options {
  /** The one path of the endpoint. Default: "/mcp" where it listens itself, and any path where it is mounted. */
  readonly path?: string | undefined
  /**
   * Where clients of 2024-11-05 open their stream, "/sse" for one. They send their messages to the same path. Default:
   * they are not served.
   */
  readonly ssePath?: string | undefined
  /**
   * How requests are answered.
   *
   * - "auto": with JSON, unless something is said before the answer, the answer takes longer than `keepAlive`, or it is not
   *   there at once and the client, of 2025-11-25 or later, can resume; then with an event stream.
   * - "json": with JSON. What a handler says meanwhile is dropped, and it cannot ask the client.
   * - "stream": with an event stream.
   *
   * Default: "auto".
   */
  readonly responses?: "auto" | "json" | "stream" | undefined
  /**
   * Whether, and how many, sessions are kept. Without them nothing is remembered from one request to the next, and
   * handlers cannot ask the client.
   */
  readonly sessions?: boolean | SessionOptions | undefined
  /** Bytes that a body may have; larger ones are answered with 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How deep a message may nest. Default: 64. */
  readonly maxDepth?: number | undefined
  /** How many events may wait for one reader before who says more is suspended. Default: 256. */
  readonly capacity?: number | undefined
  /** After how much silence a stream gets a comment. `Infinity` for never. Default: 15 seconds. */
  readonly keepAlive?: Duration.DurationInput | undefined
  /** How long a reader may take nothing while something waits, before its stream is cut. Default: 30 seconds. */
  readonly stallTimeout?: Duration.DurationInput | undefined
  /** How long a client is told to wait before it comes back to a stream that can be resumed. Default: 1 second. */
  readonly retry?: Duration.DurationInput | undefined
  /** Without sessions: how long a handler goes on when its client has gone. Default: 30 seconds. */
  readonly abandonAfter?: Duration.DurationInput | undefined
  /**
   * Finds out who sends a request, before anything of its body is read, or fails with how to turn it away. Who opened a
   * session is the only one who may use it. It runs in the context that the endpoint is made in. Default: nobody is asked
   * who they are.
   */
  readonly authenticate?: ((request: Arrival) => Effect.Effect<Principal | undefined, Refusal, R>) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SessionOptions {
  /**
   * How many there may be. One more takes the place of the one that was idle longest, of those without a stream and without
   * a request: of its own principal's before all others. When there is none, it is answered with 503. Default: 10,000.
   */
  readonly max?: number | undefined
  /**
   * How many of them one principal may have; one more takes the place of one of its own, or is answered with 503. Those
   * that `authenticate` found nothing out about share no bound but `max`. Default: a tenth of `max`.
   */
  readonly maxPerPrincipal?: number | undefined
  /** How long one may be idle: without a stream, without a request. Default: 30 minutes. */
  readonly idleTimeout?: Duration.DurationInput | undefined
}

/**
 * A request, as far as it is known before its body is read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Arrival {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** By their names in lower case. */
  readonly headers: Headers
}

/**
 * The options with nothing left open; times in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resolved {
  readonly path: string | undefined
  readonly ssePath: string | undefined
  readonly responses: "auto" | "json" | "stream"
  readonly sessions: boolean
  readonly maxSessions: number
  readonly maxPerPrincipal: number
  readonly idleTimeout: number
  readonly maxBodyBytes: number
  readonly maxDepth: number
  readonly capacity: number
  readonly keepAlive: number
  readonly stallTimeout: number
  readonly retry: number
  readonly abandonAfter: number
  readonly authenticate: HttpOptions["authenticate"]
}

/**
 * @since 0.1.0
 * @category conversions
 */
export const resolve = <R = never>(options: HttpOptions<R>): Resolved => {
  const sessions = typeof options.sessions === "object" ? options.sessions : {}
  const maxSessions = sessions.max ?? 10_000
  return {
    path: options.path,
    ssePath: options.ssePath,
    responses: options.responses ?? "auto",
    sessions: options.sessions !== false,
    maxSessions,
    maxPerPrincipal: sessions.maxPerPrincipal ?? Math.ceil(maxSessions / 10),
    idleTimeout: DeadlineTimer.millis(sessions.idleTimeout ?? "30 minutes"),
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    maxDepth: options.maxDepth ?? Json.MAX_DEPTH,
    capacity: options.capacity ?? Outbox.CAPACITY,
    keepAlive: DeadlineTimer.millis(options.keepAlive ?? "15 seconds"),
    stallTimeout: DeadlineTimer.millis(options.stallTimeout ?? "30 seconds"),
    retry: DeadlineTimer.millis(options.retry ?? "1 second"),
    abandonAfter: DeadlineTimer.millis(options.abandonAfter ?? "30 seconds"),
    // The runtime that it is run in has what it needs.
    authenticate: options.authenticate as HttpOptions["authenticate"]
  }
}
