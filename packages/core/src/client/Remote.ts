/**
 * Reaches a server by its URL: over Streamable HTTP of either era, and over HTTP+SSE when the server implements only that. `Remote` uses
 * the platform's `HttpClient`, whichever layer the application provides. `negotiation/HttpTransport` opens the transport.
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
 * A session over Streamable HTTP: its id, and the revision that was agreed.
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
  /** How many attempts in a row may bring no event before the request of that stream fails. Default: 5. */
  readonly maxResumes?: number | undefined
  /**
   * How many redirects of a request are followed, all of them to the same origin. A connection remembers the target of a permanent redirect.
   * Default: 3.
   */
  readonly maxRedirects?: number | undefined
  /** How many requests may be in flight, each in an HTTP exchange of its own; more wait. Default: 64. */
  readonly maxExchanges?: number | undefined
  /**
   * How many messages may wait to be sent before `send` suspends, and to be read before reading stops. Default: 256.
   */
  readonly capacity?: number | undefined
  /** The most bytes that a JSON body may have. Default: 10 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** The most bytes that an event may have. Default: 10 MiB. */
  readonly maxEventBytes?: number | undefined
}

/** @category models */
export interface Options<out R = never> {
  /**
   * The transport that the server implements.
   *
   * - "streamable": Streamable HTTP, of 2025-03-26 and later.
   * - "sse": HTTP+SSE, the two endpoints of 2024-11-05; the URL is the URL of the stream. Deprecated since 2025-03-26 (SEP-2596).
   * - "auto": the first, and the second when the server does not implement the first.
   *
   * Default: "auto".
   */
  readonly transport?: "auto" | "streamable" | "sse" | undefined
  /**
   * More headers for all requests. An effect runs for each request, and before the client uses a private result of its cache again: the
   * headers must be the headers that the result was requested with. It cannot change the headers of the protocol.
   */
  readonly headers?: Headers.Headers | Readonly<Record<string, string>> | Effect.Effect<Headers.Input, unknown, R>
  /**
   * Runs when a request is answered with 401 or 403. It gives the headers for a second attempt, and there is no third.
   * When it fails, the request fails with that failure as its cause. Without it the request fails with `HttpResponseError`.
   *
   * An `Authorizer` instead gives the headers of every attempt, and decides after each refusal.
   */
  readonly authorize?:
    | Authorizer<R>
    | ((
      refusal: HttpResponseError,
      request: HttpClientRequest.HttpClientRequest
    ) => Effect.Effect<Headers.Input, unknown, R>)
    | undefined
  /**
   * Runs in the background when the server had lost the session and the client has begun a new one. The server has also
   * lost what it stored for the session: the logging level, subscriptions.
   */
  readonly onRenewed?: Effect.Effect<void, unknown, R> | undefined
  /**
   * Runs in the background when a session has begun, also when it replaces a lost session. With `terminateOnClose: false`, a later
   * connection can go on with the session that this function gets.
   */
  readonly onSession?: ((session: RemoteSession) => Effect.Effect<void, unknown, R>) | undefined
  /**
   * A session that an earlier connection has begun and not ended. The client makes no handshake when it also has the option `prior`. When
   * the server has lost the session, the connection ends. Not for HTTP+SSE.
   */
  readonly session?: RemoteSession | undefined
  /** Whether to open the standalone stream, for messages that belong to no request. Default: true. */
  readonly standalone?: boolean | undefined
  /**
   * The waits before each attempt to resume a stream that was cut off; it starts again after each event. A wait is never
   * shorter than 100 milliseconds, and never shorter than the server asks for. Default: `reconnect`.
   */
  readonly reconnect?: Schedule.Schedule<unknown, unknown> | undefined
  /** How much the connection sends, and how much it takes of a server. */
  readonly limits?: Limits | undefined
  /**
   * How long a stream of events may bring nothing before it counts as cut off; then it is resumed, as any stream that was cut off. The time
   * in which the client answers a question of the server on that stream counts, too. Default: no limit.
   */
  readonly readTimeout?: Duration.DurationInput | undefined
  /** Whether closing ends the session at the server. If not, a later connection can go on with it. Default: true. */
  readonly terminateOnClose?: boolean | undefined
  /** How long the server may take to accept a notification or a response, and to open HTTP+SSE. Default: 30 seconds. */
  readonly acceptTimeout?: Duration.DurationInput | undefined
  /**
   * How long closing waits for each of its steps: for messages in flight, then for the session's end. Default: 1 second.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
}

/**
 * The default waits before attempts to resume a stream: 1 second at first, then half as long again each time, up to 30 seconds. Each wait
 * is a random time between nothing and that limit.
 *
 * @category utils
 */
export const reconnect: Schedule.Schedule<Duration.Duration> = Settings.reconnect

/**
 * Connects to the server at a URL, anew for each connection.
 *
 * Connecting sends nothing yet, except over HTTP+SSE; it fails with reason `Open` when the URL cannot be reached at all. A request fails
 * alone with a `TransportError` when the server refuses it, does not get it, or its answer is lost; the cause is `HttpResponseError` when
 * there was a response. When the server has lost the session, the client begins a new session, and sends again what was refused because of
 * the lost session; requests that the server had accepted fail with `SessionExpired`.
 *
 * Closing the scope aborts the requests in flight and ends the session; it takes at most three times `closeTimeout`.
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
 * A client of the server at a URL, with the URL and the options from the configuration of the program.
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

// The query may hold secrets, and a text that is not a URL may be one.
const nameOf = (url: URL | undefined): string => {
  if (url === undefined) return "an invalid URL"
  return isHttp(url) ? `${url.origin}${url.pathname}` : `a URL of "${url.protocol}"`
}

const check = (url: URL | undefined, name: string): Effect.Effect<URL, TransportError> => {
  const refuse = (why: string) => Effect.fail(new TransportError({ reason: "Open", message: `${name}: ${why}` }))
  if (url === undefined || !isHttp(url)) {
    return refuse("begin it with http:// or https://, such as http://127.0.0.1:3000/mcp")
  }
  if (url.username !== "" || url.password !== "") return refuse("credentials belong into headers")
  return Effect.succeed(url)
}
