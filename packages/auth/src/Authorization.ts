/**
 * Authorizes a client at MCP servers that require OAuth. This module finds the authorization server, gets tokens with a grant, sends the
 * tokens with every request, and renews them. It requests more scopes when the server requires more. Pass `authorize` to `Remote.connector`
 * as the option `authorize`. `flow/ServerTokens` manages the tokens of each server.
 *
 * A server over stdio does not use this module: it gets credentials from its environment.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { Authorizer, RefusedRequest } from "@effect-mcp/core/Authorizer"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AuthorizationError } from "./AuthorizationError.js"
import { CredentialStore } from "./CredentialStore.js"
import * as Documents from "./discovery/Documents.js"
import * as Exceptions from "./discovery/Exceptions.js"
import type { Dpop } from "./Dpop.js"
import * as ServerTokens from "./flow/ServerTokens.js"
import type { Grant } from "./Grant.js"
import type { ProviderExceptions } from "./ProviderExceptions.js"

/** @category models */
export interface Options {
  /** Scopes that the client requests in addition to the scopes that the server asks for. Default: none. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /**
   * Hosts in private networks from which the client may request metadata and tokens when a server names them, for example
   * `["login.company.example"]`. Default: none. The client may always send requests to the hosts that the application has named: the MCP
   * server, the issuers at which the client is registered, and the identity provider. When one of these hosts is in a private network,
   * servers may also name other hosts in private networks. When one of these hosts is on this machine, servers may also name other hosts on
   * this machine.
   */
  readonly privateHosts?: ReadonlyArray<string> | undefined
  /** How long each request to an authorization server may take. Default: 30 seconds. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The most bytes that a response of an authorization server may have. Default: 256 KiB. */
  readonly maxDocumentBytes?: number | undefined
  /**
   * The implementation of DPoP, for example `Dpop.es256`. With DPoP, tokens are bound to a key of this client if the authorization server
   * supports DPoP. Default: tokens are not bound to a key.
   */
  readonly dpop?: Dpop | undefined
  /**
   * Chooses and orders the authorization servers that an MCP server names. The client tries the next authorization server only when it
   * cannot use the metadata of the first server, and never after a login was denied. Default: first an authorization server for which the
   * client has stored credentials or a manual registration, then the other servers in the order of the MCP server.
   */
  readonly authorizationServers?: ((named: ReadonlyArray<string>, server: URL) => ReadonlyArray<string>) | undefined
  /**
   * Exceptions for authorization servers that deviate from the rules. `Providers` has exceptions for known providers. The layer dies when
   * two exceptions could apply to the same authorization server. Default: none.
   */
  readonly exceptions?: ReadonlyArray<ProviderExceptions> | undefined
}

/** @category models */
export interface AuthorizationService {
  /**
   * Returns the headers of a request to the MCP server at a URL: the access token, and with DPoP also the proof. The headers are empty when
   * the client has no tokens.
   */
  readonly headers: (
    server: string,
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<Readonly<Record<string, string>>, AuthorizationError>
  /** Gets other tokens for a refused request, if other tokens can help. Returns `true` when the client should send the request again. */
  readonly onRefused: (refused: RefusedRequest) => Effect.Effect<boolean, AuthorizationError>
  /**
   * Gets tokens for the MCP server at a URL before the first request. Call this function at a time that suits the user. Does nothing when
   * the client has tokens that have not expired.
   */
  readonly login: (server: string | URL) => Effect.Effect<void, AuthorizationError>
  /**
   * Revokes the tokens for the MCP server at a URL if the authorization server supports revocation (RFC 7009). Removes the tokens from the
   * store in any case. Requests that wait for a login fail. A client that registers itself registers again at the next login. This function
   * deletes the old registration if the authorization server supports this (RFC 7592) and no other MCP server needs the registration. The
   * next user does not get results that clients have cached for this user.
   *
   * With a server of revision 2025-11-25 or earlier, your program must also close the sessions before another user logs in, because each
   * session belongs to one user.
   */
  readonly logout: (server: string | URL) => Effect.Effect<void, AuthorizationError>
}

/** @category tags */
export class Authorization extends Context.Tag("@effect-mcp/auth/Authorization")<
  Authorization,
  AuthorizationService
>() {}

/**
 * Provides the service `Authorization`, which gets tokens with a grant. When the scope of the layer closes, running logins end. After that,
 * requests that need a token fail with reason `Closed`, and `login` and `logout` die.
 *
 * @category layers
 */
export const layer = <R = never>(
  grant: Grant<R>,
  options: Options = {}
): Layer.Layer<Authorization, never, R | HttpClient.HttpClient | CredentialStore> =>
  Layer.scoped(
    Authorization,
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const store = yield* CredentialStore
      const scope = yield* Effect.scope
      const context = yield* Effect.context<R>()
      const servers = new Map<string, ServerTokens.ServerTokens>()
      let isClosed = false
      yield* Effect.addFinalizer(() => Effect.sync(() => isClosed = true))
      const { authorizationServers, dpop, exceptions = [], scopes = [] } = options
      const mistake = Exceptions.mistake(exceptions, grant.isRegistered)
      if (mistake !== undefined) return yield* Effect.dieMessage(mistake)
      const provided: Grant = {
        isInteractive: grant.isInteractive,
        needsLogin: grant.needsLogin,
        isRegistered: (issuer) => grant.isRegistered(issuer),
        client: (request) => Effect.provide(grant.client(request), context),
        obtain: (request) => Effect.provide(grant.obtain(request), context)
      }
      const of = (url: string | URL): Effect.Effect<ServerTokens.ServerTokens> =>
        Effect.sync(() => {
          const { origin, pathname } = new URL(url)
          // The path is not resolved against the origin, because a path with two slashes at its beginning would name another host.
          const server = new URL(`${origin}${pathname}`)
          const documents = Documents.make(client, server, options)
          const tokens = servers.get(server.href) ??
            ServerTokens.make(
              { documents, store, grant: provided, scopes, dpop, exceptions, authorizationServers },
              scope
            )
          servers.set(server.href, tokens)
          return tokens
        })
      // Without this check, a login or a logout after the end of the layer would be interrupted at once, and the caller would get no
      // reason.
      const open = <A, E>(name: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() =>
          isClosed
            ? Effect.dieMessage(`The layer of \`Authorization\` has closed: run \`${name}\` before its scope ends`)
            : effect
        )
      return {
        headers: (server, request) => Effect.flatMap(of(server), (tokens) => tokens.headers(request)),
        onRefused: (refused) => Effect.flatMap(of(refused.server), (tokens) => tokens.onRefused(refused)),
        login: (server) => open("login", Effect.flatMap(of(server), (tokens) => tokens.login)),
        logout: (server) => open("logout", Effect.flatMap(of(server), (tokens) => tokens.logout))
      }
    })
  )

/**
 * The option `authorize` of `Remote.connector`.
 *
 * @example
 * ```ts
 * import * as Authorization from "@effect-mcp/auth/Authorization"
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Remote from "@effect-mcp/core/Remote"
 *
 * export const Live = Client.layer(
 *   Remote.connector("https://example.com/mcp", { authorize: Authorization.authorize })
 * )
 * ```
 * @category utils
 */
export const authorize: Authorizer<Authorization> = {
  headers: (request, server) =>
    Effect.flatMap(Authorization, (authorization) => authorization.headers(server, request)),
  onRefused: (refused) => Effect.flatMap(Authorization, (authorization) => authorization.onRefused(refused))
}
