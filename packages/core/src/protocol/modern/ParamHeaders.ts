/**
 * The HTTP headers in which a modern `tools/call` repeats the arguments that the schema of the tool marks with `x-mcp-header`. This module
 * checks the marks of a schema, makes the headers of a call, and compares the headers with the body. The module reads the JSON Schema of
 * the arguments as plain JSON, and looks for marks only in `properties`. `client/modern/ToolHeaders` makes the headers, and
 * `server/modern/Era` compares the headers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { JsonObject } from "../Json.js"
import { HeaderMismatch } from "../McpError.js"
import * as Headers from "./Headers.js"

/**
 * The keyword that marks a property of a schema.
 *
 * @category constants
 */
export const MARK = "x-mcp-header"

/** @category constants */
export const PREFIX = "Mcp-Param-"

/**
 * The full name of a header, and the path of property names to the argument that the header repeats.
 *
 * @category models
 */
export interface ParamHeader {
  readonly header: string
  readonly path: readonly [string, ...Array<string>]
}

const MAX_DEPTH = 64
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const primitive: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])

const isObject = (u: unknown): u is JsonObject => Predicate.isRecord(u)

/**
 * Finds the arguments that headers repeat. On the left: the reason why a mark in the schema is not valid. A client over HTTP leaves a tool
 * with an invalid mark out of its list, and logs the reason.
 *
 * @category constructors
 */
export const of = (inputSchema: JsonObject): Either.Either<ReadonlyArray<ParamHeader>, string> => {
  const found: Array<ParamHeader> = []
  const names = new Set<string>()
  const marked = (schema: JsonObject, path: ReadonlyArray<string>): string | undefined => {
    const name = schema[MARK]
    if (path.length === 0) return "the schema of the arguments itself is marked"
    // The server has chosen the names, and they may be long. Therefore they are joined only for the reason that is returned.
    if (typeof name !== "string" || !token.test(name)) {
      return `the mark of "${path.join(".")}" is not a valid header name`
    }
    if (names.has(name.toLowerCase())) return `two properties are marked with "${name}"`
    if (!primitive.has(schema.type)) return `"${path.join(".")}" is not a string, an integer or a boolean`
    names.add(name.toLowerCase())
    found.push({ header: PREFIX + name, path: path as ParamHeader["path"] })
    return undefined
  }
  const reachable = (schema: unknown, path: ReadonlyArray<string>): string | undefined => {
    if (!isObject(schema)) return undefined
    const { properties, [MARK]: mark, ...rest } = schema
    if (path.length > MAX_DEPTH) return "the arguments are nested too deeply"
    const wrong = mark === undefined ? undefined : marked(schema, path)
    if (wrong !== undefined) return wrong
    if (isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        const inside = reachable(property, [...path, name])
        if (inside !== undefined) return inside
      }
    }
    return Object.entries(rest).some(([key, value]) => !data.has(key) && hasMark(value, key, MAX_DEPTH))
      ? `a mark below "${path.join(".")}" is not reached by properties alone`
      : undefined
  }
  const wrong = reachable(inputSchema, [])
  return wrong === undefined ? Either.right(found) : Either.left(wrong)
}

/** Keywords whose values are data. An object in such a value is not a schema. */
const data: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"])
const maps: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties"
])

const hasMark = (value: unknown, key: string, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) return value.some((one) => hasMark(one, "", depth - 1))
  return maps.has(key)
    ? Object.values(value).some((one) => hasMark(one, "", depth - 1))
    : Object.entries(value).some(([inner, one]) =>
      inner === MARK || (!data.has(inner) && hasMark(one, inner, depth - 1))
    )
}

const valueAt = (args: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce((inner, name) => isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined, args)

/**
 * Returns the text that a header repeats. Returns `undefined` for `null` and for an absent argument, because these arguments have no
 * header.
 */
const headerText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "boolean" || Number.isSafeInteger(value) ? `${value}` : undefined

/**
 * Makes the headers that a client sends with a call. `args` are the arguments of the call.
 *
 * @category constructors
 */
export const make = (headers: ReadonlyArray<ParamHeader>, args: JsonObject | undefined): Record<string, string> =>
  Object.fromEntries(headers.flatMap(({ header, path }) => {
    const text = headerText(valueAt(args, path))
    return text === undefined ? [] : [[header, Headers.encode(text)]]
  }))

/**
 * Compares the headers of a call with its arguments. Integers are compared as numbers. A header is not compared when its argument is absent
 * or `null`. `header` is a function that returns the value of a header for a name in lower case.
 *
 * @category utils
 */
export const check = (
  headers: ReadonlyArray<ParamHeader>,
  args: JsonObject | undefined,
  header: (name: string) => string | undefined
): Either.Either<void, HeaderMismatch> => {
  for (const { header: name, path } of headers) {
    const value = valueAt(args, path)
    const text = headerText(value)
    if (text === undefined) continue
    const sent = header(name.toLowerCase())
    if (sent === undefined) return mismatch(`${name} is missing`)
    const decoded = Headers.decode(sent)
    const agrees = Option.exists(
      decoded,
      (one) => one === text || (typeof value === "number" && decimal.test(one) && Number(one) === value)
    )
    if (!agrees) return mismatch(`${name} differs from the body`)
  }
  return Either.right(undefined)
}

const decimal = /^-?\d{1,16}(?:\.0{1,16})?$/

const mismatch = (what: string): Either.Either<never, HeaderMismatch> =>
  Either.left(new HeaderMismatch({ message: `Header mismatch: ${what}` }))
