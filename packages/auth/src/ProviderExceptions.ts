/**
 * Exceptions of the application for one authorization server that deviates from the rules. Each member names one deviation; its comment
 * says which protection is given up. `Authorization.layer` takes a list of exceptions as its option `exceptions`. Only code can do this: no
 * server and no configuration file can add an exception. `Providers` has the exceptions for known providers. `discovery/Exceptions` finds
 * and checks exceptions; `ServerMetadata`, `AuthorizationCode` and `TokenEndpoint` follow them.
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
 * The exceptions for one authorization server. For each member that is left out, the normal rule holds.
 *
 * @category models
 */
export interface ProviderExceptions {
  /**
   * The exact text that the metadata of the authorization server has as `issuer`. Stored credentials have this text in their key, and
   * clients that were registered by hand name it as `issuer`.
   */
  readonly issuer: string
  /**
   * The exact text that MCP servers name instead of the issuer. The client looks for the metadata at the well-known addresses of this URL,
   * and the metadata may name either text. For an MCP server without metadata of its resource, this text is the origin of the MCP server.
   * Default: the issuer.
   *
   * What is lost: another host than the issuer can describe the issuer. The host of this URL gets the credentials that the client has for
   * the issuer, including the secret.
   */
  readonly namedAs?: string | undefined
  /**
   * The exact text that authorization responses have as `iss`. Default: the `issuer` in the metadata.
   *
   * Gives up: the protection of RFC 9207 against a mix-up with another authorization server that has this text as its issuer. The layer
   * dies when this client also uses that other server.
   */
  readonly responseIssuer?: string | undefined
  /**
   * The URL of the metadata, when the metadata is not at a well-known address. Gives up nothing, because the metadata must name the issuer.
   */
  readonly metadataUrl?: string | undefined
  /**
   * The endpoints, when the authorization server publishes no metadata. The URLs are checked like URLs in metadata. Default: the client
   * requests the metadata.
   *
   * What is lost: the authorization server can no longer move its endpoints, or say what it supports.
   */
  readonly endpoints?: Endpoints | undefined
  /**
   * Whether the client logs in although the metadata has no `code_challenge_methods_supported`. The client still uses PKCE with S256. It
   * refuses metadata that has this list without S256. Default: false.
   *
   * Gives up: PKCE at an authorization server that ignores it. There somebody who steals a code can exchange it for tokens.
   */
  readonly unannouncedPkce?: boolean | undefined
  /**
   * The URLs of the MCP servers that may get tokens of this authorization server. When another MCP server names this authorization server,
   * its requests fail and the user is not asked. Default: each MCP server that names this authorization server.
   */
  readonly servers?: ReadonlyArray<string> | undefined
  /**
   * Whether a new access token is for the MCP server at a URL and may be sent there. The function can read the `aud` of the token, or ask
   * the provider. Default: the token is not checked, because the parameter `resource` has said what it is for.
   */
  readonly isTokenFor?:
    | ((token: Redacted.Redacted<string>, server: URL) => Effect.Effect<boolean, unknown>)
    | undefined
  /**
   * Whether the client leaves out the parameter `resource`. The layer dies when this is `true` without `servers` or `isTokenFor`. Default:
   * false.
   *
   * What is lost: a token is no longer valid for one MCP server only. An MCP server that gets the token can use it everywhere the provider
   * accepts it, and the MCP server names the scopes of the token.
   */
  readonly withoutResource?: boolean | undefined
  /**
   * Converts a successful answer of the token endpoint to the members of RFC 6749, section 5.1. The client then checks these members as in
   * every answer. `Providers.slack` is an example. Default: the answer has these members itself.
   *
   * Gives up: when the function invents a `token_type`, that the authorization server says how the token is sent.
   */
  readonly readTokens?:
    | ((answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined
  /**
   * Further parameters of the authorization request. When the option `parameters` of `AuthorizationCode` has the same name, the value of
   * that option is sent. Default: none.
   */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}
