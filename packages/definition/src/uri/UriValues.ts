/**
 * The values of variables, decoded from the part of a URI that a capture or a query holds. When one value cannot be
 * decoded, the whole URI does not match.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type { Varspec } from "./UriExpression.js"
import type { Capture, Kind } from "./UriPattern.js"

/** Each variable that the URI holds, with its value or, for a list, its values. */
export type UriValues = ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string>]>

/** The values that a capture holds; `undefined` when the text cannot be what its variables expand to. */
export const fromCapture = ({ kind, variables }: Capture, text: string): UriValues | undefined => {
  if (kind === "parameters") {
    return text === "" ? [] : text.startsWith(";") ? fromPairs(variables, text.slice(1).split(";")) : undefined
  }
  const values = decoders[kind](text)
  return values && [[variables[0].name, kind === "text" || kind === "reserved" ? values[0]! : values]]
}

/**
 * The values of `name=value` pairs. Pairs of other names are ignored; a list takes every pair of its name, and a second
 * pair for any other variable is a mismatch.
 */
export const fromPairs = (variables: ReadonlyArray<Varspec>, pairs: ReadonlyArray<string>): UriValues | undefined => {
  const lists = new Map(variables.map(({ explode, name }) => [name, explode]))
  const byName = new Map<string, Array<string>>()
  for (const pair of pairs) {
    const equals = pair.indexOf("=")
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const isList = lists.get(name)
    if (isList === undefined) continue
    const value = decodeAll([equals === -1 ? "" : pair.slice(equals + 1)])?.[0]
    const values = byName.get(name)
    if (value === undefined || (values !== undefined && !isList)) return undefined
    if (values === undefined) byName.set(name, [value])
    else values.push(value)
  }
  return [...byName].map(([name, values]) => [name, lists.get(name) === true ? values : values[0]!])
}

const decode = (text: string): string | undefined =>
  Either.getOrElse(Encoding.decodeUriComponent(text), () => undefined)

/** Decodes texts that must not hold a character which ends a path segment. */
const decodeAll = (texts: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const decoded = texts.map((text) => /[/?#]/.test(text) ? undefined : decode(text))
  return decoded.some((text) => text === undefined) ? undefined : decoded as ReadonlyArray<string>
}

const decoders: Readonly<Record<Exclude<Kind, "parameters">, (text: string) => ReadonlyArray<string> | undefined>> = {
  text: (text) => decodeAll([text]),
  reserved: (text) => {
    const decoded = decode(text)
    return decoded === undefined ? undefined : [decoded]
  },
  list: (text) => text === "" ? [] : decodeAll(text.split(",")),
  segments: (text) => text === "" ? [] : text.startsWith("/") ? decodeAll(text.slice(1).split("/")) : undefined
}
