/**
 * A way to get tokens. The grants of this package are `AuthorizationCode` (the user logs in with the browser), `DeviceAuthorization` (the
 * user logs in on another device), `ClientCredentials` (a program without a user), `EnterpriseManaged` (an employee), `WorkloadIdentity` (a
 * workload) and `TokenExchange` (a server that acts for a user). `Authorization.layer` takes one grant. Applications may write other
 * grants. `flow/TokenRequests` runs the grant.
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
   * The client that authenticates with the form. A signature has this URL as its audience; a secret is sent in the `Authorization` header,
   * unless `authMethod` is `client_secret_post`. Default: the form authenticates no client.
   */
  readonly client?: Client | undefined
  /**
   * Whether the application itself has named the URL. Such a URL may have a private address. Default: false, because a server has named the
   * URL.
   */
  readonly isConfigured?: boolean | undefined
}

/**
 * What a grant knows about an MCP server, and the functions that send requests to its authorization server.
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
  /** Whether the MCP server publishes metadata of its resource. Servers of revision 2025-03-26 do not. */
  readonly isPublished: boolean
  /** The id of the client that the tokens were issued to, when tokens are refreshed or revoked. `undefined` for a login. */
  readonly clientId?: string | undefined
  /** The issuer that the MCP server used before; `undefined` when it still uses the same issuer, or was not used before. */
  readonly previousIssuer: string | undefined
  /**
   * Requests tokens. `parameters` must have `grant_type`. The function authenticates the client, adds `resource` unless an exception of the
   * application says `withoutResource`, and checks the response.
   */
  readonly token: (
    client: Client,
    parameters: Readonly<Record<string, string>>
  ) => Effect.Effect<Tokens, AuthorizationError>
  /** Sends a GET request with the same checks and limits as `post`. It does not follow a redirect: the redirect is the answer. */
  readonly get: (what: string, url: string) => Effect.Effect<Answer, AuthorizationError>
  /**
   * Posts to a URL. The URL must pass the checks of `discovery/UrlPolicy`, and time and size of the response are limited. `what` names the
   * URL in errors, for example "the identity provider".
   */
  readonly post: (
    what: string,
    url: string,
    body: { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown },
    options?: PostOptions
  ) => Effect.Effect<Answer, AuthorizationError>
}

/** @category models */
export interface Grant<out R = never> {
  /** Whether the grant needs the user. */
  readonly isInteractive: boolean
  /**
   * Whether the grant asks the user only when the program calls `login` of `Authorization`, and never because a server has refused a
   * request. Default: false.
   */
  readonly needsLogin?: boolean | undefined
  /**
   * Whether this client was registered by hand at an issuer. When an MCP server names several issuers, the client prefers such an issuer.
   */
  readonly isRegistered: (issuer: string) => boolean
  /** The client for requests that refresh or revoke tokens. */
  readonly client: (context: GrantContext) => Effect.Effect<Client, AuthorizationError, R>
  /** Gets new tokens. */
  readonly obtain: (context: GrantContext) => Effect.Effect<Tokens, AuthorizationError, R>
}
