/**
 * What is known of a message that is too long to keep: its beginning and its end, and the id and the kind of the message
 * as far as these show them, so that the call that waits for the message can fail. `LineFraming` reports a line that is
 * too long, `Sse` and its readers an event.
 */
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"
import * as MessageOutline from "./MessageOutline.js"

/** How many bytes to keep of the beginning, and of the end. */
export const KEPT_BYTES = 4096

/** The beginning and the end of a text; the end may still be to come. */
export interface Ends {
  readonly start: string
  readonly end?: string | undefined
}

/** What is known of a text while the rest of the text is skipped. Mutable: `last` holds the last bytes, if they matter. */
export class Skipped implements Ends {
  private last: Uint8Array | undefined

  constructor(readonly start: string, held: Uint8Array, piece: Uint8Array, keepsEnd: boolean) {
    if (keepsEnd) this.last = ending(held, piece, KEPT_BYTES)
  }

  /** Skips one more piece. */
  add(piece: Uint8Array): void {
    if (this.last !== undefined) this.last = ending(this.last, piece, KEPT_BYTES)
  }

  get end(): string | undefined {
    return this.last === undefined ? undefined : new TextDecoder().decode(this.last)
  }
}

/** Whether the end of a text would tell more: the text is a response, and its beginning has no id. */
export const needsEnd = (start: string): boolean => {
  const { id, kind } = outline(start)
  return kind === "response" && id === undefined
}

/** A text that does not begin as a message does has no outline, even if it contains a message. */
const outline = (start: string): MessageOutline.MessageOutline =>
  /^\s*\{/.test(start) ? MessageOutline.fromStart(start) : { kind: undefined, id: undefined }

/** The report. `what` is the text and its limit: "a line is longer than 10 bytes". */
export const report = ({ end, start }: Ends, what: string): Message.Malformed => {
  const { id, kind = "request" } = outline(start)
  return new Message.Malformed(
    kind,
    JsonRpcError.PARSE_ERROR,
    `Parse error: ${what}`,
    id ?? (end === undefined ? undefined : MessageOutline.fromEnd(end))
  )
}

/** A copy of the first bytes of both. */
export const beginning = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  const kept = first.subarray(0, length)
  const joined = new Uint8Array(Math.min(first.length + second.length, length))
  joined.set(kept)
  joined.set(second.subarray(0, length - kept.length), kept.length)
  return joined
}

/** A copy of the last bytes of both. */
const ending = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  if (second.length >= length) return second.slice(-length)
  return beginning(first.subarray(Math.max(0, first.length + second.length - length)), second, length)
}
