/**
 * Exceptions of the application for one authorization server that deviates from the rules. Each member is for one deviation, and its
 * comment says which protection is lost. Pass a list of exceptions to `Authorization.layer` as the option `exceptions`. Only the code of
 * the application can add an exception. A server or a configuration file cannot. `Providers` has the exceptions for known providers.
 * `discovery/Exceptions` finds and checks exceptions, and `ServerMetadata`, `AuthorizationCode` and `TokenEndpoint` apply them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9700
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * The endpoints of an authorization server that publishes no metadata.
 *
 * @category models
 */
export interface Endpoints {
  readonly authorization?: string | undefined
  readonly token: string
  readonly registration?: string | undefined
  readonly revocation?: string | undefined
  /** How clients may authenticate at the token endpoint. Default: `client_secret_basic`. */
  readonly authMethods?: ReadonlyArray<string> | undefined
}

/**
 * The exceptions for one authorization server. The normal rule applies for each member that you leave out.
 *
 * @category models
 */
export interface ProviderExceptions {
  /**
   * The exact text that the metadata of the authorization server has as `issuer`. Stored credentials have this text in their key. Clients
   * that were registered manually have this text as their `issuer`.
   */
  readonly issuer: string
  /**
   * The exact text that MCP servers name instead of the issuer. The client looks for the metadata at the well-known addresses of this URL,
   * and the metadata may name either text. For an MCP server that publishes no metadata of its resource, give the origin of the MCP server.
   * Default: the issuer.
   *
   * Lost protection: another host than the host of the issuer can publish the metadata of the issuer. The host of this URL gets the
   * credentials that the client has for the issuer, including the secret.
   */
  readonly namedAs?: string | undefined
  /**
   * The exact text that authorization responses have as `iss`. Default: the `issuer` in the metadata.
   *
   * Lost protection: the protection of RFC 9207 against a mix-up with another authorization server that has this text as its issuer. The
   * layer dies when this client also uses that other server.
   */
  readonly responseIssuer?: string | undefined
  /**
   * The URL of the metadata, when the metadata is not at a well-known address. No protection is lost, because the metadata must name the
   * issuer.
   */
  readonly metadataUrl?: string | undefined
  /**
   * The endpoints, when the authorization server publishes no metadata. The URLs are checked like URLs in metadata. Default: the client
   * requests the metadata.
   *
   * What is lost: the authorization server can no longer move its endpoints or announce what it supports.
   */
  readonly endpoints?: Endpoints | undefined
  /**
   * Whether the client logs in although the metadata has no `code_challenge_methods_supported`. The client still uses PKCE with S256. The
   * client refuses metadata that has this list without S256. Default: false.
   *
   * Lost protection: if the authorization server ignores PKCE, somebody who steals a code can exchange the code for tokens.
   */
  readonly unannouncedPkce?: boolean | undefined
  /**
   * The URLs of the MCP servers to which the client may send tokens of this authorization server. When another MCP server names this
   * authorization server, requests to that MCP server fail and the client does not ask the user. Default: each MCP server that names this
   * authorization server.
   */
  readonly servers?: ReadonlyArray<string> | undefined
  /**
   * Checks whether a new access token is for the MCP server at a URL, so that the client may send the token there. The function can read
   * the `aud` of the token, or ask the provider. Default: the token is not checked, because the parameter `resource` has already named the
   * MCP server.
   */
  readonly isTokenFor?:
    | ((token: Redacted.Redacted<string>, server: URL) => Effect.Effect<boolean, unknown>)
    | undefined
  /**
   * Whether the client leaves out the parameter `resource`. The layer dies when this is `true` without `servers` or `isTokenFor`. Default:
   * false.
   *
   * Lost protection: a token is no longer valid for only one MCP server. An MCP server that gets the token can use the token everywhere the
   * provider accepts it, and the MCP server chooses the scopes of the token.
   */
  readonly withoutResource?: boolean | undefined
  /**
   * Converts a successful answer of the token endpoint to the members of RFC 6749, section 5.1. The client then checks these members as in
   * every answer. `Providers.slack` is an example. Default: the client reads these members from the answer.
   *
   * Lost protection: if the function adds a `token_type`, the authorization server no longer decides how the client sends the token.
   */
  readonly readTokens?:
    | ((answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined
  /**
   * Further parameters of the authorization request. When the option `parameters` of `AuthorizationCode` has a parameter with the same
   * name, the client sends the value of that option. Default: none.
   */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}
