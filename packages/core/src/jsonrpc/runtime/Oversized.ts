/**
 * What is known of a message that is too long to keep: its beginning, its end, and the id and the kind that these two show. With the id,
 * the call that waits for the message can fail. `LineFraming` reports a line that is too long. `Sse` and the modules of the client that
 * read its events (`client/http/Answer`, `client/legacy/Incoming`, `client/modern/Http`) report an event that is too large.
 */
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"
import * as MessageOutline from "./MessageOutline.js"

/** How many bytes of the beginning are kept, and how many of the end. */
export const KEPT_BYTES = 4096

/** The beginning and the end of a text. The end is `undefined` when it has not arrived yet, or is not needed. */
export interface Ends {
  readonly start: string
  readonly end?: string | undefined
}

/**
 * What is known of a text while the rest of the text is skipped. The field `last` is mutable: it holds the last bytes, if the end is
 * needed.
 */
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

/** Whether the end of a text is needed: the text is a response, and its beginning shows no id. */
export const needsEnd = (start: string): boolean => {
  const { id, kind } = outlineOf({ start })
  return kind === "response" && id === undefined
}

/**
 * The outline of the message, as far as it can be seen. A text that does not begin with an object has no outline, even if it contains a
 * message.
 */
export const outlineOf = ({ end, start }: Ends): MessageOutline.MessageOutline => {
  if (!/^\s*\{/.test(start)) return { kind: undefined, id: undefined }
  const { id, kind } = MessageOutline.fromStart(start)
  return { kind, id: id ?? (end === undefined ? undefined : MessageOutline.fromEnd(end)) }
}

/** The report of a line that is too long. */
export const ofLine = (ends: Ends, maxLineBytes: number): Message.Malformed =>
  report(ends, `a line is longer than ${maxLineBytes} bytes`, "maxLineBytes")

/** The report of an event that is too large. */
export const ofEvent = (event: Ends & { readonly maxEventBytes: number }): Message.Malformed =>
  report(event, `an event has more than ${event.maxEventBytes} bytes`, "maxEventBytes")

/**
 * Only a caller on this side reads the report of a response, so it may say which limit to raise. A message whose kind is not known may be a
 * response if it has an id.
 */
const report = (ends: Ends, what: string, limit: string): Message.Malformed => {
  const { id, kind = id === undefined ? "request" : "unknown" } = outlineOf(ends)
  const advice = kind === "response" ? `; raise the limit ${limit}, or ask for a smaller answer` : ""
  return new Message.Malformed(kind, JsonRpcError.PARSE_ERROR, `Parse error: ${what}${advice}`, id)
}

/** A copy of the first `length` bytes of two pieces. */
export const beginning = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  const kept = first.subarray(0, length)
  const joined = new Uint8Array(Math.min(first.length + second.length, length))
  joined.set(kept)
  joined.set(second.subarray(0, length - kept.length), kept.length)
  return joined
}

/** A copy of the last `length` bytes of two pieces. */
const ending = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  if (second.length >= length) return second.slice(-length)
  return beginning(first.subarray(Math.max(0, first.length + second.length - length)), second, length)
}
