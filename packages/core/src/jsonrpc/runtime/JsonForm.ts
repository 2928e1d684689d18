/**
 * What a receiver gets of a message that travels as JSON. `Direct` and `Transport.memory`, which pass messages without JSON, deliver the
 * same: a member that is `undefined` is absent, `NaN` is `null`, a `Date` is its text, an object with `toJSON` is what the function gives.
 *
 * A message that has only values of JSON is passed as it is, and so costs one walk. Any other message is written and read, without the
 * limits of `MessageText`, which are for peers outside of the process.
 */
import { TransportError } from "../LocalError.js"
import * as Message from "../Message.js"
import * as MessageText from "../MessageText.js"

/**
 * The message as its receiver gets it. An answer without a JSON form is "Internal error"; for a request or a notification without a JSON
 * form, the result is `undefined`.
 */
export const of = (message: Message.Message): Message.Incoming | undefined => {
  if (Message.isMalformed(message) || isMessage(message)) return message
  const text = MessageText.stringify(message)
  return text === undefined ? undefined : MessageText.parse(text, unlimited)
}

/** What sending a request or a notification without a JSON form fails with. */
export const noForm: TransportError = new TransportError({ reason: "Encode", message: "The message has no JSON form" })

const unlimited = { maxDepth: Infinity, maxNodes: Infinity, maxResponseNodes: Infinity } as const

/** Deeper values may be a cycle. */
const MAX_DEPTH = 1000

/** Parameters that are `undefined` are absent for every receiver. */
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

/** Half of a character, for which JSON has U+FFFD. */
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
