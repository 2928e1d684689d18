/**
 * What verifies access tokens for a `ResourceServer`. The implementations verify by the signature (`JwtVerifier`), by a request to the
 * authorization server (`IntrospectionVerifier`), or by a function of the application. `ResourceServer` then checks, for all of them, the
 * issuer, the audience, the times and what the token is bound to.
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
  /** Runs once for each server, in its scope. */
  readonly start: (server: Server) => Effect.Effect<Verify<R>, never, R | Scope.Scope>
}

/**
 * The server that the tokens are for.
 *
 * @category models
 */
export interface Server {
  readonly resource: string
  /** The authorization servers that it trusts. */
  readonly issuers: ReadonlyArray<string>
}

/** @category models */
export type Verify<R = never> = (token: Redacted.Redacted<string>) => Effect.Effect<Verified, TokenError, R>

/**
 * A token that its issuer has issued. Later checks decide whether it is for this server and valid now.
 *
 * @category models
 */
export interface Verified {
  readonly issuer: string
  /**
   * By the names of RFC 7519 and RFC 7662: `aud` is required; `sub`, or `client_id` or `azp`; `scope` or `scp`, a text or a list of
   * texts; `exp` and `nbf` in seconds; `cnf`. A claim that is there and of another type is refused, never treated as absent.
   */
  readonly claims: Readonly<Record<string, unknown>>
  /** Whether the result still holds at a time in milliseconds. Default: the token is verified anew for each request. */
  readonly isCurrent?: ((millis: number) => boolean) | undefined
}

/**
 * - `Invalid`: the token is not valid, and the client gets 401 with the message, which must not quote the token.
 * - `Unavailable`: it is not known whether the token is valid, and the client gets 503.
 *
 * @category errors
 */
export class TokenError extends Data.TaggedError("TokenError")<{
  readonly reason: "Invalid" | "Unavailable"
  readonly message: string
}> {}

/**
 * How requests to authorization servers are made.
 *
 * @category models
 */
export interface RequestOptions {
  /** How long one exchange with an authorization server may take, with the discovery of its metadata. Default: 5 seconds. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The most bytes that a response may have. Default: 256 KiB. */
  readonly maxDocumentBytes?: number | undefined
  /**
   * Hosts of private networks that the metadata of an issuer may name. Default: none. The host of the issuer is always used, and where
   * that is in a private network or on this machine, it may name other hosts there.
   */
  readonly privateHosts?: ReadonlyArray<string> | undefined
}

/**
 * Tokens that a function of the application verifies.
 *
 * @category constructors
 */
export const make = <R = never>(verify: Verify<R>): TokenVerifier<R> => ({
  [TypeId]: TypeId,
  start: () => Effect.succeed(verify)
})

/**
 * Tokens that a verifier verifies which each server acquires: its caches and connections are released with the scope of the server.
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
 * Fails because the token is not valid; the client reads why.
 *
 * @category utils
 */
export const invalid = (message: string): Effect.Effect<never, TokenError> =>
  Effect.fail(new TokenError({ reason: "Invalid", message }))

/**
 * Fails because it is not known whether the token is valid.
 *
 * @category accessors
 */
export const unavailable: Effect.Effect<never, TokenError> = Effect.fail(
  new TokenError({ reason: "Unavailable", message: "the server cannot verify access tokens at the moment" })
)
