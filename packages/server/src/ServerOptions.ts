/**
 * The options of a server, of `McpServer.layer` and `McpServer.define`: what surrounds its handlers, what it advertises, and
 * its `Limits`.
 *
 * @since 0.1.0
 */
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type * as Version from "@effect-mcp/protocol/Version"
import type * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Authenticator from "./Authenticator.js"
import type { ServerCacheOptions } from "./CacheOptions.js"
import type { Options as DispatcherOptions } from "./Dispatcher.js"
import type * as Middleware from "./Middleware.js"

/** @category models */
export interface ServerOptions<
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Middleware.Any | undefined = Middleware.Middleware<never, never>,
  InSession extends Middleware.Middleware.Any | undefined = Middleware.Middleware<never, never>,
  Users extends Authenticator.Authenticator.Any | undefined = Authenticator.Authenticator<never>
> extends DispatcherOptions {
  /**
   * The revisions that the server supports. Those up to 2025-11-25 begin with a handshake; from 2026-07-28 on, each request is
   * served by itself. Clients of both kinds may use the server at the same time. Default: all.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined
  /** Whether the messages that handlers `log` are sent to clients, and `logging` is advertised. Default: true. */
  readonly logging?: boolean | undefined
  /** Whether clients may subscribe to resources. See `resourceUpdated`. Default: true. */
  readonly subscriptions?: boolean | undefined
  /** For how long clients may cache results, from 2026-07-28 on. Default: not at all. */
  readonly cache?: ServerCacheOptions | undefined
  /**
   * The secrets that seal the state of a request between its rounds, from 2026-07-28 on, at least 32 bytes each. The first one seals;
   * all of them open, so that a new secret can be put before an old one. Nodes that share the requests of a client need the same
   * secrets. Default: the keys of `SealKeys`, if the layer of the server is given them; else a random secret, which ends with the
   * server.
   *
   * A handler that asks a question ends its round; the client sends the request again with the answers and with the sealed state, and
   * the handler runs again from its beginning. The server itself remembers nothing between two rounds.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
   */
  readonly stateSecrets?:
    | readonly [Redacted.Redacted<string | Uint8Array>, ...Array<Redacted.Redacted<string | Uint8Array>>]
    | undefined
  /**
   * Capabilities to advertise beside those of the features, for example `experimental`, or `tools` of a server that adds its
   * first tool later: clients are served only what was advertised to them.
   */
  readonly capabilities?: ServerCapabilities | undefined
  /**
   * The extensions that the server supports, with the settings that it declares. The layer dies when two of them add the
   * same. Default: none; handlers of extensions that are not here serve nothing.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /**
   * A layer that is built for each client during the handshake, and released with its session; from 2026-07-28 on, by the first
   * request of a pipe, and released with the pipe, and over HTTP for each request, unless `lifetime` keeps it. Handlers may use its
   * services; two clients never share them. It may require `RequestContext`, which describes the client. When the layer fails, the
   * handshake or the request fails; the client receives an `McpError` as it is.
   */
  readonly session?: Session | undefined
  /**
   * How long the session layer lives over HTTP where there are no sessions: `"user"` keeps it from one request to the next, for each
   * user, client (`clientInfo`) and declared capabilities, until no request has used it for `limits.userSessionIdleTimeout`. There are
   * at most 10,000 such sessions, and 64 of a user; another one replaces the one that was idle longest. It needs an `authenticator`,
   * and a server on one node: with a `SessionDirectory` or a `ChangeBus` the layer of the server dies. Default: for one request.
   */
  readonly lifetime?: "user" | undefined
  /**
   * The middleware around every message, the handshake included. It may require the user; what the session layer provides does
   * not exist yet. Handlers may use the services that it provides.
   */
  readonly middleware?: Around | undefined
  /**
   * The middleware around every message of a session that exists, inside of `middleware`: every request and notification but
   * the handshake and a `ping` before it. It may require what the session layer provides, the user, and what `middleware`
   * provides; handlers may use the services that it provides. `Middleware.around` is for single features.
   */
  readonly sessionMiddleware?: InSession | undefined
  /**
   * Identifies the sender of each message. Features, the session layer and the middleware may use the user that it provides.
   * Default: every client is served, and the server has no users.
   */
  readonly authenticator?: Users | undefined
}
