/**
 * The headers in which a modern HTTP request repeats what its body says, so that whoever passes it on need not read the
 * body: which they are, how a value is written in one, and whether they say the same.
 *
 * Those that repeat arguments of a tool are in `ParamHeaders`. Nothing here knows of HTTP but the names.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#request-headers
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import { HeaderMismatch } from "../McpError.js"
import * as Envelope from "./Envelope.js"

/**
 * @since 0.1.0
 * @category constants
 */
export const VERSION = "MCP-Protocol-Version"

/**
 * @since 0.1.0
 * @category constants
 */
export const METHOD = "Mcp-Method"

/**
 * @since 0.1.0
 * @category constants
 */
export const NAME = "Mcp-Name"

const PREFIX = "=?base64?"
const SUFFIX = "?="

const isMarked = (value: string): boolean =>
  value.length >= PREFIX.length + SUFFIX.length && value.startsWith(PREFIX) && value.endsWith(SUFFIX)

/** Visible ASCII and spaces, but not at the ends. */
const isPlain = (value: string): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return !value.startsWith(" ") && !value.endsWith(" ")
}

/**
 * A value as it stands in a header: as it is, or marked and in base64 if a header cannot hold it or it looks marked.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#value-encoding
 * @since 0.1.0
 * @category encoding
 */
export const encode = (value: string): string =>
  isPlain(value) && !isMarked(value) ? value : `${PREFIX}${Encoding.encodeBase64(value)}${SUFFIX}`

/**
 * The value that stands in a header; none when it is marked and what is marked is not base64 of UTF-8, written as `encode`
 * writes it. Spaces around a header are not part of it.
 *
 * @since 0.1.0
 * @category decoding
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
  let start = 0
  let end = header.length
  while (start < end && isBlank(header.charCodeAt(start))) start++
  while (end > start && isBlank(header.charCodeAt(end - 1))) end--
  return header.slice(start, end)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/** The parameter that `Mcp-Name` repeats, of the methods that have one. */
const named: ReadonlyMap<string, "name" | "uri"> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"]
])

/**
 * What the headers of a request repeat.
 *
 * @since 0.1.0
 * @category models
 */
export interface Body {
  readonly method: string
  readonly params?: { readonly [key: string]: unknown } | undefined
}

/**
 * What `Mcp-Name` says of a request; `undefined` for one that has no such header.
 *
 * @since 0.1.0
 * @category getters
 */
export const nameOf = ({ method, params }: Body): string | undefined => {
  const key = named.get(method)
  const name = key === undefined ? undefined : params?.[key]
  return typeof name === "string" ? name : undefined
}

/**
 * The headers of a request, as its client sends them.
 *
 * @since 0.1.0
 * @category encoding
 */
export const make = (body: Body): Record<string, string> => {
  const version = Envelope.versionOf(body.params)
  const name = nameOf(body)
  return {
    ...(version === undefined ? undefined : { [VERSION]: version }),
    [METHOD]: body.method,
    ...(name === undefined ? undefined : { [NAME]: encode(name) })
  }
}

/**
 * Whether the headers of a request say what its body says. `header` gives a header by its lower-case name.
 *
 * What the body lacks is not looked for in the headers: that is the envelope's to refuse, and the method's.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#server-validation
 * @since 0.1.0
 * @category decoding
 */
export const check = (
  body: Body,
  header: (name: string) => string | undefined
): Either.Either<void, HeaderMismatch> => {
  const version = Envelope.versionOf(body.params)
  const name = nameOf(body)
  return Either.all([
    version === undefined ? same : repeats(VERSION, header, (value) => trimmed(value) === version),
    repeats(METHOD, header, (value) => trimmed(value) === body.method),
    name === undefined ? same : repeats(NAME, header, (value) => Option.contains(decode(value), name))
  ]).pipe(Either.map(() => undefined))
}

const same: Either.Either<void, HeaderMismatch> = Either.right(undefined)

const repeats = (
  name: string,
  header: (name: string) => string | undefined,
  agrees: (value: string) => boolean
): Either.Either<void, HeaderMismatch> => {
  const value = header(name.toLowerCase())
  return value === undefined
    ? Either.left(new HeaderMismatch({ message: `Header mismatch: ${name} is missing` }))
    : agrees(value)
    ? same
    : Either.left(new HeaderMismatch({ message: `Header mismatch: ${name} is not what the body says` }))
}
