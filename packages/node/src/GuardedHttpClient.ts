/**
 * The `HttpClient` for Node. It refuses private addresses where a peer has named the URL: package `auth` marks its requests to
 * authorization servers, `openapi` its requests to servers of single operations, and an application its own requests with `publicOnly`. The
 * address is checked at the moment at which the client connects, so a name that resolves to a private address is refused, too. A host that
 * the application has named is used as it is.
 *
 * The client uses the proxies that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. A proxy resolves names itself, so behind it only the host
 * in the URL is checked. Node adds the certificates of `NODE_EXTRA_CA_CERTS`. The client follows no redirect.
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
 * Dies when a variable of the environment names a proxy that is not a URL.
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
 * Lets the requests of an effect reach addresses of the internet only: for a tool that requests URLs which a model or a user names. A request
 * to another address fails with a `RequestError`. Other clients than the client of `layer` do not check this.
 *
 * @category utils
 */
export const publicOnly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  EffectInternals.withValue(effect, Reach.current, PUBLIC)

const PUBLIC: Reach.Reach = new Set(["public"])
