/**
 * The bytes of stderr as text: cut into lines, or only the last ones of them kept. Both are bounded, however long the lines
 * are.
 *
 * It reads nothing itself; `Stderr` passes it the bytes.
 */
import * as Chunk from "effect/Chunk"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"

/** How many bytes a tail keeps. */
export const TAIL_BYTES = 2048

/** How many characters a line may have before it is delivered in parts. */
export const MAX_LINE = 64 * 1024

/** The last bytes of a stream. */
export interface Tail {
  readonly bytes: Uint8Array
  /** Whether earlier bytes were dropped, so that the first line may lack its beginning. */
  readonly isCut: boolean
}

export const emptyTail: Tail = { bytes: new Uint8Array(0), isCut: false }

export const appendTail = ({ bytes, isCut }: Tail, chunk: Uint8Array): Tail => ({
  bytes: Buffer.concat([bytes, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES),
  isCut: isCut || bytes.length + chunk.length > TAIL_BYTES
})

/** The text from the first complete line on, without white space at the end. */
export const textOfTail = ({ bytes, isCut }: Tail): string => {
  const text = new TextDecoder().decode(bytes)
  return text.slice(isCut ? text.indexOf("\n") + 1 : 0).trimEnd()
}

/** The lines, without their newlines. The last line may lack its newline. */
export const lines = (bytes: Stream.Stream<Uint8Array>): Stream.Stream<string> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder()
    return bytes.pipe(
      Stream.map((chunk) => decoder.decode(chunk, { stream: true })),
      Stream.concat(Stream.suspend(() => Stream.make(decoder.decode(), undefined))),
      Stream.mapAccum("", cut),
      Stream.mapConcatChunk(Chunk.unsafeFromArray)
    )
  })

/** The line that has no end yet, and those that ended; `undefined` stands for the end of the text. */
const cut = (rest: string, text: string | undefined): readonly [rest: string, lines: Array<string>] => {
  if (text === undefined) return ["", rest === "" ? [] : [rest]]
  const parts = text.split("\n")
  parts[0] = rest + parts[0]!
  const last = parts.pop()!
  const lines = parts.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line)
  return last.length < MAX_LINE ? [last, lines] : ["", [...lines, last]]
}
