/**
 * The bytes of one file in the answer to `resources/read`. The answer has the file that was requested and nothing else; its
 * size is known before it is decoded.
 */
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { SkillRefused } from "../SkillRefused.js"

export interface FileContent {
  readonly bytes: Uint8Array
  readonly mimeType: string | undefined
}

/** Fails when the file has more than `max` bytes. */
export const of = (
  uri: string,
  { contents }: Resources.ReadResourceResult,
  max: number
): Effect.Effect<FileContent, SkillRefused> =>
  Effect.suspend(() => {
    const [content] = contents
    if (contents.length !== 1 || content === undefined || content.uri !== uri) {
      return new SkillRefused({ reason: "Content", uri, problem: "the server did not answer with this file alone" })
    }
    const tooLong = new SkillRefused({ reason: "Size", uri, problem: `the file has more than ${max} bytes` })
    if ("text" in content) {
      // A character has at least one byte.
      if (content.text.length > max) return tooLong
      const bytes = new TextEncoder().encode(content.text)
      return bytes.length > max ? tooLong : Effect.succeed({ bytes, mimeType: content.mimeType })
    }
    if (Math.floor(content.blob.length / 4) * 3 - 2 > max) return tooLong
    return Either.match(Encoding.decodeBase64(content.blob), {
      onLeft: () => new SkillRefused({ reason: "Content", uri, problem: "its content is not base64" }),
      onRight: (bytes) => bytes.length > max ? tooLong : Effect.succeed({ bytes, mimeType: content.mimeType })
    })
  })
