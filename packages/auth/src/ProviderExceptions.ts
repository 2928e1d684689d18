/**
 * Exceptions of the application for one authorization server that deviates from the rules: each names one deviation, and gives up what its
 * comment says. `Authorization.layer` takes them as `exceptions`, in code only: no server and no configuration file can add one. `Providers`
 * has the exceptions of known providers. `discovery/Exceptions` finds and checks them; `ServerMetadata`, `AuthorizationCode` and
 * `TokenEndpoint` follow them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9700
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * What the metadata of an authorization server would say, if it published any.
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
 * For what is not named here, the rules hold.
 *
 * @category models
 */
export interface ProviderExceptions {
  /**
   * The exact text that the authorization server has in its metadata as `issuer`. Stored credentials have it as their key, and fixed
   * clients name it.
   */
  readonly issuer: string
  /**
   * The exact text that MCP servers name in place of the issuer: the metadata is looked for at the well-known addresses of this URL, and
   * may name either text. An MCP server without metadata of its resource is named by its origin.
   *
   * Gives up: that only the issuer can describe itself. The host of this URL gets what the client has for the issuer, its secret included.
   */
  readonly namedAs?: string | undefined
  /**
   * The exact text that authorization responses have as `iss`. Default: what the metadata has as `issuer`.
   *
   * Gives up: the protection of RFC 9207 against a mix-up with the server of that name. The layer dies when this client also uses that
   * server.
   */
  readonly responseIssuer?: string | undefined
  /** The address of the metadata, in place of the well-known addresses. Gives up nothing: the metadata must name the issuer. */
  readonly metadataUrl?: string | undefined
  /**
   * In place of published metadata; the addresses are checked like the addresses in metadata.
   *
   * Gives up: that the authorization server can move its endpoints, and say what it supports.
   */
  readonly endpoints?: Endpoints | undefined
  /**
   * Whether to log in although the metadata has no `code_challenge_methods_supported`. Default: no. S256 is sent all the same; a list
   * without S256 is refused.
   *
   * Gives up: PKCE, where the authorization server ignores it. Then a stolen code can be exchanged.
   */
  readonly unannouncedPkce?: boolean | undefined
  /**
   * The URLs of the MCP servers that get tokens of this authorization server. A request to any other MCP server that names it fails, and
   * the user is not asked. Default: each MCP server that names it.
   */
  readonly servers?: ReadonlyArray<string> | undefined
  /**
   * Whether an access token that was just issued is for the MCP server at a URL, so that it may be sent there: by its `aud`, or by a
   * request to the provider. Default: the parameter `resource` has said what the token is for.
   */
  readonly isTokenFor?:
    | ((token: Redacted.Redacted<string>, server: URL) => Effect.Effect<boolean, unknown>)
    | undefined
  /**
   * Whether to send no parameter `resource`. Default: it is sent. The layer dies without `servers` or `isTokenFor`.
   *
   * Gives up: that a token is for one MCP server. The MCP server that gets it can use it wherever the provider accepts it, and names the
   * scopes that it has.
   */
  readonly withoutResource?: boolean | undefined
  /**
   * Reads a successful answer of the token endpoint, and gives the members of RFC 6749, section 5.1, which are then checked as in every
   * answer. `Providers.slack` has an example.
   *
   * Gives up: that the type of the token says how the token is sent, where the application invents a type.
   */
  readonly readTokens?:
    | ((answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined
  /** Further parameters of the authorization request. Where `AuthorizationCode` has a parameter of the same name, its value is sent. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}
