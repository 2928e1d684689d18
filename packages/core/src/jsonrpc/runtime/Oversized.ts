/**
 * Keeps the beginning and the end of a message that is too long to store, and reads the id and the kind of the message from these two
 * parts. With the id, the call that waits for the message can fail. `LineFraming` reports a line that is too long with this module. `Sse`
 * and three modules of the client (`client/http/Answer`, `client/legacy/Incoming`, `client/modern/Http`) report an event that is too large.
 */
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"
import * as MessageOutline from "./MessageOutline.js"

/** How many bytes of the beginning and how many bytes of the end are kept. */
export const KEPT_BYTES = 4096

/** The beginning and the end of a text. The end is `undefined` when it has not arrived yet, or is not needed. */
export interface Ends {
  readonly start: string
  readonly end?: string | undefined
}

/** The kept parts of a text whose rest is skipped. The mutable field `last` has the last bytes, if the end is needed. */
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

/** Whether the end of a text is needed. The end is needed when the text is a response and its beginning has no id. */
export const needsEnd = (start: string): boolean => {
  const { id, kind } = outlineOf({ start })
  return kind === "response" && id === undefined
}

/**
 * Returns the outline of the message, as far as the two parts show it. A text that does not begin with an object has no outline, even if
 * the text contains a message.
 */
export const outlineOf = ({ end, start }: Ends): MessageOutline.MessageOutline => {
  if (!/^\s*\{/.test(start)) return { kind: undefined, id: undefined }
  const { id, kind } = MessageOutline.fromStart(start)
  return { kind, id: id ?? (end === undefined ? undefined : MessageOutline.fromEnd(end)) }
}

/** Makes the report of a line that is too long. */
export const ofLine = (ends: Ends, maxLineBytes: number): Message.Malformed =>
  report(ends, `a line is longer than ${maxLineBytes} bytes`, "maxLineBytes")

/** Makes the report of an event that is too large. */
export const ofEvent = (event: Ends & { readonly maxEventBytes: number }): Message.Malformed =>
  report(event, `an event has more than ${event.maxEventBytes} bytes`, "maxEventBytes")

/**
 * Makes the report. Only a caller on this side reads the report of a response, so this report may name the limit to raise. A message whose
 * kind is not known may be a response if the message has an id.
 */
const report = (ends: Ends, what: string, limit: string): Message.Malformed => {
  const { id, kind = id === undefined ? "request" : "unknown" } = outlineOf(ends)
  const advice = kind === "response" ? `; raise the limit ${limit}, or ask for a smaller answer` : ""
  return new Message.Malformed(kind, JsonRpcError.PARSE_ERROR, `Parse error: ${what}${advice}`, id)
}

/** Returns a copy of the first `length` bytes of two pieces. */
export const beginning = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  const kept = first.subarray(0, length)
  const joined = new Uint8Array(Math.min(first.length + second.length, length))
  joined.set(kept)
  joined.set(second.subarray(0, length - kept.length), kept.length)
  return joined
}

/** Returns a copy of the last `length` bytes of two pieces. */
const ending = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  if (second.length >= length) return second.slice(-length)
  return beginning(first.subarray(Math.max(0, first.length + second.length - length)), second, length)
}
