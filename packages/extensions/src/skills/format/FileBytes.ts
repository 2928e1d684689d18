/**
 * Contains functions for the bytes of a file. They join pieces, decode text, and compute the digest that the entry of a skill has.
 * `SkillsClient` and `SkillCheck` read files with these functions. `SkillDirectory`, `SkillFiles` and `SkillRegistration` serve files with
 * these functions. A digest only shows that the content of a file belongs to an entry. It does not show that the content can be trusted.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/** Joins all pieces, one after another. */
export const concat = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}

/** Returns the digest of bytes: `sha256:` and 64 lowercase hexadecimal digits. */
export const sha256 = (bytes: Uint8Array): Effect.Effect<string> =>
  Effect.map(
    // The bytes of a file are never in shared memory.
    Effect.promise(() => crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)),
    (digest) => `sha256:${Encoding.encodeHex(new Uint8Array(digest))}`
  )

export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text)

/**
 * Decodes bytes to text. Returns `Left` when the bytes are not UTF-8. The decoding keeps a byte order mark, so that the text has exactly
 * the same bytes again.
 */
export const text = (bytes: Uint8Array): Either.Either<string, unknown> => Either.try(() => decoder.decode(bytes))

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
