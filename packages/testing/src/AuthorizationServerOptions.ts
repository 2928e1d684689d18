/**
 * What a test can choose of a `TestAuthorizationServer`, and the values that the server records and issues. It has types only:
 * `TestAuthorizationServer` makes the server.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** @category models */
export interface Options {
  /** Where the server is: an origin, or an origin with a path and no slash at its end. Default: "https://auth.test". */
  readonly issuer?: string | undefined
  /** The clients that are registered before the test. */
  readonly clients?: ReadonlyArray<RegisteredClient> | undefined
  /** Whether clients may register themselves. Default: true. */
  readonly dynamicRegistration?: boolean | undefined
  /**
   * Fetches the metadata document of a client whose id is the URL of a document. Default: the server takes no such client, and
   * says so in its metadata.
   */
  readonly clientDocument?: ((url: string) => Effect.Effect<unknown, unknown>) | undefined
  /** The scopes that it knows and publishes; others are refused with `invalid_scope`. Default: any scope. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** What the user decides on the page of the server. Default: Ada grants all scopes that the client requests. */
  readonly consent?: ((request: AuthorizationRequest) => Consent | Effect.Effect<Consent>) | undefined
  /**
   * What access tokens are: JWTs by RFC 9068, which a protected server verifies with the published keys, or texts that it asks
   * the introspection endpoint about. Default: "jwt".
   */
  readonly accessTokens?: "jwt" | "opaque" | undefined
  /** Further claims of access tokens that are JWTs, such as `email` or `groups`. */
  readonly claims?: ((token: AccessToken) => Readonly<Record<string, unknown>>) | undefined
  /** The life of an access token. Default: 1 hour. */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * `rotating`: each refresh token is good for one use, and a second use revokes all tokens of that login. `fixed`: a refresh
   * token stays good. `none`: there are none. Default: "rotating".
   */
  readonly refreshTokens?: "rotating" | "fixed" | "none" | undefined
  /** The algorithm of the signatures. Default: "ES256". */
  readonly algorithm?: "ES256" | "RS256" | "EdDSA" | undefined
  /** `isRequired`: tokens are issued to clients that prove a key only. `nonces`: proofs need a nonce of this server, for 5 minutes. */
  readonly dpop?: { readonly isRequired?: boolean | undefined; readonly nonces?: boolean | undefined } | undefined
  /**
   * Whose signatures it takes: the identity provider of an enterprise that issues ID-JAGs, or the platform of a workload.
   * Another `TestAuthorizationServer` can be one.
   */
  readonly trusts?: ReadonlyArray<Issuer> | undefined
  /** Members of the metadata document in place of the usual ones; `undefined` leaves one out. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What goes wrong with a request. It runs for each request; `undefined` answers as usual. */
  readonly fault?: ((request: Received) => Fault | undefined | Effect.Effect<Fault | undefined>) | undefined
}

/**
 * A key as JSON.
 *
 * @category models
 */
export type Jwk = Readonly<Record<string, unknown>>

/**
 * A signer of tokens, and its public keys.
 *
 * @category models
 */
export interface Issuer {
  readonly issuer: string
  readonly keys: Effect.Effect<{ readonly keys: ReadonlyArray<Jwk> }>
}

/** @category models */
export interface RegisteredClient {
  readonly clientId: string
  /** Default: none. A client with neither a secret nor a key is public. */
  readonly secret?: string | undefined
  /** The public key of a client that authenticates with signatures; `keyPair` makes one. */
  readonly publicKey?: Jwk | undefined
  /** Default: `redirectUri`. The port of a loopback address may differ. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /** The ids of this client at other authorization servers, by issuer, for ID-JAGs. Default: the same id. */
  readonly idsElsewhere?: Readonly<Record<string, string>> | undefined
}

/**
 * What the page of the server shows the user.
 *
 * @category models
 */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: ReadonlyArray<string>
  readonly resource: string
  /** All parameters. */
  readonly parameters: URLSearchParams
}

/**
 * The user grants `scopes`, or those that were requested; or the client gets `error`, such as "access_denied".
 *
 * @category models
 */
export interface Consent {
  /** The `sub` of the tokens. Default: "ada". */
  readonly subject?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly error?: string | undefined
}

/** @category models */
export interface AccessToken {
  readonly clientId: string
  /** The user, or the client where it acts for itself. */
  readonly subject: string
  /** The protected server that it is for: the `aud` of a JWT. */
  readonly resource: string
  readonly scopes: ReadonlyArray<string>
  /** In milliseconds. */
  readonly expiresAt: number
  /** The thumbprint of the key that it is bound to with DPoP. */
  readonly thumbprint: string | undefined
  /** The client that acts for the subject, after an exchange of tokens. */
  readonly actor: string | undefined
}

/**
 * A request that the server got.
 *
 * @category models
 */
export interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The fields of a form. */
  readonly form: URLSearchParams
}

/**
 * What goes wrong with one request. Members can be combined: a late response with a wrong status.
 *
 * @category models
 */
export interface Fault {
  /** How long the server waits before it does anything, by Effect's clock. */
  readonly delay?: Duration.DurationInput | undefined
  /** The status of a response that comes in place of the server's own. */
  readonly status?: number | undefined
  /** Any other response in place of the server's own, a new one for each request. */
  readonly response?: Response | undefined
  /** `malformed`: the document ends in the middle. `endless`: it does not end. */
  readonly body?: "malformed" | "endless" | undefined
  /** The issuer that a document or an authorization response names. */
  readonly issuer?: string | undefined
  /** The connection breaks before a response; on a real HTTP server, after its head. */
  readonly isDropped?: boolean | undefined
}

/**
 * Answers the requests to one origin: the handler of a `WebHandler`, `handle` of another server, or a function. A failure breaks
 * the connection.
 *
 * @category models
 */
export type Host = (request: Request) => Effect.Effect<Response, unknown> | Promise<Response>

/**
 * The servers that a test reaches beside the authorization server, by origin: "https://mcp.test".
 *
 * @category models
 */
export type Hosts = Readonly<Record<string, Host>>
