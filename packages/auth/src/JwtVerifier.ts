/**
 * Verifies access tokens that are JWTs, with the public keys of their issuer. `resource/KeySet` caches the keys, and requests the keys
 * again when the issuer has new keys.
 *
 * Pass this verifier to `ResourceServer` as the option `verify`. Before the signature is verified, the verifier uses the content of a token
 * only to choose a trusted issuer and a key of this issuer. The algorithm of the signature must be in the option `algorithms`, and must fit
 * the type of the key.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068
 * @see https://www.rfc-editor.org/rfc/rfc8725
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import * as Documents from "./discovery/Documents.js"
import * as KeySet from "./resource/KeySet.js"
import type { Refreshed } from "./resource/Refreshed.js"
import * as TokenVerifier from "./TokenVerifier.js"

/**
 * The algorithms that this verifier supports. All of them verify a signature with a public key.
 *
 * @category constants
 */
export const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519"
] as const

/** @category models */
export type Algorithm = typeof algorithms[number]

/** @category models */
export interface Options extends TokenVerifier.RequestOptions {
  /** The URLs of key sets, by issuer. Default: the `jwks_uri` in the metadata of the issuer. */
  readonly keySets?: Readonly<Record<string, string>> | undefined
  /**
   * Public keys as JSON Web Keys, by issuer. For an issuer in this option, the verifier sends no requests. Default: the verifier requests
   * the keys.
   */
  readonly keys?: Readonly<Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>>> | undefined
  /** The algorithms that a signature may have. Default: all of them. */
  readonly algorithms?: ReadonlyArray<Algorithm> | undefined
  /**
   * Whether a token must have the type `at+jwt` of RFC 9068. With `false`, a token may also have the type `JWT` or no type. Default: false.
   */
  readonly requireType?: boolean | undefined
  /**
   * The shortest time between two requests for the key set that the same unknown key causes. A token with an unknown key causes such a
   * request, because the issuer may have a new key. Within this time, up to four different unknown keys may each cause a request, so the
   * verifier finds a new key even if a client invents a few keys. Default: 30 seconds.
   */
  readonly refreshInterval?: Duration.DurationInput | undefined
}

/**
 * Makes a verifier for the option `verify` of `ResourceServer.make`. The server dies at its start when the option `algorithms` names an
 * algorithm that this verifier does not support. An example is HS256, with which everybody who has the shared secret could issue tokens.
 *
 * @category constructors
 */
export const make = (options: Options = {}): TokenVerifier.TokenVerifier<HttpClient.HttpClient> =>
  TokenVerifier.scoped(Effect.fnUntraced(function*({ issuers }) {
    const allowed = options.algorithms ?? algorithms
    const other = allowed.find((one) => !algorithms.includes(one))
    if (other !== undefined) {
      return yield* Effect.dieMessage(
        `JwtVerifier does not support the algorithm ${String(other)}: it supports ${algorithms.join(", ")}`
      )
    }
    const client = yield* HttpClient.HttpClient
    const scope = yield* Effect.scope
    const keySets = new Map<string, Refreshed<KeySet.Keys>>()
    for (const issuer of issuers) {
      const documents = yield* Documents.ofIssuer(client, issuer, options)
      keySets.set(issuer, KeySet.make(issuer, documents, options, scope))
    }

    return Effect.fnUntraced(function*(redacted) {
      const token = Redacted.value(redacted)
      const unverified = yield* read(token)
      const { claims, header: { alg, typ } } = unverified
      const { iss: issuer } = claims
      const keySet = issuer === undefined ? undefined : keySets.get(issuer)
      if (issuer === undefined || keySet === undefined) {
        return yield* TokenVerifier.invalid("The access token is from an issuer that this server does not trust")
      }
      if (!isType(typ, options.requireType === true)) {
        return yield* TokenVerifier.invalid("The JWT is not an access token")
      }
      if (alg === undefined || !allowed.some((one) => one === alg)) {
        return yield* TokenVerifier.invalid(
          "The access token is signed with an algorithm that this server does not allow"
        )
      }
      // RFC 9068 requires `exp`.
      if (typeof claims.exp !== "number") {
        return yield* TokenVerifier.invalid("The access token does not say when it expires")
      }
      const keys = yield* Effect.catchAll(keySet.get, () => TokenVerifier.unavailable)
      const first = yield* KeySet.isSigned(keys, token)
      // An invalid signature does not cause a new request for the keys, because every client can make an invalid signature.
      const newer = first === undefined
        ? yield* Effect.catchAll(keySet.newer(keys, `${alg} ${unverified.header.kid}`), () => TokenVerifier.unavailable)
        : undefined
      const isSigned = newer === undefined ? first : yield* KeySet.isSigned(newer, token)
      return isSigned === true
        ? { issuer, claims, isCurrent: (millis) => keySet.isFresh(newer ?? keys, millis) }
        : yield* TokenVerifier.invalid("The signature of the access token is not valid")
    })
  }))

interface Unverified {
  readonly header: Jose.ProtectedHeaderParameters
  readonly claims: Jose.JWTPayload
}

const read = (token: string): Effect.Effect<Unverified, TokenVerifier.TokenError> => {
  const unverified = Either.try(() => ({ header: Jose.decodeProtectedHeader(token), claims: Jose.decodeJwt(token) }))
  if (Either.isLeft(unverified)) return TokenVerifier.invalid("The access token is not a JWT")
  const { crit, kid } = unverified.right.header
  return crit === undefined && (kid === undefined || typeof kid === "string")
    ? Effect.succeed(unverified.right)
    : TokenVerifier.invalid("The header of the access token has extensions that this server does not support")
}

const isType = (typ: unknown, required: boolean): boolean => {
  const name = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ
  return name === "at+jwt" || (!required && (name === undefined || name === "jwt"))
}
