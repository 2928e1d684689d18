/**
 * Encodings of a pipe other than UTF-8: turns what it reads to UTF-8 and writes its messages in the encoding. `LineFraming`
 * decodes UTF-8 only.
 *
 * `Pipe` puts it in front of `Input` and behind `Output`.
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Either from "effect/Either"
import { Buffer } from "node:buffer"

export interface Encoding {
  /** Turns a chunk to UTF-8. Bytes that the encoding does not have become a byte that UTF-8 does not have. */
  readonly decode: (chunk: Uint8Array) => Uint8Array
  readonly encode: (text: string) => string | Uint8Array
}

const REPLACEMENT = "\uFFFD"
const INVALID = Buffer.of(0xff)

const toUtf8 = (text: string): Uint8Array =>
  text.includes(REPLACEMENT)
    ? Buffer.concat(
      text.split(REPLACEMENT).flatMap((part, at) => at === 0 ? [Buffer.from(part)] : [INVALID, Buffer.from(part)])
    )
    : Buffer.from(text)

// ASCII is part of every encoding but UTF-16, and JSON can write every character in ASCII.
const escaped = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const encoders: Readonly<Record<string, Encoding["encode"]>> = {
  "utf-16le": (text) => Buffer.from(text, "utf16le"),
  "utf-16be": (text) => Buffer.from(text, "utf16le").swap16()
}

/** `undefined` for UTF-8, which needs none. Fails with reason `Open` when this Node does not know the label. */
export const make = (label: string): Either.Either<Encoding | undefined, TransportError> =>
  Either.map(
    Either.try({
      try: () => new TextDecoder(label),
      catch: (cause) =>
        new TransportError({ reason: "Open", message: `Unknown encoding ${JSON.stringify(label.slice(0, 40))}`, cause })
    }),
    (decoder) =>
      decoder.encoding === "utf-8" ? undefined : {
        decode: (chunk) => toUtf8(decoder.decode(chunk, { stream: true })),
        encode: encoders[decoder.encoding] ?? escaped
      }
  )
