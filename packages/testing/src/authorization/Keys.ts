/**
 * The signing keys of the test authorization server, and the verification of JWTs of any issuer. A key is made on its first use.
 * `Endpoints` publishes the keys, `Grants` signs tokens, and `Clients` and `TokenEndpoint` verify assertions.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Jose from "jose"
import type { Issuer, Jwk } from "../AuthorizationServerModel.js"

interface Key {
  readonly id: string
  readonly signer: Jose.CryptoKey
  readonly jwk: Jwk
}

export interface Keys {
  /** Signs with the newest key. */
  readonly sign: (claims: Jose.JWTPayload, header?: Readonly<Record<string, unknown>>) => Effect.Effect<string>
  /** The keys that are published. */
  readonly published: Effect.Effect<{ readonly keys: ReadonlyArray<Jwk> }>
  /** Makes a new key for all later signatures. The server still publishes the old keys, except when `withdraw` is `true`. */
  readonly rotate: (options?: { readonly withdraw?: boolean | undefined }) => Effect.Effect<void>
}

export const make = (algorithm: string): Keys => {
  let count = 0
  let keys: Array<Promise<Key>> = []
  const add = () => keys.push(generate(algorithm, `key-${++count}`))
  const published = Effect.promise(() => {
    if (keys.length === 0) add()
    return Promise.all(keys)
  })
  return {
    sign: (claims, header) =>
      Effect.flatMap(published, (all) =>
        Effect.promise(() => {
          const { id, signer } = all.at(-1)!
          return new Jose.SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: id, ...header }).sign(signer)
        })),
    published: Effect.map(published, (all) => ({ keys: all.map(({ jwk }) => jwk) })),
    rotate: (options) =>
      Effect.sync(() => {
        if (options?.withdraw === true) keys = []
        add()
      })
  }
}

const generate = (algorithm: string, id: string): Promise<Key> =>
  Jose.generateKeyPair(algorithm).then(({ privateKey, publicKey }) =>
    Jose.exportJWK(publicKey).then((jwk) => ({
      id,
      signer: privateKey,
      jwk: { ...jwk, kid: id, alg: algorithm, use: "sig" }
    }))
  )

/** Converts the keys to the form that `jose` needs. `jose` checks the members of each key. */
const setOf = (keys: ReadonlyArray<Jwk>) => Jose.createLocalJWKSet({ keys: keys as Array<Jose.JWK> })

/** Returns the claims of a valid JWT that one of the keys has signed; `undefined` for any other token. */
export const verify = (
  token: string,
  keys: ReadonlyArray<Jwk>,
  options: Pick<Jose.JWTVerifyOptions, "audience" | "issuer" | "subject" | "typ">
): Effect.Effect<Jose.JWTVerifyResult | undefined> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.orElseSucceed(
      Effect.tryPromise(() =>
        Jose.jwtVerify(token, setOf(keys), {
          ...options,
          currentDate: new Date(now),
          requiredClaims: ["exp", "iss", "sub"]
        })
      ),
      () => undefined
    ))

/**
 * Verifies a JWT like `verify`, with the keys of the issuer that the token names. Returns `undefined` when `issuers` does not have this
 * issuer.
 */
export const verifyOf = (
  token: string,
  issuers: ReadonlyArray<Issuer>,
  audience?: string
): Effect.Effect<Jose.JWTVerifyResult | undefined> =>
  Effect.gen(function*() {
    const claims = yield* Effect.orElseSucceed(Effect.try(() => Jose.decodeJwt(token)), () => undefined)
    const issuer = issuers.find(({ issuer }) => issuer === claims?.iss)
    if (issuer === undefined) return undefined
    const { keys } = yield* issuer.keys
    return yield* verify(token, keys, { issuer: issuer.issuer, ...(audience === undefined ? {} : { audience }) })
  })
