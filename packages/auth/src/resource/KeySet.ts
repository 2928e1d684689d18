/**
 * The public keys of one issuer, from its JSON Web Key Set, for `JwtVerifier`. This module finds the keys that may have signed a token, and
 * caches the key set with `Refreshed`. It never uses symmetric keys or keys for encryption.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7517
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import * as Jose from "jose"
import * as Documents from "../discovery/Documents.js"
import { failure } from "../discovery/Failure.js"
import * as ServerMetadata from "../discovery/ServerMetadata.js"
import * as ServerText from "../discovery/ServerText.js"
import * as Refreshed from "./Refreshed.js"

/**
 * The usable keys of a key set, as a function of the library `jose`. The function chooses the key for the header of a token by the id,
 * type, curve, algorithm and use of each key.
 */
export type Keys = ReturnType<typeof Jose.createLocalJWKSet>

/** The options of a key set. See the options of `JwtVerifier`. */
export interface Options {
  readonly keySets?: Readonly<Record<string, string>> | undefined
  readonly keys?: Readonly<Record<string, ReadonlyArray<unknown>>> | undefined
  readonly refreshInterval?: Duration.DurationInput | undefined
}

/** How long a key set is used before it is requested again, and how much longer it is used when the requests fail, in milliseconds. */
const MAX_AGE = Duration.toMillis("10 minutes")
const STALE_FOR = Duration.toMillis("1 hour")

/** How many keys are tried for a token that fits several keys. A token can fit several keys when its header has no key id. */
const MAX_TRIES = 8

/** The members of a key that are copied. All of them are public. If a key set contains a private key, its private part is not copied. */
const MEMBERS = ["kty", "kid", "use", "alg", "key_ops", "crv", "x", "y", "n", "e"] as const

const keysOf = (keys: ReadonlyArray<unknown>): Keys =>
  Jose.createLocalJWKSet({
    keys: keys.flatMap((key) =>
      Predicate.isRecord(key) && isUsable(key) ? [Struct.pick(key, ...MEMBERS) as unknown as Jose.JWK] : []
    )
  })

/** The key type and the algorithms of each curve. */
const CURVES: ReadonlyMap<unknown, readonly [kty: string, algorithms: ReadonlyArray<unknown>]> = new Map([
  ["P-256", ["EC", ["ES256"]]],
  ["P-384", ["EC", ["ES384"]]],
  ["P-521", ["EC", ["ES512"]]],
  ["Ed25519", ["OKP", ["EdDSA", "Ed25519"]]]
])

/** The number of characters of a modulus of 2,048 bits in base64url. `jose` refuses a shorter RSA key when it verifies a signature. */
const MIN_MODULUS = 341

const isText = (value: unknown, length = 1): boolean =>
  typeof value === "string" && value.length >= length && /^[A-Za-z0-9_-]+$/.test(value)

type Key = Readonly<Record<string, unknown>>

/**
 * Whether a key can have signed a token. Other keys are left out, so that a key set without usable keys does not replace a key set with
 * usable keys.
 */
const isUsable = (key: Key): boolean => {
  const { key_ops: operations, kty, use } = key
  const isForSignatures = (use === undefined || use === "sig") &&
    !(Array.isArray(operations) && !operations.includes("verify"))
  return isForSignatures && (kty === "RSA" ? isUsableRsa(key) : isUsableOnCurve(key))
}

const isUsableRsa = ({ alg, e, n }: Key): boolean =>
  isText(n, MIN_MODULUS) && isText(e) && (alg === undefined || /^[RP]S(256|384|512)$/.test(String(alg)))

const isUsableOnCurve = ({ alg, crv, kty, x, y }: Key): boolean => {
  const curve = CURVES.get(crv)
  return curve !== undefined && curve[0] === kty && isText(x, 42) && (kty === "OKP" || isText(y, 42)) &&
    (alg === undefined || curve[1].includes(alg))
}

/** Whether one of the keys has signed the token; `undefined` when no key fits the header of the token. */
export const isSigned = (keys: Keys, token: string): Effect.Effect<boolean | undefined> =>
  Effect.catchAll(
    Effect.as(Effect.tryPromise({ try: () => Jose.compactVerify(token, keys), catch: identity }), true),
    (error) =>
      error instanceof Jose.errors.JWKSMultipleMatchingKeys
        ? Stream.fromAsyncIterable(error, identity).pipe(
          Stream.take(MAX_TRIES),
          Stream.filterEffect((key) => Effect.isSuccess(Effect.tryPromise(() => Jose.compactVerify(token, key)))),
          Stream.runHead,
          Effect.match({ onFailure: () => false, onSuccess: Option.isSome })
        )
        : Effect.succeed(error instanceof Jose.errors.JWKSNoMatchingKey ? undefined : false)
  )

/** Makes the keys of an issuer. These are the keys in the option `keys`, which never change, or the key set that the issuer publishes. */
export const make = (
  issuer: string,
  documents: Documents.Documents,
  options: Options,
  scope: Scope.Scope
): Refreshed.Refreshed<Keys> => {
  const given = options.keys?.[issuer]
  if (given !== undefined) {
    const keys = keysOf(given)
    return { get: Effect.succeed(keys), newer: () => Effect.succeed(undefined), isFresh: () => true }
  }
  return Refreshed.make({
    what: `the key set of ${ServerText.shorten(issuer)}`,
    request: request(issuer, documents, options.keySets?.[issuer]),
    isSame: (before, after) => JSON.stringify(before.jwks()) === JSON.stringify(after.jwks()),
    timeout: documents.timeout,
    maxAge: MAX_AGE,
    staleFor: STALE_FOR,
    interval: Duration.toMillis(options.refreshInterval ?? "30 seconds")
  }, scope)
}

const request = Effect.fnUntraced(
  function*(issuer: string, documents: Documents.Documents, address: string | undefined) {
    const named = address ?? (yield* ServerMetadata.document(documents, issuer))["jwks_uri"]
    if (typeof named !== "string") {
      return yield* invalid(`The metadata of ${ServerText.shorten(issuer)} names no key set`)
    }
    const json = yield* Documents.find(Documents.at(documents, address), "the key set", named)
    const keys = keysOf(Array.isArray(json?.["keys"]) ? json["keys"] : [])
    return keys.jwks().keys.length > 0
      ? keys
      : yield* invalid(`The key set of ${ServerText.shorten(issuer)} has no key that can sign a token`)
  }
)

const invalid = (message: string) => failure("InvalidMetadata", message)
