/**
 * The headers in which a modern HTTP `tools/call` repeats the arguments that its tool marks with `x-mcp-header`: which
 * marks are valid, what a call sends, and whether it says the same as its body.
 *
 * It reads the plain JSON Schema of a tool's arguments, and only along `properties`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { JsonObject } from "../Json.js"
import { HeaderMismatch } from "../McpError.js"
import * as Headers from "./Headers.js"

/**
 * What a property of a tool's arguments is marked with.
 *
 * @since 0.1.0
 * @category constants
 */
export const MARK = "x-mcp-header"

/**
 * @since 0.1.0
 * @category constants
 */
export const PREFIX = "Mcp-Param-"

/**
 * An argument that a header repeats: the whole name of the header, and the names that lead to the argument.
 *
 * @since 0.1.0
 * @category models
 */
export interface ParamHeader {
  readonly header: string
  readonly path: readonly [string, ...Array<string>]
}

const MAX_DEPTH = 64
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const primitive: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])

const isObject = (u: unknown): u is JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

/**
 * The arguments that headers repeat, or why a tool's marks are not valid. A client over HTTP leaves such a tool out of its
 * list, and logs the reason.
 *
 * @since 0.1.0
 * @category decoding
 */
export const of = (inputSchema: JsonObject): Either.Either<ReadonlyArray<ParamHeader>, string> => {
  const found: Array<ParamHeader> = []
  const names = new Set<string>()
  const marked = (schema: JsonObject, path: ReadonlyArray<string>): string | undefined => {
    const name = schema[MARK]
    if (path.length === 0) return `the arguments themselves are marked`
    const at = path.join(".")
    if (typeof name !== "string" || !token.test(name)) return `the mark of "${at}" is no header name`
    if (names.has(name.toLowerCase())) return `"${name}" is marked twice`
    if (!primitive.has(schema.type)) return `"${at}" is no string, integer or boolean`
    names.add(name.toLowerCase())
    found.push({ header: PREFIX + name, path: path as ParamHeader["path"] })
    return undefined
  }
  const reachable = (schema: unknown, path: ReadonlyArray<string>): string | undefined => {
    if (!isObject(schema)) return undefined
    const { properties, [MARK]: mark, ...rest } = schema
    if (path.length > MAX_DEPTH) return "its arguments nest too deep"
    const wrong = mark === undefined ? undefined : marked(schema, path)
    if (wrong !== undefined) return wrong
    if (isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        const inside = reachable(property, [...path, name])
        if (inside !== undefined) return inside
      }
    }
    return Object.entries(rest).some(([key, value]) => !data.has(key) && hides(value, key, MAX_DEPTH))
      ? `a mark below "${path.join(".")}" is not reached by properties alone`
      : undefined
  }
  const wrong = reachable(inputSchema, [])
  return wrong === undefined ? Either.right(found) : Either.left(wrong)
}

/** Keywords whose values are data, and whose members are no keywords. */
const data: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"])
const maps: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties"
])

const hides = (value: unknown, key: string, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) return value.some((one) => hides(one, "", depth - 1))
  return maps.has(key)
    ? Object.values(value).some((one) => hides(one, "", depth - 1))
    : Object.entries(value).some(([inner, one]) => inner === MARK || (!data.has(inner) && hides(one, inner, depth - 1)))
}

const valueAt = (args: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce((inner, name) => isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined, args)

/** Only what a header can repeat; `null` and what is absent are not repeated. */
const inWords = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "boolean" || Number.isSafeInteger(value) ? `${value}` : undefined

/**
 * The headers of a call, as its client sends them.
 *
 * @since 0.1.0
 * @category encoding
 */
export const make = (headers: ReadonlyArray<ParamHeader>, args: JsonObject | undefined): Record<string, string> =>
  Object.fromEntries(headers.flatMap(({ header, path }) => {
    const words = inWords(valueAt(args, path))
    return words === undefined ? [] : [[header, Headers.encode(words)]]
  }))

/**
 * Whether the headers of a call say what its arguments say. Integers are compared as numbers; a header for an argument
 * that is absent or `null` is not looked for. `header` gives a header by its lower-case name.
 *
 * @since 0.1.0
 * @category decoding
 */
export const check = (
  headers: ReadonlyArray<ParamHeader>,
  args: JsonObject | undefined,
  header: (name: string) => string | undefined
): Either.Either<void, HeaderMismatch> => {
  for (const { header: name, path } of headers) {
    const value = valueAt(args, path)
    const words = inWords(value)
    if (words === undefined) continue
    const said = header(name.toLowerCase())
    if (said === undefined) return mismatch(`${name} is missing`)
    const decoded = Headers.decode(said)
    const agrees = Option.exists(
      decoded,
      (one) => one === words || (typeof value === "number" && decimal.test(one) && Number(one) === value)
    )
    if (!agrees) return mismatch(`${name} is not what the body says`)
  }
  return Either.right(undefined)
}

const decimal = /^-?\d{1,16}(?:\.0{1,16})?$/

const mismatch = (what: string): Either.Either<never, HeaderMismatch> =>
  Either.left(new HeaderMismatch({ message: `Header mismatch: ${what}` }))
