/**
 * An `HttpClient` for Node that refuses private addresses when the URL comes from a peer. The package `auth` marks its requests to
 * authorization servers for this check. An application marks its own requests with `publicOnly`. The client checks the address when it
 * connects, so it also refuses a name that resolves to a private address. The client does not check hosts that the application has named.
 *
 * The client uses the proxies in the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. A proxy resolves names itself, so with a proxy
 * the client checks only the host in the URL. Node also trusts the certificates in `NODE_EXTRA_CA_CERTS`. The client follows no redirects.
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
 * Provides the client. The layer dies when an environment variable names a proxy that is not a URL.
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
 * Restricts the requests of an effect to public addresses of the internet. Use this function for a tool that requests URLs from a model or
 * from a user. A request to another address fails with a `RequestError`. Only the client of `layer` makes this check. Other clients ignore
 * it.
 *
 * @category utils
 */
export const publicOnly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  EffectInternals.withValue(effect, Reach.current, PUBLIC)

const PUBLIC: Reach.Reach = new Set(["public"])
