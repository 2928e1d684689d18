/**
 * Checks the proofs of DPoP that clients send to the token endpoint, and gives nonces for them. A nonce is good for the five
 * minutes in which it was given, and for the next five.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Jose from "jose"
import type { Options, Received } from "../AuthorizationServerOptions.js"
import * as Newest from "./Newest.js"
import { type Refusal, refuse } from "./Refusal.js"

export const ALGORITHMS = ["ES256", "RS256", "EdDSA"]

const NONCE_LIFE = 300_000

/** How far the time of a proof may be from that of the server, in seconds. */
const SKEW = 60

/** Gives the thumbprint of the key that a request proves; `undefined` for a request without a proof. */
export type Check = (request: Received, url: string) => Effect.Effect<string | undefined, Refusal>

export const make = (options: Options["dpop"] = {}): Check => {
  const seen = new Set<string>()
  const salt = crypto.randomUUID()
  const nonceAt = (millis: number) => `nonce-${Math.floor(millis / NONCE_LIFE)}-${salt}`

  return ({ headers, method }, url) =>
    Effect.gen(function*() {
      const { dpop: proof } = headers
      if (proof === undefined) {
        return options.isRequired === true
          ? yield* refuse("invalid_dpop_proof", "The request has no proof of DPoP, and this server requires one")
          : undefined
      }
      const found = yield* Effect.orElseSucceed(Effect.tryPromise(() => open(proof)), () => undefined)
      const invalid = (what: string) => refuse("invalid_dpop_proof", `The proof of DPoP ${what}`)
      if (found === undefined) return yield* invalid("is not a JWT of type dpop+jwt, signed by the key in its header")
      const { payload: { htm, htu, iat, jti, nonce }, thumbprint } = found
      const now = yield* Clock.currentTimeMillis
      if (htm !== method || htu !== url) return yield* invalid(`is not for ${method} ${url}`)
      if (iat === undefined || Math.abs(iat - now / 1000) > SKEW) {
        return yield* invalid("is too old, or from the future")
      }
      if (options.nonces === true && nonce !== nonceAt(now) && nonce !== nonceAt(now - NONCE_LIFE)) {
        return yield* refuse("use_dpop_nonce", "The proof of DPoP needs the nonce of this response", 400, {
          "dpop-nonce": nonceAt(now)
        })
      }
      if (typeof jti !== "string" || seen.has(jti)) return yield* invalid("was used before")
      Newest.add(seen, jti)
      return thumbprint
    })
}

/** Fails for anything but a proof whose signature is right. */
const open = (proof: string): Promise<{ readonly payload: Jose.JWTPayload; readonly thumbprint: string }> =>
  Jose.compactVerify(proof, Jose.EmbeddedJWK, { algorithms: ALGORITHMS }).then(({ payload, protectedHeader }) =>
    protectedHeader.typ !== "dpop+jwt" || protectedHeader.jwk === undefined || "d" in protectedHeader.jwk
      ? Promise.reject(new Error("not a proof"))
      : Jose.calculateJwkThumbprint(protectedHeader.jwk).then((thumbprint) => ({
        payload: JSON.parse(new TextDecoder().decode(payload)) as Jose.JWTPayload,
        thumbprint
      }))
  )
