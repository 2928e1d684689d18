/**
 * Returns the message that a receiver would get if the message were sent as JSON. `Direct` and `Transport.memory` use this module, because
 * they pass messages without JSON. In the returned message, a member whose value is `undefined` is absent, `NaN` is `null`, a `Date` is a
 * text, and an object with `toJSON` is the value that `toJSON` returns.
 *
 * A message that has only JSON values is passed by reference, after a check of its values. Any other message is written to JSON and read
 * again. The limits of `MessageText` do not apply, because they are for peers outside of the process.
 */
import { TransportError } from "../LocalError.js"
import * as Message from "../Message.js"
import * as MessageText from "../MessageText.js"

/**
 * Returns the message as its receiver gets it. A response without a JSON form becomes the error "Internal error". Returns `undefined` for a
 * request or a notification without a JSON form.
 */
export const of = (message: Message.Message): Message.Incoming | undefined => {
  if (Message.isMalformed(message) || isMessage(message)) return message
  const text = MessageText.stringify(message)
  return text === undefined ? undefined : MessageText.parse(text, unlimited)
}

/** The error with which sending fails when a request or a notification has no JSON form. */
export const noForm: TransportError = new TransportError({ reason: "Encode", message: "The message has no JSON form" })

const unlimited = { maxDepth: Infinity, maxNodes: Infinity, maxResponseNodes: Infinity } as const

/** How many levels deep the values are checked. Values that nest deeper may contain a cycle. */
const MAX_DEPTH = 1000

/** Whether a message has only JSON values. `params: undefined` is allowed, because every receiver treats it as absent. */
const isMessage = (message: Message.Message): boolean => {
  for (const key in message) {
    const value = (message as unknown as Record<string, unknown>)[key]
    if (!(value === undefined && key === "params") && !isJson(value, 0)) return false
  }
  return true
}

const isJson = (value: unknown, depth: number): boolean => {
  switch (typeof value) {
    case "string":
      return !half.test(value)
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
    case "boolean":
      return true
    case "object":
      if (value === null) return true
      if (depth === MAX_DEPTH) return false
      return Array.isArray(value) ? isList(value, depth) : isObject(value, depth)
    default:
      return false
  }
}

/** Half of a character (a lone surrogate). In JSON text, U+FFFD replaces it. */
const half = /\p{Surrogate}/u

const isList = (values: ReadonlyArray<unknown>, depth: number): boolean => {
  for (let i = 0; i < values.length; i++) if (!isJson(values[i], depth + 1)) return false
  return true
}

const isObject = (value: object, depth: number): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const key in value) {
    if (key === "__proto__" || half.test(key)) return false
    if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false
  }
  return true
}
