/**
 * An `HttpClient` for Node that checks addresses, so that a URL from a server or a user does not lead into a private network. The client
 * checks only two kinds of requests: requests of the package `auth` to a URL that a server has sent, and requests inside of `publicOnly`.
 * For these requests the client refuses a private address, and also a name that resolves to a private address. All other requests may go to
 * any address. `auth` also allows the hosts that the application has named.
 *
 * The client uses the proxies in the variables `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in `NO_PROXY`. A proxy resolves names
 * itself, so with a proxy the client checks only the host in the URL. Node also trusts the certificates in `NODE_EXTRA_CA_CERTS`. The
 * client follows no redirects.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "node:dns"
import * as ReachingClient from "./client/ReachingClient.js"

/**
 * Provides the client. The layer dies when the variable `HTTPS_PROXY` or `HTTP_PROXY` does not contain the URL or the host of an HTTP
 * proxy.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Remote from "@effect-mcp/core/Remote"
 * import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
 * import { Layer } from "effect"
 *
 * export const Live = Client.layer(Remote.connector("https://example.com/mcp")).pipe(
 *   Layer.provide(GuardedHttpClient.layer)
 * )
 * ```
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.suspend(() =>
  ReachingClient.layer({ resolve: Dns.lookup, environment: process.env })
)

/**
 * Restricts the requests of an effect to public addresses of the internet. Use this function in a tool that fetches a URL which a model or
 * a user has given. A request to another address fails with a `RequestError`. Only the client of `layer` checks addresses. With another
 * `HttpClient`, this function has no effect.
 *
 * @category utils
 */
export const publicOnly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  EffectInternals.withValue(effect, Reach.current, PUBLIC)

const PUBLIC: Reach.Reach = new Set(["public"])
