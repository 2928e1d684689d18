/**
 * A grant is a way to get tokens. The grants of this package are `AuthorizationCode` (the user logs in with the browser),
 * `DeviceAuthorization` (the user logs in on another device), `ClientCredentials` (a program without a user), `EnterpriseManaged` (an
 * employee), `WorkloadIdentity` (a workload) and `TokenExchange` (a server that acts for a user). Pass one grant to `Authorization.layer`.
 * Your application can also implement its own grant. `flow/TokenRequests` runs the grant.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { AuthorizationServer } from "./AuthorizationServer.js"
import type { Client } from "./ClientIdentity.js"
import type { Tokens } from "./Tokens.js"

/**
 * A response of an authorization server. `json` is `undefined` when the body is not a JSON object.
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
   * The client that authenticates with this request. If the client authenticates with a signed JWT, the URL of the request is the audience
   * of the JWT. If the client has a secret, the secret is sent in the `Authorization` header, or in the form when `authMethod` is
   * `client_secret_post`. Default: the request authenticates no client.
   */
  readonly client?: Client | undefined
  /**
   * Whether the URL comes from the application rather than from a server. With `true`, the URL may have a private address. Default: false.
   */
  readonly isConfigured?: boolean | undefined
}

/**
 * The data of an MCP server for a grant, and the functions that send requests to the authorization server.
 *
 * @category models
 */
export interface GrantContext {
  /** The URL of the MCP server. */
  readonly url: string
  /** The identifier of the resource, for the parameter `resource`. */
  readonly resource: string
  readonly server: AuthorizationServer
  /** The scopes that the grant should request. With `undefined`, the grant should not send the parameter `scope`. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** Whether the MCP server publishes metadata of its resource. Servers of revision 2025-03-26 do not publish this metadata. */
  readonly isPublished: boolean
  /** The id of the client for which the tokens were issued, when tokens are refreshed or revoked. `undefined` for a login. */
  readonly clientId?: string | undefined
  /** The issuer that the MCP server used before. `undefined` when the MCP server still uses the same issuer, or was not used before. */
  readonly previousIssuer: string | undefined
  /**
   * Requests tokens. `parameters` must have `grant_type`. The function authenticates the client, adds the parameter `resource`, and checks
   * the response. It does not add `resource` when an exception of the application has `withoutResource`.
   */
  readonly token: (
    client: Client,
    parameters: Readonly<Record<string, string>>
  ) => Effect.Effect<Tokens, AuthorizationError>
  /** Sends a GET request with the same checks and limits as `post`. Does not follow redirects, and returns a redirect as the answer. */
  readonly get: (what: string, url: string) => Effect.Effect<Answer, AuthorizationError>
  /**
   * Sends a POST request to a URL. The URL must pass the checks of `discovery/UrlPolicy`. The time and the size of the response are
   * limited. `what` is the name of the URL in errors, for example "the identity provider".
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
   * Whether the grant asks the user only when the program calls `login` of `Authorization`. With `true`, the grant never asks the user
   * because of a refused request. Default: false.
   */
  readonly needsLogin?: boolean | undefined
  /**
   * Whether this client was registered manually at an issuer. When an MCP server names several issuers, the client prefers an issuer at
   * which it was registered manually.
   */
  readonly isRegistered: (issuer: string) => boolean
  /** Returns the client for requests that refresh or revoke tokens. */
  readonly client: (context: GrantContext) => Effect.Effect<Client, AuthorizationError, R>
  /** Gets new tokens. */
  readonly obtain: (context: GrantContext) => Effect.Effect<Tokens, AuthorizationError, R>
}
