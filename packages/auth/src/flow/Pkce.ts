/**
 * Random values of a login, and the challenge of PKCE by which the authorization server knows that the client which began a
 * login also ends it. `AuthorizationCode` sends them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7636
 */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import * as Sha256 from "../digest/Sha256.js"

/** 256 bits from a cryptographic source. */
export const random: Effect.Effect<Redacted.Redacted<string>> = Effect.sync(() =>
  Redacted.make(Encoding.encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))))
)

/** The challenge of a verifier, by the method S256. */
export const challenge = (verifier: Redacted.Redacted<string>): Effect.Effect<string> =>
  Sha256.base64Url(Redacted.value(verifier))
