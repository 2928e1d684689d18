/**
 * What is reported of a message that is too long to keep: its id and kind, as far as its beginning and its end show them,
 * so that the call that waits for it can fail. `LineFraming` keeps the ends of a line, `Sse` those of an event.
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

/** Whether the end would say more: the text is a response, and its id does not stand at its beginning. */
export const needsEnd = (start: string): boolean => {
  const { id, kind } = outline(start)
  return kind === "response" && id === undefined
}

/** What does not begin as a message does has no outline, though a message may stand in it. */
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
export const ending = (first: Uint8Array, second: Uint8Array, length: number): Uint8Array => {
  if (second.length >= length) return second.slice(-length)
  return beginning(first.subarray(Math.max(0, first.length + second.length - length)), second, length)
}
