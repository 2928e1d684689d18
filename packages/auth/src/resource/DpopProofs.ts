/**
 * Checks the proofs of DPoP, for `ResourceServer`. A proof shows that the sender of a request has the key to which the token is bound. A
 * proof is for one request, one token and a short time, and is accepted only one time. Therefore this module stores each used proof until
 * the proof is too old. If the service `SharedLimits` is provided, the module stores the proofs there for all nodes, otherwise in this
 * process. `Challenges` makes the answer to a refused proof.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3
 */
import type { SharedLimitsService } from "@effect-mcp/core/SharedLimits"
import * as StoreFailure from "@effect-mcp/core/unstable/server/StoreFailure"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Jose from "jose"
import * as Sha256 from "../digest/Sha256.js"
import * as ResourceMetadata from "../discovery/ResourceMetadata.js"

/** The options of the checks. See `DpopOptions` of `ResourceServer`. */
export interface Options {
  readonly maxAge?: Duration.DurationInput | undefined
  readonly maxProofs?: number | undefined
  readonly nonce?: Duration.DurationInput | undefined
}

/** The reason why a proof is refused. */
export class ProofError extends Data.TaggedError("ProofError")<{
  readonly error: "invalid_dpop_proof" | "use_dpop_nonce" | "busy"
  readonly message: string
  /** The nonce that the next proof must have. */
  readonly nonce?: string | undefined
}> {}

/** The request for which a proof must be made. */
export interface Request {
  readonly proof: string | undefined
  readonly method: string
  /** The URLs that the proof may name, without query: the resource, and the URL of the request at the same origin. */
  readonly urls: ReadonlyArray<string>
  readonly token: string
  /** The thumbprint of the key to which the token is bound. */
  readonly jkt: string
  readonly millis: number
}

export interface DpopProofs {
  readonly check: (request: Request) => Effect.Effect<void, ProofError>
}

export const ALGORITHMS = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "RS256", "PS256"]

/** How many characters a proof, and the id of a proof, may have. */
const MAX_LENGTH = 8192
const MAX_ID = 256

export const make = (
  options: Options,
  clockTolerance: number,
  shared: SharedLimitsService | undefined
): DpopProofs => {
  const maxAge = Duration.toMillis(options.maxAge ?? "1 minute")
  const life = maxAge + 2 * clockTolerance
  const use = shared === undefined ? remembered(life, options.maxProofs ?? 100_000) : sharing(life, shared)
  const secret = crypto.randomUUID()
  const nonceLife = Duration.toMillis(options.nonce ?? 0)
  /** Returns the nonce of a period. Only a server that has the secret can compute a nonce before the period begins. */
  const nonceAt = (millis: number) => Sha256.base64Url(`${secret} ${Math.floor(millis / nonceLife)}`)

  return {
    check: Effect.fnUntraced(function*({ jkt, method, millis, proof, token, urls }) {
      if (proof === undefined) return yield* invalid("The request has no DPoP header")
      if (proof.length > MAX_LENGTH) return yield* invalid(`The proof of DPoP is longer than ${MAX_LENGTH} characters`)
      const verified = yield* Effect.mapError(
        Effect.tryPromise(() =>
          Jose.compactVerify(proof, Jose.EmbeddedJWK, { algorithms: ALGORITHMS }).then(({ payload, protectedHeader }) =>
            Jose.calculateJwkThumbprint(protectedHeader.jwk!, "sha256").then((thumbprint) => ({
              typ: protectedHeader.typ,
              crit: protectedHeader.crit,
              thumbprint,
              claims: JSON.parse(new TextDecoder().decode(payload)) as unknown
            }))
          )
        ),
        // The error of a library may quote the proof.
        () => invalid("The DPoP header must be a single proof with a valid signature")
      )
      const { claims, crit, thumbprint, typ } = verified
      if (!Predicate.isRecord(claims)) return yield* invalid("The payload of the proof of DPoP is not a JSON object")
      if (typ !== "dpop+jwt" || crit !== undefined) {
        return yield* invalid("The proof in the DPoP header does not have the type dpop+jwt")
      }
      if (thumbprint !== jkt) {
        return yield* invalid("The proof of DPoP is not signed with the key of the token")
      }
      if (claims["ath"] !== (yield* Sha256.base64Url(token))) {
        return yield* invalid("The proof of DPoP is for another access token")
      }
      if (claims["htm"] !== method) return yield* invalid("The proof of DPoP is for another method")
      if (!urls.includes(normalized(claims["htu"]))) return yield* invalid("The proof of DPoP is for another URL")
      const { iat, jti, nonce } = claims
      const age = typeof iat === "number" ? millis - iat * 1000 : NaN
      if (!(age <= maxAge + clockTolerance && age >= -clockTolerance)) {
        return yield* invalid("The proof of DPoP is too old, or from the future")
      }
      if (typeof jti !== "string" || jti === "" || jti.length > MAX_ID) {
        return yield* invalid(`The proof of DPoP needs an id, of at most ${MAX_ID} characters`)
      }
      if (options.nonce !== undefined) {
        const current = yield* nonceAt(millis)
        // The nonce of the previous period is also accepted.
        if (nonce !== current && nonce !== (yield* nonceAt(millis - nonceLife))) {
          const message = "The proof of DPoP needs the nonce of this server"
          return yield* new ProofError({ error: "use_dpop_nonce", message, nonce: current })
        }
      }
      if (!(yield* use(jkt, jti, millis))) return yield* invalid("The proof of DPoP was used before")
    })
  }
}

/** Records the use of a proof. Returns `true` when the proof is used for the first time. */
type Use = (jkt: string, id: string, millis: number) => Effect.Effect<boolean, ProofError>

/**
 * Stores used proofs for all nodes. When the shared store does not answer, no proof is accepted, because another node may already have
 * accepted the proof.
 */
const sharing = (life: number, { once }: SharedLimitsService): Use => {
  const logged = StoreFailure.once("The store of used proofs")
  return (jkt, id) =>
    Effect.mapError(
      Effect.flatMap(Sha256.hex(JSON.stringify([jkt, id])), (digest) => logged(once(`dpop:${digest}`, life))),
      () => busy("the proofs of DPoP that were used cannot be looked up at the moment")
    )
}

/**
 * Stores used proofs in this process. For each key, `used` has the ids of the used proofs, each with the time until which it is stored.
 * `count` is the number of all ids.
 */
const remembered = (life: number, maxProofs: number): Use => {
  const used = new Map<string, Map<string, number>>()
  let count = 0

  const forget = (millis: number): void => {
    for (const [jkt, ids] of used) {
      for (const [id, until] of ids) {
        if (until > millis) break
        ids.delete(id)
        count--
      }
      if (ids.size === 0) used.delete(jkt)
    }
  }

  return (jkt, id, millis) =>
    Effect.suspend(() => {
      const ids = used.get(jkt)
      if (ids?.has(id) === true) return Effect.succeed(false)
      // One client must not use up the memory of all clients.
      if (count >= maxProofs || (ids?.size ?? 0) >= maxProofs / 10) forget(millis)
      if (count >= maxProofs || (used.get(jkt)?.size ?? 0) >= maxProofs / 10) {
        return busy("the server has too many proofs of DPoP to remember")
      }
      const own = used.get(jkt) ?? new Map<string, number>()
      used.set(jkt, own)
      own.set(id, millis + life)
      count++
      return Effect.succeed(true)
    })
}

const busy = (message: string): ProofError => new ProofError({ error: "busy", message })

const invalid = (message: string): ProofError => new ProofError({ error: "invalid_dpop_proof", message })

/** Returns the form in which URLs are compared: without query, fragment and a slash at the end. Returns "" when the value is not a URL. */
export const normalized = (url: unknown): string =>
  typeof url === "string" && URL.canParse(url) ? ResourceMetadata.canonical(new URL(url)) : ""
