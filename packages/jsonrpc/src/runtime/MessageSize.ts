/**
 * How long the JSON text of a message is, for the limits of requests that wait. `MessageText` remembers the length of
 * long texts that it has parsed; a short message, or one that had no text, is written again when its length is needed.
 */
import type * as Message from "../Message.js"
import * as Json from "./Json.js"

/** Up to this length it costs less to write a message again than to remember its length. */
const SHORT = 4096

const lengths = new WeakMap<Message.Message, number>()

/** Remembers the length of the text of a message. */
export const remember = (message: Message.Message, length: number): void => {
  if (length > SHORT) lengths.set(message, length)
}

/** The number of characters of the text of a message; 0 when it has no JSON form. */
export const of = (message: Message.Message): number => lengths.get(message) ?? Json.stringify(message)?.length ?? 0
