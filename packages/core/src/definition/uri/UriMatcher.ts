/**
 * Matches a URI against a `UriPattern`, for `UriTemplate`, in time proportional to the length of the URI. Decodes the values in each
 * capture and in the query. A pattern has at most one capture without a delimiter at its end. The matcher reads the URI from both ends, and
 * the text that is left in the middle is the value of this capture. A URI with a value that cannot be decoded does not match.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type { Varspec } from "./UriExpression.js"
import { AT_SLASH, type Capture, type Kind, NONE, type Segment, type UriPattern } from "./UriPattern.js"

/** Returns the decoded values of the variables; `undefined` when the URI does not match, or when the pattern is ambiguous. */
export const match = ({ ambiguity, path, query }: UriPattern, uri: string): UriValues | undefined => {
  if (ambiguity !== undefined) return undefined
  const end = query === undefined ? uri.length : nthIndexOf(uri, query.mark, query.nth)
  const ofPath = matchPath(path, uri.slice(0, end))
  const ofQuery = query === undefined || end === uri.length
    ? []
    : fromPairs(query.variables, uri.slice(end + 1).split("&"))
  return ofPath === undefined || ofQuery === undefined ? undefined : [...ofPath, ...ofQuery]
}

const nthIndexOf = (text: string, mark: string, nth: number): number => {
  let at = text.indexOf(mark)
  for (let i = 0; i < nth && at !== -1; i++) at = text.indexOf(mark, at + 1)
  return at === -1 ? text.length : at
}

const slashOrEnd = (text: string, from: number): number => {
  const at = text.indexOf("/", from)
  return at === -1 ? text.length : at
}

const matchPath = (segments: ReadonlyArray<Segment>, uri: string): UriValues | undefined => {
  const matched: Array<UriValues> = []
  let [start, end, left, right] = [0, uri.length, 0, segments.length]
  const take = (capture: Capture, from: number, to: number): boolean => {
    const values = from < start || to > end || from > to
      ? undefined
      : fromCapture(capture, uri.slice(from, to))
    if (values !== undefined) matched.push(values)
    return values !== undefined
  }
  for (; left < right; left++) {
    const segment = segments[left]!
    if (typeof segment === "string") {
      if (!uri.startsWith(segment, start)) return undefined
      start += segment.length
      continue
    }
    if (segment.end === NONE) break
    const stop = segment.end === AT_SLASH
      ? slashOrEnd(uri, start)
      : uri.indexOf((segments[left + 1] as string).charAt(segment.end), start) - segment.end
    if (!take(segment, start, stop)) return undefined
    start = stop
  }
  for (; right > left; right--) {
    const segment = segments[right - 1]!
    if (typeof segment === "string") {
      if (end - segment.length < start || !uri.startsWith(segment, end - segment.length)) return undefined
      end -= segment.length
      continue
    }
    if (segment.begin === NONE) break
    const literal = segments[right - 2] as string
    const delimiter = uri.lastIndexOf(literal.charAt(segment.begin), end - 1)
    const from = delimiter - segment.begin + literal.length
    if (delimiter === -1 || !take(segment, from, end)) return undefined
    end = from
  }
  // In a pattern without ambiguity, at most one capture is left.
  const isComplete = left === right ? start === end : take(segments[left] as Capture, start, end)
  return isComplete ? matched.flat() : undefined
}

/** Each variable that the URI has, with its value. For a list, the value is an array. */
type UriValues = ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string>]>

/** Returns the values in the text of a capture; `undefined` when its variables cannot expand to this text. */
const fromCapture = ({ kind, variables }: Capture, text: string): UriValues | undefined => {
  if (kind === "parameters") {
    return text === "" ? [] : text.startsWith(";") ? fromPairs(variables, text.slice(1).split(";")) : undefined
  }
  const values = decoders[kind](text)
  return values && [[variables[0].name, kind === "text" || kind === "reserved" ? values[0]! : values]]
}

/**
 * Returns the values of `name=value` pairs. Pairs with other names are ignored. A list takes the values of all pairs with its name. When
 * there is a second pair for any other variable, the URI does not match.
 */
const fromPairs = (variables: ReadonlyArray<Varspec>, pairs: ReadonlyArray<string>): UriValues | undefined => {
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

/** Decodes texts. Returns `undefined` when a text has a character that ends a path segment. */
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
