/**
 * The HTTP headers in which a modern request repeats parts of its body, so that proxies do not need to read the body. This module has the
 * names of the headers and the encoding of their values, and compares the headers with the body. `ParamHeaders` has the headers that repeat
 * arguments of a tool. `client/modern/Http` sends the headers, and `server/modern/RequestFacts` calls the comparison.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#request-headers
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import { HeaderMismatch } from "../McpError.js"
import * as Envelope from "./Envelope.js"

/** @category constants */
export const VERSION = "MCP-Protocol-Version"

/** @category constants */
export const METHOD = "Mcp-Method"

/** @category constants */
export const NAME = "Mcp-Name"

const PREFIX = "=?base64?"
const SUFFIX = "?="

const isMarked = (value: string): boolean =>
  value.length >= PREFIX.length + SUFFIX.length && value.startsWith(PREFIX) && value.endsWith(SUFFIX)

/** Whether a text has only visible ASCII characters and spaces, and does not begin or end with a space. */
const isPlain = (value: string): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return !value.startsWith(" ") && !value.endsWith(" ")
}

/**
 * Encodes a text as a header value. Returns the text unchanged if a header can contain it. Returns the text as base64 between `=?base64?`
 * and `?=` if a header cannot contain the text, or if the text itself looks like a value in this encoding.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#value-encoding
 * @category utils
 */
export const encode = (value: string): string =>
  isPlain(value) && !isMarked(value) ? value : `${PREFIX}${Encoding.encodeBase64(value)}${SUFFIX}`

/**
 * Decodes a header value, and removes the spaces around it. Returns `None` when the value is not valid, or when the value is marked as
 * base64 but differs from the base64 that `encode` writes.
 *
 * @category utils
 */
export const decode = (header: string): Option.Option<string> => {
  const value = trimmed(header)
  if (!isPlain(value)) return Option.none()
  if (!isMarked(value)) return Option.some(value)
  const base64 = value.slice(PREFIX.length, -SUFFIX.length)
  return Option.filter(
    Option.getRight(Encoding.decodeBase64String(base64)),
    (decoded) => Encoding.encodeBase64(decoded) === base64
  )
}

const trimmed = (header: string): string => {
  if (isPlain(header)) return header
  let start = 0
  let end = header.length
  while (start < end && isBlank(header.charCodeAt(start))) start++
  while (end > start && isBlank(header.charCodeAt(end - 1))) end--
  return header.slice(start, end)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/**
 * The parameters whose value `Mcp-Name` repeats, by the names of the methods of the core protocol.
 *
 * @category constants
 */
export const nameParameters: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"]
])

/**
 * The parts of a request body that headers repeat.
 *
 * @category models
 */
export interface Body {
  readonly method: string
  readonly params?: { readonly [key: string]: unknown } | undefined
}

/**
 * Returns the value of `Mcp-Name`, not encoded. Returns `undefined` for a request that does not have this header. `parameters` may also
 * have methods of extensions. Default: `nameParameters`.
 *
 * @category utils
 */
export const nameOf = ({ method, params }: Body, parameters = nameParameters): string | undefined => {
  const key = parameters.get(method)
  const name = key === undefined ? undefined : params?.[key]
  return typeof name === "string" ? name : undefined
}

/**
 * Makes the headers that a client sends with a request. For `parameters` see `nameOf`.
 *
 * @category constructors
 */
export const make = (body: Body, parameters = nameParameters): Record<string, string> => {
  const version = Envelope.versionOf(body.params)
  const name = nameOf(body, parameters)
  const headers: Record<string, string> = { [METHOD]: body.method }
  if (version !== undefined) headers[VERSION] = version
  if (name !== undefined) headers[NAME] = encode(name)
  return headers
}

/**
 * Compares the headers of a request with its body. `header` is a function that returns the value of a header for a name in lower case. For
 * `parameters` see `nameOf`.
 *
 * When the body lacks the part that a header repeats, the header is not compared. In that case `Envelope` or the method refuses the body.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#server-validation
 * @category utils
 */
export const check = (
  body: Body,
  header: (name: string) => string | undefined,
  parameters = nameParameters
): Either.Either<void, HeaderMismatch> => {
  const version = Envelope.versionOf(body.params)
  const name = nameOf(body, parameters)
  const different = (version === undefined ? undefined : mismatch(VERSION, version, trimmed, header)) ??
    mismatch(METHOD, body.method, trimmed, header) ??
    (name === undefined ? undefined : mismatch(NAME, name, decoded, header))
  return different === undefined ? same : Either.left(new HeaderMismatch({ message: `Header mismatch: ${different}` }))
}

const same: Either.Either<void, HeaderMismatch> = Either.right(undefined)

/** Says how a header differs from a part of the body. Returns `undefined` when the header repeats that part. */
const mismatch = (
  name: keyof typeof lowerCase,
  part: string,
  read: (value: string) => string | undefined,
  header: (name: string) => string | undefined
): string | undefined => {
  const value = header(lowerCase[name])
  return value === undefined ? `${name} is missing` : read(value) === part ? undefined : `${name} differs from the body`
}

const lowerCase = {
  [VERSION]: "mcp-protocol-version",
  [METHOD]: "mcp-method",
  [NAME]: "mcp-name"
} as const

const decoded = (value: string): string | undefined => Option.getOrUndefined(decode(value))
