/**
 * A way to get tokens: in a user's browser (`AuthorizationCode`), on another device of the user (`DeviceAuthorization`), as a program (`ClientCredentials`), for an employee
 * (`EnterpriseManaged`), or as a workload (`WorkloadIdentity`). `Authorization.layer` takes one grant. Applications may write their own.
 * `flow/TokenRequests` runs the grant.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { AuthorizationServer } from "./AuthorizationServer.js"
import type { Client } from "./ClientIdentity.js"
import type { Tokens } from "./Tokens.js"

/**
 * A response of an authorization server; `json` is `undefined` when its body is not a JSON object.
 *
 * @category models
 */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** @category models */
export interface PostOptions {
  /**
   * The client that the form authenticates: a signature is for this URL, and a secret is sent as basic, unless `authMethod`
   * says post.
   */
  readonly client?: Client | undefined
  /** Whether the application has named the URL itself: then it may be a private address. Default: a server has named it. */
  readonly isConfigured?: boolean | undefined
}

/**
 * What was found out about a server, and the ways to ask its authorization server.
 *
 * @category models
 */
export interface GrantContext {
  /** The URL of the MCP server. */
  readonly url: string
  /** The identifier of the resource, for the parameter `resource`. */
  readonly resource: string
  readonly server: AuthorizationServer
  /** The scopes to request; `undefined` to request none by name. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** Whether the server publishes metadata of its resource; servers of 2025-03-26 do not. */
  readonly isPublished: boolean
  /** The id of the client that the tokens to refresh were issued to. */
  readonly clientId?: string | undefined
  /** The issuer that this server had before, when it has another issuer now. */
  readonly previousIssuer: string | undefined
  /**
   * Requests a token: authenticates the client, adds `resource` unless the application has an exception, and checks the response.
   * `grant_type` is among the parameters.
   */
  readonly token: (
    client: Client,
    parameters: Readonly<Record<string, string>>
  ) => Effect.Effect<Tokens, AuthorizationError>
  /** Requests a URL in the same way as `post`. A redirect is not followed: it is the answer. */
  readonly get: (what: string, url: string) => Effect.Effect<Answer, AuthorizationError>
  /** Posts to a URL that passes the checks of this package, within bounds. `what` names it in errors: "the identity provider". */
  readonly post: (
    what: string,
    url: string,
    body: { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown },
    options?: PostOptions
  ) => Effect.Effect<Answer, AuthorizationError>
}

/** @category models */
export interface Grant<out R = never> {
  /** Whether it needs the user. */
  readonly isInteractive: boolean
  /** Whether it asks the user only when the program calls `login`, and never because a server has refused a request. Default: false. */
  readonly needsLogin?: boolean | undefined
  /** Whether this client is registered at an issuer. A server may name several issuers; the first of these is used. */
  readonly isRegistered: (issuer: string) => boolean
  /** The client that refreshes tokens. */
  readonly client: (context: GrantContext) => Effect.Effect<Client, AuthorizationError, R>
  readonly obtain: (context: GrantContext) => Effect.Effect<Tokens, AuthorizationError, R>
}
