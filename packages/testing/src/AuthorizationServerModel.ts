/**
 * The types of `TestAuthorizationServer`: the options of this server, and the values that it receives, records and issues. This module has
 * no functions.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** @category models */
export interface Options {
  /** The URL of the server: an origin, or an origin with a path that does not end with a slash. Default: "https://auth.test". */
  readonly issuer?: string | undefined
  /** The clients that are registered before the test. Default: none. */
  readonly clients?: ReadonlyArray<RegisteredClient> | undefined
  /** Whether clients may register themselves. Default: true. */
  readonly dynamicRegistration?: boolean | undefined
  /**
   * Fetches the metadata document of a client whose id is the URL of this document. Without this function, the server does not accept such
   * clients, and its own metadata says so.
   */
  readonly clientDocument?: ((url: string) => Effect.Effect<unknown, unknown>) | undefined
  /** The scopes that the server supports and publishes. The server refuses other scopes with `invalid_scope`. Default: any scope. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The decision of the user about an authorization request. Default: the user "ada" grants all scopes that the client requests. */
  readonly consent?: ((request: AuthorizationRequest) => Consent | Effect.Effect<Consent>) | undefined
  /**
   * The kind of access tokens. With `jwt`, a protected server verifies JWTs (RFC 9068) with the published keys. With `opaque`, a protected
   * server asks the introspection endpoint about each token. Default: "jwt".
   */
  readonly accessTokens?: "jwt" | "opaque" | undefined
  /** Further claims of access tokens that are JWTs, such as `email` or `groups`. Default: none. */
  readonly claims?: ((token: AccessToken) => Readonly<Record<string, unknown>>) | undefined
  /** How long an access token is valid. Default: 1 hour. */
  readonly lifetime?: Duration.DurationInput | undefined
  /**
   * The kind of refresh tokens. `rotating`: each refresh token can be used only one time, and a second use revokes all tokens of the login.
   * `fixed`: a refresh token can be used many times. `none`: the server issues no refresh tokens. Default: "rotating".
   */
  readonly refreshTokens?: "rotating" | "fixed" | "none" | undefined
  /** The algorithm of the signatures. Default: "ES256". */
  readonly algorithm?: "ES256" | "RS256" | "EdDSA" | undefined
  /**
   * The rules for DPoP. With `isRequired`, the server issues tokens only to clients that send a proof. With `nonces`, a proof needs a nonce
   * of this server. A nonce is valid for 5 minutes. Default: both are false.
   */
  readonly dpop?: { readonly isRequired?: boolean | undefined; readonly nonces?: boolean | undefined } | undefined
  /**
   * The issuers whose assertions (signed tokens about a user or a workload) the server accepts. An issuer may be the identity provider of
   * an enterprise, which issues ID-JAGs (Identity Assertion JWT Authorization Grants), or the platform of a workload. Another
   * `TestAuthorizationServer` can be an issuer. Default: none.
   */
  readonly trusts?: ReadonlyArray<Issuer> | undefined
  /** Members that replace members of the server's metadata document. The value `undefined` removes a member. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * A function that runs for each request and returns a fault for the answer. When it returns `undefined`, the server answers without a
   * fault. Default: no faults.
   */
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
  /** The secret of the client. A client without a secret and without a key is a public client. Default: no secret. */
  readonly secret?: string | undefined
  /** The public key of a client that authenticates with signatures. `TestAuthorizationServer.keyPair` makes a pair of keys. */
  readonly publicKey?: Jwk | undefined
  /** The redirect URIs of the client. The port of a loopback address may differ. Default: `TestAuthorizationServer.redirectUri`. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /**
   * The ids of this client at other authorization servers, by issuer. An ID-JAG for another server contains the id of the client at that
   * server. Default: the same id at all servers.
   */
  readonly idsElsewhere?: Readonly<Record<string, string>> | undefined
}

/**
 * The authorization request about which the user decides.
 *
 * @category models
 */
export interface AuthorizationRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: ReadonlyArray<string>
  readonly resource: string
  /** All parameters of the request. */
  readonly parameters: URLSearchParams
}

/**
 * The decision of the user. Without `error`, the user grants `scopes`, by default all scopes that the client requests. With `error`, the
 * client gets this error code, such as "access_denied".
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
  /** The user. When the client acts without a user, this is the id of the client. */
  readonly subject: string
  /** The protected server for which the token was issued: the `aud` of a JWT. */
  readonly resource: string
  readonly scopes: ReadonlyArray<string>
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt: number
  /** The thumbprint of the key to which the token is bound with DPoP; `undefined` when the token is not bound. */
  readonly thumbprint: string | undefined
  /** The client that acts for the subject after a token exchange; `undefined` otherwise. */
  readonly actor: string | undefined
}

/**
 * A request that the server has received.
 *
 * @category models
 */
export interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The fields of the form in the body; empty when the body is not a form. */
  readonly form: URLSearchParams
}

/**
 * A fault in the answer to one request. You can combine the members, for example for a late response with a wrong status.
 *
 * @category models
 */
export interface Fault {
  /** How long the server waits before it handles the request, by Effect's clock. */
  readonly delay?: Duration.DurationInput | undefined
  /** The status of a response that replaces the normal response of the server. */
  readonly status?: number | undefined
  /** A response that replaces the normal response of the server. Make a new `Response` for each request. */
  readonly response?: Response | undefined
  /** A fault in the body. `malformed`: the document ends in the middle. `endless`: the document never ends. */
  readonly body?: "malformed" | "endless" | undefined
  /** The issuer that a document or an authorization response names instead of the real issuer. */
  readonly issuer?: string | undefined
  /** Whether the connection breaks before the response. On a real HTTP server, the connection breaks after the head of the response. */
  readonly isDropped?: boolean | undefined
}

/**
 * A function that answers the requests to one origin: for example the handler of a `WebHandler`, or `handle` of another
 * `TestAuthorizationServer`. When the function fails, the client gets no response, as from a broken connection.
 *
 * @category models
 */
export type Host = (request: Request) => Effect.Effect<Response, unknown> | Promise<Response>

/**
 * The servers of a test in addition to the authorization server, by their origins, for example "https://mcp.test".
 *
 * @category models
 */
export type Hosts = Readonly<Record<string, Host>>
