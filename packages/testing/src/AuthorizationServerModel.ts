/**
 * What a `TestAuthorizationServer` is told, and the values that it gets, records and issues. The module has types
 * only; `TestAuthorizationServer` makes the server.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** @category models */
export interface Options {
  /** The address of the server: an origin, or an origin with a path and no slash at its end. Default: "https://auth.test". */
  readonly issuer?: string | undefined
  /** The clients that are registered before the test. */
  readonly clients?: ReadonlyArray<RegisteredClient> | undefined
  /** Whether clients may register themselves. Default: true. */
  readonly dynamicRegistration?: boolean | undefined
  /**
   * Fetches the metadata document of a client whose id is the URL of a document. Default: the server accepts no such client, and its
   * metadata says so.
   */
  readonly clientDocument?: ((url: string) => Effect.Effect<unknown, unknown>) | undefined
  /** The scopes that the server knows and publishes; it refuses others with `invalid_scope`. Default: any scope. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The decision of the user on the page of the server. Default: Ada grants all scopes that the client requests. */
  readonly consent?: ((request: AuthorizationRequest) => Consent | Effect.Effect<Consent>) | undefined
  /**
   * The kind of access tokens. `jwt`: a protected server verifies JWTs (RFC 9068) with the published keys. `opaque`: it asks the
   * introspection endpoint about a token. Default: "jwt".
   */
  readonly accessTokens?: "jwt" | "opaque" | undefined
  /** Further claims of access tokens that are JWTs, such as `email` or `groups`. */
  readonly claims?: ((token: AccessToken) => Readonly<Record<string, unknown>>) | undefined
  /** The life of an access token. Default: 1 hour. */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * `rotating`: each refresh token is valid for one use, and a second use revokes all tokens of the login. `fixed`: a refresh token
   * stays valid. `none`: the server issues no refresh tokens. Default: "rotating".
   */
  readonly refreshTokens?: "rotating" | "fixed" | "none" | undefined
  /** The algorithm of the signatures. Default: "ES256". */
  readonly algorithm?: "ES256" | "RS256" | "EdDSA" | undefined
  /**
   * `isRequired`: the server issues tokens only to clients that prove a key. `nonces`: a proof needs a nonce of this server, which is
   * valid for 5 minutes.
   */
  readonly dpop?: { readonly isRequired?: boolean | undefined; readonly nonces?: boolean | undefined } | undefined
  /**
   * The issuers whose assertions the server accepts: the identity provider of an enterprise that issues ID-JAGs, or the platform of a
   * workload. Another `TestAuthorizationServer` can be an issuer.
   */
  readonly trusts?: ReadonlyArray<Issuer> | undefined
  /** Members that replace members of the metadata document; `undefined` removes a member. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Runs for each request, and gives what goes wrong with the request; `undefined` answers as usual. */
  readonly fault?: ((request: Received) => Fault | undefined | Effect.Effect<Fault | undefined>) | undefined
}

/**
 * A key as JSON.
 *
 * @category models
 */
export type Jwk = Readonly<Record<string, unknown>>

/**
 * An issuer of signed tokens, and its public keys.
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
  /** A client with neither a secret nor a key is public. Default: no secret. */
  readonly secret?: string | undefined
  /** The public key of a client that authenticates with signatures; `keyPair` makes one. */
  readonly publicKey?: Jwk | undefined
  /** The port of a loopback address may differ. Default: `redirectUri`. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /** The ids of this client at other authorization servers, by issuer, for ID-JAGs. Default: the same id. */
  readonly idsElsewhere?: Readonly<Record<string, string>> | undefined
}

/**
 * The request for authorization that the page of the server shows the user.
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
 * The decision of the user. The user grants `scopes`, by default all that the client requests; or the client gets `error`, such as
 * "access_denied".
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
  /** The user; the client itself, where it acts for no user. */
  readonly subject: string
  /** The protected server that the token is for: the `aud` of a JWT. */
  readonly resource: string
  readonly scopes: ReadonlyArray<string>
  /** In milliseconds. */
  readonly expiresAt: number
  /** The thumbprint of the key that the token is bound to with DPoP. */
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
 * A fault of the server in one request. Members can be combined, for example to a late response with a wrong status.
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
  /** `malformed`: the document ends in the middle. `endless`: the document does not end. */
  readonly body?: "malformed" | "endless" | undefined
  /** The issuer that a document or an authorization response names. */
  readonly issuer?: string | undefined
  /** The connection breaks before the response; on a real HTTP server, after the head of the response. */
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
