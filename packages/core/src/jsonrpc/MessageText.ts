/**
 * Reads, writes and measures the JSON text of one message, within the limits of `runtime/JsonText`. `LineFraming` and `Sse` split a stream
 * of bytes into such texts.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as JsonRpcError from "./JsonRpcError.js"
import * as Message from "./Message.js"
import * as Redaction from "./Redaction.js"
import * as JsonText from "./runtime/JsonText.js"
import * as MessageOutline from "./runtime/MessageOutline.js"

/**
 * The limits of one message.
 *
 * @category models
 */
export interface Limits {
  /** How many levels deep a message may nest. Default: 64 for a request or a notification, 512 for a response to a request of this side. */
  readonly maxDepth?: number | undefined
  /** How many values a request or a notification may have, including nested values. Default: 100,000. */
  readonly maxNodes?: number | undefined
  /** How many values a response to a request of this side may have, including nested values. Default: 1,000,000. */
  readonly maxResponseNodes?: number | undefined
}

/**
 * Reads one message from a JSON text. Returns `Malformed` when the text is not a message. Refuses a text with too many values before it
 * parses the text. The limit of responses applies if the beginning or the end of the text shows that the message is a response. Otherwise
 * the limit of requests applies. If the parsed message then is a request, the limit of requests is checked again.
 *
 * @category utils
 */
export const parse = (text: string, limits: Limits = {}): Message.Incoming => {
  const { maxDepth, maxNodes = JsonText.MAX_NODES, maxResponseNodes = JsonText.MAX_RESPONSE_NODES } = limits
  const incoming = text.length <= 2 * Math.min(maxNodes, maxResponseNodes)
    ? parseAny(text, maxDepth)
    : parseLong(text, maxDepth, maxNodes, maxResponseNodes)
  // The characters are copied into a new string, because a slice would keep the whole text in memory.
  if (Message.isMalformed(incoming)) beginnings.set(incoming, [...text.slice(0, BEGINNING)].join(""))
  else if (text.length > SHORT) lengths.set(incoming, text.length)
  return incoming
}

/**
 * Checks a value as `parse` checks a JSON text. Use this function for a body that a platform has already parsed. The returned message is a
 * copy. Returns `Malformed` when the value has no JSON form, or when its JSON text is longer than 10 Mi characters.
 *
 * @category utils
 */
export const fromValue = (value: unknown, limits: Limits = {}): Message.Incoming => {
  if (value instanceof Message.Malformed) return value
  const text = JsonText.stringify(value)
  return text === undefined
    ? refusedValue("it has no JSON form")
    : text.length > MAX_LENGTH
    ? refusedValue(`more than ${MAX_LENGTH} characters`)
    : parse(text, limits)
}

/** How many characters the JSON text of a value may have. The number equals the default of `maxLineBytes` of a pipe. */
const MAX_LENGTH = 10 * 1024 * 1024

const refusedValue = (why: string): Message.Malformed =>
  new Message.Malformed("request", JsonRpcError.INVALID_REQUEST, `Invalid request: ${why}`)

/** Reads a text that is so long that it may have too many values. */
const parseLong = (
  text: string,
  maxDepth: number | undefined,
  maxNodes: number,
  maxResponseNodes: number
): Message.Incoming => {
  const { id, kind } = MessageOutline.read(text)
  const max = kind === "response" ? maxResponseNodes : maxNodes
  if (JsonText.holdsMoreThan(text, max)) return tooMany(kind ?? (id === undefined ? "request" : "unknown"), max, id)
  const incoming = parseAny(text, maxDepth)
  return kind === "response" && hasMethod(incoming) && JsonText.holdsMoreThan(text, maxNodes)
    ? tooMany("request", maxNodes, id)
    : incoming
}

const tooMany = (
  kind: Message.Malformed["kind"],
  max: number,
  id: Message.RequestId | undefined
): Message.Malformed => {
  const what = kind === "response" ? kind : "request"
  return new Message.Malformed(kind, JsonRpcError.INVALID_REQUEST, `Invalid ${what}: more than ${max} values`, id)
}

/** Whether the input is a request or a notification, or a batch that has one of these. */
const hasMethod = (incoming: Message.Incoming): boolean =>
  Message.isMalformed(incoming)
    ? incoming.batch !== undefined && incoming.batch.some((one) => Predicate.hasProperty(one, "method"))
    : !Message.isResponse(incoming)

const parseAny = (text: string, maxDepth: number | undefined): Message.Incoming => {
  const value = JsonText.parse(text, maxDepth)
  if (!(value instanceof JsonText.Refused)) return Message.fromUnknown(value)
  const code = value.reason === "syntax" ? JsonRpcError.PARSE_ERROR : JsonRpcError.INVALID_REQUEST
  const refused = value.value === undefined ? undefined : Message.fromUnknown(value.value)
  if (refused === undefined) return new Message.Malformed("request", code, value.message)
  const isTooDeep = value.reason === "depth" &&
    (maxDepth !== undefined || JsonText.deeperThan(value.value, JsonText.MAX_RESPONSE_DEPTH))
  // This side has asked for a response, so a response, or a batch of responses, may nest deeper. Its members named `__proto__` are removed,
  // because an incomplete response is better than no response.
  const isAnswer = !hasMethod(refused) && (!Message.isMalformed(refused) || refused.batch !== undefined)
  if (!isTooDeep && isAnswer) {
    JsonText.dropPrototypes(value.value)
    return refused
  }
  const isLimit = isAnswer && value.reason === "depth" && maxDepth === undefined
  const { message } = isLimit ? JsonText.tooDeep(value.value, JsonText.MAX_RESPONSE_DEPTH) : value
  // The new `Malformed` has no `batch`, because a receiver of the elements would read them.
  if (Message.isMalformed(refused)) return new Message.Malformed(refused.kind, code, message, refused.id)
  if (Message.isNotification(refused)) return new Message.Malformed("notification", code, message)
  const kind = Message.isResponse(refused) ? "response" : "request"
  return new Message.Malformed(kind, code, message, refused.id ?? undefined)
}

/**
 * Returns the JSON text of a message, on one line and without a newline. A response that has no JSON form becomes the error "Internal
 * error" with the same id. Returns `undefined` for a request or a notification without a JSON form, and for a response that has no JSON
 * form and no id.
 *
 * @category utils
 */
export const stringify = (message: Message.Message): string | undefined => {
  const text = JsonText.stringify(message)
  if (text !== undefined || !Message.isResponse(message)) return text
  return message.id === undefined || message.id === null
    ? undefined
    : JsonText.stringify(Message.failure(message.id, JsonRpcError.internal))
}

/** How many characters a text may have whose length is not stored. To write a short message again is faster than to store its length. */
const SHORT = 4096

/** How many characters of a text that is not a message are kept for diagnostics. */
const BEGINNING = 100

const beginnings = new WeakMap<Message.Malformed, string>()

/**
 * Returns the first 100 characters, without secrets, of a text that `parse` could not read as a message. Returns `undefined` for other
 * malformed input.
 *
 * @category getters
 */
export const beginningOf = (malformed: Message.Malformed): string | undefined => {
  const text = beginnings.get(malformed)
  return text === undefined ? undefined : Redaction.text(text)
}

const lengths = new WeakMap<Message.Message, number>()

/**
 * Returns how many characters the JSON text of a message has, for the limit of waiting requests. Returns 0 when the message has no JSON
 * form. `parse` stores the length of texts with more than 4,096 characters. For other messages, this function writes the text to measure
 * its length.
 *
 * @category utils
 */
export const lengthOf = (message: Message.Message): number =>
  lengths.get(message) ?? JsonText.stringify(message)?.length ?? 0
