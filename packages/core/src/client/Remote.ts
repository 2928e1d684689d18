/**
 * Reaches a server by its URL: over Streamable HTTP of either protocol era, or over HTTP+SSE when the server implements only HTTP+SSE.
 * `Remote` uses the `HttpClient` of the platform; the application provides its layer. `negotiation/HttpTransport` opens the transport.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type { HttpClient } from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Url from "@effect/platform/Url"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Connector from "../jsonrpc/Connector.js"
import { TransportError } from "../jsonrpc/LocalError.js"
import type * as MessageText from "../jsonrpc/MessageText.js"
import type { Authorizer } from "./Authorizer.js"
import * as Client from "./Client.js"
import type { ConnectError } from "./ClientError.js"
import type { ClientFeatures } from "./ClientFeatures.js"
import * as Settings from "./http/Settings.js"
import type { HttpResponseError } from "./HttpResponseError.js"
import * as HttpTransport from "./negotiation/HttpTransport.js"

/**
 * A session over Streamable HTTP: its id, and the revision on which client and server have agreed.
 *
 * @category models
 */
export interface RemoteSession {
  readonly id: string
  readonly version: string
}

/**
 * The limits of a connection over HTTP, and of each message on it.
 *
 * @category models
 */
export interface Limits extends MessageText.Limits {
  /**
   * How many attempts in a row to resume a stream may fail or bring no event. After this number of attempts, the request that waits for its
   * answer on the stream fails. Default: 5.
   */
  readonly maxResumes?: number | undefined
  /**
   * How many redirects of a request the client follows. All must lead to the same origin. A connection remembers the target of a permanent
   * redirect. Default: 3.
   */
  readonly maxRedirects?: number | undefined
  /** How many requests may be in flight, each in an HTTP exchange of its own. Further requests wait. Default: 64. */
  readonly maxExchanges?: number | undefined
  /**
   * How many messages may wait to be sent before `send` suspends, and how many received messages may wait before the client stops reading.
   * Default: 256.
   */
  readonly capacity?: number | undefined
  /** How many bytes a JSON body may have. Default: 10 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How many bytes an event may have. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
}

/** @category models */
export interface Options<out R = never> {
  /**
   * The transport that the server implements.
   *
   * - "streamable": Streamable HTTP, of revision 2025-03-26 and later.
   * - "sse": HTTP+SSE, the two endpoints of revision 2024-11-05; the URL is the URL of the stream. Deprecated since 2025-03-26 (SEP-2596).
   * - "auto": Streamable HTTP, or HTTP+SSE when the server does not implement Streamable HTTP.
   *
   * Default: "auto".
   */
  readonly transport?: "auto" | "streamable" | "sse" | undefined
  /**
   * More headers for all requests. If the option is an effect, the effect runs for each request. It also runs before the client uses a
   * private result of its cache again. The client uses the cached result only if these headers are equal to the headers of the request that
   * fetched the result. These headers cannot replace headers of the protocol. Default: no more headers.
   */
  readonly headers?: Headers.Headers | Readonly<Record<string, string>> | Effect.Effect<Headers.Input, unknown, R>
  /**
   * What happens when the server answers a request with status 401 or 403. A function gives the headers for a second attempt; there is no
   * third attempt. When the function fails, the request fails with a `TransportError` that has this failure as its `cause`. An `Authorizer`
   * gives the headers of every attempt, and decides after each refusal.
   *
   * Default: the request fails, with `HttpResponseError` as the `cause`.
   */
  readonly authorize?:
    | Authorizer<R>
    | ((
      refusal: HttpResponseError,
      request: HttpClientRequest.HttpClientRequest
    ) => Effect.Effect<Headers.Input, unknown, R>)
    | undefined
  /**
   * Runs in the background when the server has lost the session and the client has begun a new session. The server has also lost what it
   * stored for the old session, such as the logging level and subscriptions.
   */
  readonly onRenewed?: Effect.Effect<void, unknown, R> | undefined
  /**
   * Runs in the background each time that a session has begun, also when the session replaces a lost session. With
   * `terminateOnClose: false`, a later connection can continue the session that this function gets (option `session`).
   */
  readonly onSession?: ((session: RemoteSession) => Effect.Effect<void, unknown, R>) | undefined
  /**
   * A session that an earlier connection has begun and not ended. The client also needs its option `prior`, with the facts of that session;
   * then the client continues the session without a handshake. When the server has lost the session, the connection ends. The option has no
   * effect with HTTP+SSE. Default: a new session.
   */
  readonly session?: RemoteSession | undefined
  /** Whether the client opens the standalone stream, for messages of the server that belong to no request. Default: `true`. */
  readonly standalone?: boolean | undefined
  /**
   * How long to wait before each attempt to resume a stream that was cut off. The schedule starts again after each event. A wait is never
   * shorter than 100 milliseconds, and never shorter than the time that the server asks for. Default: a random time of up to 1 second at
   * first; for each further attempt, the limit is 1.5 times as long, up to 30 seconds.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  /** The limits of the connection; see `Limits` for their defaults. */
  readonly limits?: Limits | undefined
  /**
   * How long a stream of events may be silent. After this time, the client treats the stream as cut off, and resumes it. The time in which
   * the client answers a question of the server on that stream counts, too. Default: no limit.
   */
  readonly readTimeout?: Duration.DurationInput | undefined
  /**
   * Whether closing the connection also ends the session at the server. With `false`, a later connection can continue the session. Default:
   * `true`.
   */
  readonly terminateOnClose?: boolean | undefined
  /** How long the server may take to accept a notification or a response, and to open HTTP+SSE. Default: 30 seconds. */
  readonly acceptTimeout?: Duration.DurationInput | undefined
  /** How long each step of closing may wait: first for messages in flight, then for the end of the session. Default: 1 second. */
  readonly closeTimeout?: Duration.DurationInput | undefined
}

/**
 * The default waits before attempts to resume a stream. The limit of the wait is 1 second at first, and 1.5 times as long for each further
 * attempt, up to 30 seconds. Each wait is a random time between 0 and this limit.
 *
 * @category utils
 */
export const reconnect: Schedule.Schedule<Duration.Duration> = Settings.reconnect

/**
 * Makes a connector for the server at a URL.
 *
 * Connecting sends no request, except over HTTP+SSE. Connecting fails with reason `Open` when the URL is not an HTTP URL, when the URL
 * contains credentials, or when the stream of HTTP+SSE cannot be opened. A single request fails with a `TransportError` in three cases: the
 * server refuses the request, does not get the request, or its answer is lost. If there was a response, the `cause` of the error is an
 * `HttpResponseError`. When the server has lost the session, the client begins a new session. It sends again the requests that the server
 * refused for this reason. Requests that the server had accepted fail with `SessionExpired`.
 *
 * When the scope closes, requests in flight are aborted, and the session is ended. This takes at most three times `closeTimeout`.
 *
 * @category constructors
 */
export const connector = <R = never>(
  url: string | URL,
  options: Options<R> = {}
): Connector.Connector<HttpClient | Exclude<R, Scope.Scope>> => {
  const parsed = Either.getOrUndefined(Url.fromString(String(url)))
  const settings = Settings.fromOptions(options)
  const name = nameOf(parsed)
  return Connector.make<HttpClient | R | Scope.Scope>(
    name,
    Effect.flatMap(check(parsed, name), (url) => HttpTransport.open(url, settings)),
    { origin: parsed?.origin }
  ) as Connector.Connector<HttpClient | Exclude<R, Scope.Scope>>
}

/**
 * Makes a layer with a client of the server at a URL. The URL and the options come from the configuration of the program.
 *
 * @example
 * ```ts
 * import * as Remote from "@effect-mcp/core/Remote"
 * import { Config } from "effect"
 *
 * export const Live = Remote.layerConfig({ url: Config.string("MCP_URL") })
 * ```
 * @category layers
 */
export const layerConfig = <E = never, R = never>(
  options: Config.Config.Wrap<Options & { readonly url: string }>,
  client?: Client.Options<E, R>
): Layer.Layer<
  Client.Client,
  ConfigError | ConnectError | E,
  HttpClient | Exclude<Exclude<R, ClientFeatures>, Scope.Scope>
> =>
  Layer.unwrapEffect(
    Effect.map(Config.unwrap(options), ({ url, ...options }) => Client.layer(connector(url, options), client))
  )

const isHttp = ({ protocol }: URL): boolean => protocol === "http:" || protocol === "https:"

// The name has no query, because the query may contain secrets. A text that is not a URL may be a secret itself.
const nameOf = (url: URL | undefined): string => {
  if (url === undefined) return "an invalid URL"
  return isHttp(url) ? `${url.origin}${url.pathname}` : `a URL of "${url.protocol}"`
}

const check = (url: URL | undefined, name: string): Effect.Effect<URL, TransportError> => {
  const refuse = (why: string) => Effect.fail(new TransportError({ reason: "Open", message: `${name}: ${why}` }))
  if (url === undefined || !isHttp(url)) {
    return refuse("begin it with http:// or https://, such as http://127.0.0.1:3000/mcp")
  }
  if (url.username !== "" || url.password !== "") return refuse("put the credentials into headers, not into the URL")
  return Effect.succeed(url)
}
