/**
 * Binds tokens to a key of this client (DPoP). Nobody can use a stolen token without the key. Pass a `Dpop` to `Authorization.layer` as the
 * option `dpop`. Tokens are bound only when the authorization server supports DPoP. `resource/DpopProofs` of a resource server checks the
 * proofs.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import type { AuthorizationError } from "./AuthorizationError.js"
import * as Sha256 from "./digest/Sha256.js"
import { failure } from "./discovery/Failure.js"

/**
 * Makes the proofs for one key. A proof shows that the sender of a token has the key to which the token is bound.
 *
 * @category models
 */
export interface Prover {
  /** The private key as JWK. The `CredentialStore` stores the key with the binding of the MCP server. */
  readonly key: Redacted.Redacted<string>
  /**
   * Returns the headers with the proof for one request. `accessToken` is the token that the request sends, or `undefined` for a request to
   * the token endpoint.
   */
  readonly headers: (
    method: string,
    url: string,
    accessToken: Redacted.Redacted<string> | undefined
  ) => Effect.Effect<Readonly<Record<string, string>>, AuthorizationError>
  /**
   * Reads the nonce from the headers of a response, and stores it for the next proofs. `proof` is the proof in the request that the server
   * has answered. Returns `true` when the new nonce differs from the nonce of this proof.
   */
  readonly keepNonce: (url: string, headers: Readonly<Record<string, string>>, proof: string | undefined) => boolean
}

/**
 * Makes provers. `es256` is the implementation of this package.
 *
 * @category models
 */
export interface Dpop {
  /** Makes the prover of a stored key. With `undefined`, makes a new key. */
  readonly prover: (key: Redacted.Redacted<string> | undefined) => Effect.Effect<Prover, AuthorizationError>
}

/**
 * A `Dpop` with keys on the curve P-256. Every authorization server with DPoP supports this curve.
 *
 * @category utils
 */
export const es256: Dpop = {
  prover: (key) =>
    attempt(() =>
      (key === undefined ? generate() : Promise.resolve(JSON.parse(Redacted.value(key)) as Jose.JWK)).then((jwk) =>
        Jose.importJWK(jwk, ALGORITHM).then((signer) => make(jwk, signer))
      )
    )
}

const ALGORITHM = "ES256"

/** The largest number of origins for which a nonce is stored. A client needs only two: the authorization server and the MCP server. */
const MAX_NONCES = 16

const generate = (): Promise<Jose.JWK> =>
  Jose.generateKeyPair(ALGORITHM, { extractable: true }).then(({ privateKey }) => Jose.exportJWK(privateKey))

const make = (jwk: Jose.JWK, signer: Jose.CryptoKey | Uint8Array): Prover => {
  const nonces = new Map<string, string>()
  const { crv, kty, x, y } = jwk
  const header = { typ: "dpop+jwt", alg: ALGORITHM, jwk: { kty, crv, x, y } as Jose.JWK }
  return {
    key: Redacted.make(JSON.stringify(jwk)),
    headers: (method, url, accessToken) =>
      Effect.gen(function*() {
        const millis = yield* Clock.currentTimeMillis
        const hash = accessToken === undefined
          ? undefined
          : { ath: yield* Sha256.base64Url(Redacted.value(accessToken)) }
        const { origin, pathname } = new URL(url)
        const nonce = nonces.get(origin)
        return yield* attempt(() =>
          new Jose.SignJWT({
            jti: crypto.randomUUID(),
            htm: method,
            htu: `${origin}${pathname}`,
            ...(nonce === undefined ? undefined : { nonce }),
            ...hash
          }).setProtectedHeader(header).setIssuedAt(Math.floor(millis / 1000)).sign(signer).then((dpop) => ({ dpop }))
        )
      }),
    keepNonce: (url, headers, proof) => {
      const nonce = headers["dpop-nonce"]
      const { origin } = new URL(url)
      if (nonce === undefined || nonce.length > 1024) return false
      nonces.delete(origin)
      nonces.set(origin, nonce)
      if (nonces.size > MAX_NONCES) nonces.delete(nonces.keys().next().value!)
      // The new nonce is compared with the nonce of the proof, because another request may already have stored the new nonce.
      return nonceOf(proof) !== nonce
    }
  }
}

const nonceOf = (proof: string | undefined): unknown =>
  proof === undefined
    ? undefined
    : Either.getOrUndefined(Either.try(() => Jose.decodeJwt(proof)))?.["nonce"]

/** Runs a function of the cryptographic library. Leaves out the error of the library, because the error may quote a key. */
const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, AuthorizationError> =>
  Effect.tryPromise({
    try: run,
    catch: () => failure("Signing", "A proof for DPoP could not be signed")
  })
