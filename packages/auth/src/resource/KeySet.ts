/**
 * The public keys of one issuer, from its JSON Web Key Set: which of them may have signed a token, and the cache of the set.
 * Symmetric keys and keys for encryption are never used.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7517
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type * as Jose from "jose"
import { AuthorizationError } from "../AuthorizationError.js"
import type { Documents } from "../discovery/Documents.js"
import * as Document from "../discovery/Documents.js"
import * as ServerMetadata from "../discovery/ServerMetadata.js"
import * as Text from "../discovery/Text.js"
import type { Refreshed } from "./Refreshed.js"
import * as Cache from "./Refreshed.js"

export type Keys = ReadonlyArray<Jose.JWK>

/** See the options of `JwtVerifier`. */
export interface Options {
  readonly keySets?: Readonly<Record<string, string>> | undefined
  readonly keys?: Readonly<Record<string, ReadonlyArray<unknown>>> | undefined
  readonly keysMaxAge?: Duration.DurationInput | undefined
  readonly keysStaleFor?: Duration.DurationInput | undefined
  readonly refreshInterval?: Duration.DurationInput | undefined
}

/** How many keys of a set are used. */
const MAX_KEYS = 100

/** How many keys a token without a key id is verified with. */
const MAX_TRIES = 8

/** Only what is public, so that a key set that holds a private key does no harm here. */
const MEMBERS = ["kty", "kid", "use", "alg", "key_ops", "crv", "x", "y", "n", "e"] as const

export const keysOf = (keys: ReadonlyArray<unknown>): Keys =>
  keys.slice(0, MAX_KEYS).flatMap((key) =>
    Predicate.isRecord(key) && (key["kty"] === "RSA" || key["kty"] === "EC" || key["kty"] === "OKP")
      ? [Object.fromEntries(MEMBERS.flatMap((name) => key[name] === undefined ? [] : [[name, key[name]]])) as Jose.JWK]
      : []
  )

/** The keys that may have made a signature with this header. */
export const candidates = (keys: Keys, algorithm: string, keyId: string | undefined): Keys =>
  keys.filter(({ alg, crv, key_ops, kid, kty, use }) =>
    kty === typeOf(algorithm) && (alg === undefined || alg === algorithm) && (keyId === undefined || kid === keyId) &&
    (use === undefined || use === "sig") && (!Array.isArray(key_ops) || key_ops.includes("verify")) &&
    (CURVES[algorithm] === undefined || crv === CURVES[algorithm])
  ).slice(0, MAX_TRIES)

const typeOf = (algorithm: string): string => /^[RP]S/.test(algorithm) ? "RSA" : /^ES/.test(algorithm) ? "EC" : "OKP"

const CURVES: Readonly<Record<string, string>> = {
  ES256: "P-256",
  ES384: "P-384",
  ES512: "P-521",
  EdDSA: "Ed25519",
  Ed25519: "Ed25519"
}

/** The keys of an issuer. */
export const make = (
  issuer: string,
  documents: Documents,
  options: Options,
  scope: Scope.Scope
): Refreshed<Keys> => {
  const given = options.keys?.[issuer]
  if (given !== undefined) {
    const keys = keysOf(given)
    return { get: Effect.succeed(keys), newer: () => Effect.succeed(undefined), isFresh: () => true }
  }
  return Cache.make({
    what: `the key set of ${Text.shorten(issuer)}`,
    request: request(issuer, documents, options.keySets?.[issuer]),
    isSame: (before, after) => JSON.stringify(before) === JSON.stringify(after),
    timeout: documents.timeout,
    maxAge: options.keysMaxAge ?? "10 minutes",
    staleFor: options.keysStaleFor ?? "1 hour",
    interval: options.refreshInterval ?? "30 seconds"
  }, scope)
}

const request = Effect.fnUntraced(function*(issuer: string, documents: Documents, address: string | undefined) {
  const named = address ?? (yield* ServerMetadata.document(documents, issuer))["jwks_uri"]
  if (typeof named !== "string") return yield* invalid(`The metadata of ${Text.shorten(issuer)} names no key set`)
  // The application has chosen an address that it gives, as it has chosen the issuer.
  const policy = address === undefined || !URL.canParse(address)
    ? documents.policy
    : { ...documents.policy, server: new URL(address) }
  const json = yield* Document.find({ ...documents, policy }, "the key set", named)
  const keys = Array.isArray(json?.["keys"]) ? keysOf(json["keys"]) : []
  return keys.length > 0 ? keys : yield* invalid(`The key set of ${Text.shorten(issuer)} has no key`)
})

const invalid = (message: string) => Effect.fail(new AuthorizationError({ reason: "InvalidMetadata", message }))
