/**
 * Reaches a server by its URL: Streamable HTTP, and HTTP+SSE where the server is older than that. It needs the platform's
 * `HttpClient`, whichever the application has.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import { HttpClient } from "@effect/platform/HttpClient"
import * as Url from "@effect/platform/Url"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as HttpConnection from "./http/HttpConnection.js"
import * as Fallback from "./legacy/Fallback.js"
import type { Options, Resolved } from "./RemoteOptions.js"
import * as RemoteOptions from "./RemoteOptions.js"

/**
 * Reaches the server at a URL, anew for each connection.
 *
 * Connecting opens nothing yet, except over HTTP+SSE: it fails with reason `Open` when the URL is none that can be reached.
 * A request that the server refuses, does not get, or whose answer is lost fails with a `TransportError`, `HttpRefused` being
 * its cause where there was a response; no other request does. When the server forgets the session, a new one is begun,
 * once, and what was refused on account of it is sent again; requests that had been accepted fail with `SessionExpired`.
 *
 * Closing the scope aborts our requests and ends the session; it takes at most three times `closeTimeout`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connector = <R = never>(
  url: string | URL,
  options: Options<R> = {}
): Connector.Connector<HttpClient | Exclude<R, Scope.Scope>> => {
  const parsed = Either.getOrUndefined(Url.fromString(String(url)))
  const resolved = RemoteOptions.resolve(options)
  // The rest may hold secrets, or be one.
  const name = parsed === undefined ? "an invalid URL" : `${parsed.origin}${parsed.pathname}`
  return Connector.make<HttpClient | R | Scope.Scope>(
    name,
    Effect.flatMap(check(parsed, name), (url) => open(url, resolved))
  ) as Connector.Connector<HttpClient | Exclude<R, Scope.Scope>>
}

const check = (url: URL | undefined, name: string): Effect.Effect<URL, TransportError> => {
  const refuse = (why: string) => Effect.fail(new TransportError({ reason: "Open", message: `${name}: ${why}` }))
  if (url === undefined) return refuse("it cannot be read")
  if (url.protocol !== "http:" && url.protocol !== "https:") return refuse("only http and https can be reached")
  if (url.username !== "" || url.password !== "") return refuse("credentials belong into headers")
  return Effect.succeed(url)
}

const open = (url: URL, options: Resolved): Effect.Effect<Transport, TransportError, HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* HttpClient
    const runtime = yield* HttpConnection.runtimeOf(options)
    const clock = yield* Effect.clock
    let farewell: Effect.Effect<void, unknown> = Effect.void
    const site = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new HttpConnection.HttpConnection(
          url,
          options,
          runtime,
          (ring) => new DeadlineTimer.DeadlineTimer(runtime, clock, ring),
          client
        )
      ),
      (site) => site.close(Effect.suspend(() => farewell))
    )
    const way = yield* Fallback.make(site)
    farewell = way.farewell
    const { inbox } = site
    return {
      incoming: inbox.incoming,
      run: inbox.run,
      send: way.outgoing.send,
      unsafeSend: way.outgoing.unsafeSend
    }
  })
