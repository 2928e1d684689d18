/**
 * Verifies access tokens for a `ResourceServer`. `JwtVerifier` verifies the signature, `IntrospectionVerifier` asks the authorization
 * server, and `make` takes a function of the application. After each of these verifiers, `ResourceServer` checks the issuer, the audience,
 * the times and the key of the token.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/auth/TokenVerifier")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export interface TokenVerifier<out R = never> {
  readonly [TypeId]: TypeId
  /** Starts the verifier. The effect runs one time for each server, in the scope of the server. */
  readonly start: (server: Server) => Effect.Effect<Verify<R>, never, R | Scope.Scope>
}

/**
 * The server for which the verifier verifies tokens.
 *
 * @category models
 */
export interface Server {
  readonly resource: string
  /** The issuers of the authorization servers that the server trusts. */
  readonly issuers: ReadonlyArray<string>
}

/**
 * Verifies one token.
 *
 * @category models
 */
export type Verify<R = never> = (token: Redacted.Redacted<string>) => Effect.Effect<Verified, TokenError, R>

/**
 * The result for a token that its issuer has really issued. `ResourceServer` then checks whether the token is for this server and valid
 * now.
 *
 * @category models
 */
export interface Verified {
  readonly issuer: string
  /**
   * The claims, by the names of RFC 7519 and RFC 7662. Required are `aud` and one of `sub`, `client_id` and `azp`. Optional are `scope` or
   * `scp` (a text or a list of texts), `exp` and `nbf` (in seconds), and `cnf`. `ResourceServer` refuses a token that has a claim of
   * another type.
   */
  readonly claims: Readonly<Record<string, unknown>>
  /** Whether the result is still valid at a time in milliseconds since 1970. Default: the token is verified again for each request. */
  readonly isCurrent?: ((millis: number) => boolean) | undefined
}

/**
 * - `Invalid`: the token is not valid, and the client gets status 401 with the message. The message must not quote the token.
 * - `Unavailable`: it is not known whether the token is valid, and the client gets status 503.
 *
 * @category errors
 */
export class TokenError extends Data.TaggedError("TokenError")<{
  readonly reason: "Invalid" | "Unavailable"
  readonly message: string
}> {}

/**
 * Options of the requests to authorization servers, for `JwtVerifier` and `IntrospectionVerifier`.
 *
 * @category models
 */
export interface RequestOptions {
  /** How long the verifier may wait for an authorization server, including the requests for its metadata. Default: 5 seconds. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The most bytes that a response may have. Default: 256 KiB. */
  readonly maxDocumentBytes?: number | undefined
  /**
   * Hosts in private networks that the metadata of an issuer may name. Default: none. The verifier may always send requests to the host of
   * the issuer. When this host is in a private network, its metadata may also name other hosts in private networks. When this host is on
   * this machine, its metadata may also name other hosts on this machine.
   */
  readonly privateHosts?: ReadonlyArray<string> | undefined
}

/**
 * Makes a verifier that calls a function of the application.
 *
 * @category constructors
 */
export const make = <R = never>(verify: Verify<R>): TokenVerifier<R> => ({
  [TypeId]: TypeId,
  start: () => Effect.succeed(verify)
})

/**
 * Makes a verifier that each server starts separately. The caches and connections of the verifier are released with the scope of the
 * server.
 *
 * @category utils
 */
export const scoped = <R = never>(
  start: (server: Server) => Effect.Effect<Verify<Exclude<R, Scope.Scope>>, never, R>
): TokenVerifier<Exclude<R, Scope.Scope>> => ({
  [TypeId]: TypeId,
  start: start as TokenVerifier<Exclude<R, Scope.Scope>>["start"]
})

/**
 * Returns an effect that fails because the token is not valid. The client gets the message.
 *
 * @category utils
 */
export const invalid = (message: string): Effect.Effect<never, TokenError> =>
  Effect.fail(new TokenError({ reason: "Invalid", message }))

/**
 * An effect that fails because the verifier cannot find out whether the token is valid.
 *
 * @category accessors
 */
export const unavailable: Effect.Effect<never, TokenError> = Effect.fail(
  new TokenError({ reason: "Unavailable", message: "the server cannot verify access tokens at the moment" })
)
