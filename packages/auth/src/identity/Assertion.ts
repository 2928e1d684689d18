/**
 * Signs the JWTs by which a client proves who it is. Each is used once, and lives for a minute. `ClientAuthentication` sends
 * them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-3
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Jose from "jose"
import { AuthorizationError } from "../AuthorizationError.js"
import type { PrivateKey } from "../ClientIdentity.js"

export interface Claims {
  readonly issuer: string
  readonly subject: string
  readonly audience: string
}

const LIFETIME = 60

export const sign = (key: PrivateKey, claims: Claims): Effect.Effect<string, AuthorizationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.tryPromise({
      try: () => {
        const now = Math.floor(millis / 1000)
        return load(key).then(({ keyId, signer }) =>
          new Jose.SignJWT({})
            .setProtectedHeader({
              alg: key.algorithm,
              typ: "JWT",
              ...(keyId === undefined ? undefined : { kid: keyId })
            })
            .setIssuer(claims.issuer)
            .setSubject(claims.subject)
            .setAudience(claims.audience)
            .setJti(crypto.randomUUID())
            .setIssuedAt(now)
            .setExpirationTime(now + LIFETIME)
            .sign(signer)
        )
      },
      // The error of a parser may quote the key.
      catch: () =>
        new AuthorizationError({
          reason: "Signing",
          message:
            `The private key cannot sign with ${key.algorithm}: it must be PKCS #8 as PEM, or a JWK, of that algorithm`
        })
    }))

const load = ({ algorithm, key, keyId }: PrivateKey) => {
  const text = Redacted.value(key).trim()
  if (!text.startsWith("{")) return Jose.importPKCS8(text, algorithm).then((signer) => ({ keyId, signer }))
  const jwk = JSON.parse(text) as Jose.JWK
  return Jose.importJWK(jwk, algorithm).then((signer) => ({ keyId: keyId ?? jwk.kid, signer }))
}
