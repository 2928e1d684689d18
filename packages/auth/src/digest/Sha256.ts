/**
 * Computes the SHA-256 digest of a text with the platform. The digests are challenges of PKCE (`AuthorizationCode`), parts of DPoP proofs
 * (`Dpop`, `DpopProofs`), and names of stored records (`CredentialStore`).
 */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"

const digest = (text: string): Effect.Effect<Uint8Array> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (buffer) => new Uint8Array(buffer)
  )

export const base64Url = (text: string): Effect.Effect<string> => Effect.map(digest(text), Encoding.encodeBase64Url)

export const hex = (text: string): Effect.Effect<string> => Effect.map(digest(text), Encoding.encodeHex)
