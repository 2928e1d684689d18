/**
 * Replaces Effect's standard description of a transformation in a JSON Schema. "a string to be decoded into a Date" describes the server's
 * types, but a model needs to know what to write. A description that the author wrote stays.
 *
 * `SchemaAnnotations` calls `replace` for each transformation.
 */
import type { JsonObject } from "../../protocol/Json.js"

const milliseconds = { description: "milliseconds since 1970-01-01T00:00:00Z" }

const dateTime = { format: "date-time" }

/**
 * For each description that Effect gives to the encoded side of a transformation: the keywords that replace the description. If a
 * description would not help a model, there are no keywords, and the description is removed.
 */
const keywords: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["a string to be decoded into a Date", dateTime],
  ["a string to be decoded into a DateTime.Utc", dateTime],
  ["a string to be decoded into a DateTime.Zoned", {
    description: "a date and time with a time zone, such as 2026-01-31T12:00:00+01:00[Europe/Paris]"
  }],
  ["a number to be decoded into a Date", milliseconds],
  ["a number to be decoded into a DateTime.Utc", milliseconds],
  ["a string to be decoded into a TimeZone", {
    description: "a time zone: an IANA name such as Europe/Paris, or an offset such as +01:00"
  }],
  ["a string to be decoded into a TimeZone.Named", {
    description: "the IANA name of a time zone, such as Europe/Paris"
  }],
  ["a number to be decoded into a TimeZone.Offset", { description: "the offset of a time zone, in milliseconds" }],
  ["a non-negative number to be decoded into a Duration", { description: "milliseconds" }],
  ["a tuple of seconds and nanos to be decoded into a Duration", { description: "seconds and nanoseconds" }],
  ["an JSON-compatible tagged union to be decoded into a Duration", {}],
  ["a string to be decoded into a URL", { format: "uri" }],
  ["a string to be decoded into a number", { description: "a number, written as a string" }],
  ["a string to be decoded into a bigint", { description: "an integer, written as a string" }],
  ["a string to be decoded into a BigDecimal", { description: "a decimal number, written as a string" }],
  ["a number to be decoded into a bigint", {}],
  ["a number to be decoded into a BigDecimal", {}],
  ["a string to be decoded into a boolean", {}],
  ["a string to be decoded into JSON", { contentMediaType: "application/json" }],
  ["an array of 8-bit unsigned integers to be decoded into a Uint8Array", { description: "bytes" }],
  ["A string that is interpreted as being Base64-encoded and will be decoded into a UTF-8 string", {
    contentEncoding: "base64"
  }],
  ["A string that is interpreted as being Base64Url-encoded and will be decoded into a UTF-8 string", {
    contentEncoding: "base64url"
  }],
  ["A string that is interpreted as being Hex-encoded and will be decoded into a UTF-8 string", {
    contentEncoding: "base16"
  }],
  ["A string that is interpreted as being UriComponent-encoded and will be decoded into a UTF-8 string", {
    description: "percent-encoded text"
  }],
  ["a string to be decoded into a globally shared symbol", { description: "the name of a symbol" }],
  ["an object to be decoded into a globally shared symbol", {}],
  ["a boolean that will be negated", {}],
  ["a record to be decoded into a ReadonlyMap", {}],
  ["a record to be decoded into a Map", {}],
  ["a string that will be trimmed", {}],
  ["a string that will be converted to lowercase", {}],
  ["a string that will be converted to uppercase", {}],
  ["a string that will be converted to a capitalized format", {}],
  ["a string that will be converted to an uncapitalized format", {}],
  ["a string that will be split", {}]
])

/** The encodings of bytes, by the identifier of the transformation, because Effect describes their encoded sides with the same text. */
const encodings: ReadonlyMap<string, JsonObject> = new Map([
  ["Uint8ArrayFromBase64", { contentEncoding: "base64" }],
  ["Uint8ArrayFromBase64Url", { contentEncoding: "base64url" }],
  ["Uint8ArrayFromHex", { contentEncoding: "base16" }]
])

const BYTES = "a string to be decoded into a Uint8Array"

/** Whether a text of Effect describes a value inside the server, or the encoded side of one of Effect's data types. */
const isInternal = (text: string): boolean =>
  text === "a potentially invalid Date instance" || /^(None|Some|Option|Left|Right|Either)Encoded(<.*>)?$/s.test(text)

const isStock = (text: unknown): boolean =>
  text === BYTES || (typeof text === "string" && (keywords.has(text) || isInternal(text)))

/**
 * Returns the JSON Schema without Effect's text. `text` is the description that Effect gave the encoded side, also if the author has
 * replaced this description. `identifier` is the identifier of the transformation.
 */
export const replace = (json: JsonObject, text: unknown = json.description, identifier: string = ""): JsonObject => {
  const { description, type, ...rest } = json
  if (!isStock(text) && !isStock(description)) return json
  const found = text === BYTES ? encodings.get(identifier) : keywords.get(text as string)
  return {
    ...(type === undefined ? undefined : { type }),
    ...found,
    ...rest,
    ...(description === undefined || isStock(description) ? undefined : { description })
  }
}
