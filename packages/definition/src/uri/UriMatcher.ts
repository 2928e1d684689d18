/**
 * Matches a URI against a `UriPattern`: reads it from both ends towards at most one capture without delimiters, in time
 * proportional to its length. `UriValues` decodes what each capture holds.
 */
import type { Capture, Segment, UriPattern } from "./UriPattern.js"
import { AT_SLASH, NONE } from "./UriPattern.js"
import * as UriValues from "./UriValues.js"

/** The decoded values of the variables; `undefined` when the URI does not match, or the pattern is ambiguous. */
export const match = ({ ambiguity, path, query }: UriPattern, uri: string): UriValues.UriValues | undefined => {
  if (ambiguity !== undefined) return undefined
  const end = query === undefined ? uri.length : nthIndexOf(uri, query.mark, query.nth)
  const ofPath = matchPath(path, uri.slice(0, end))
  const ofQuery = query === undefined || end === uri.length
    ? []
    : UriValues.fromPairs(query.variables, uri.slice(end + 1).split("&"))
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

const matchPath = (segments: ReadonlyArray<Segment>, uri: string): UriValues.UriValues | undefined => {
  const matched: Array<UriValues.UriValues> = []
  let [start, end, left, right] = [0, uri.length, 0, segments.length]
  const take = (capture: Capture, from: number, to: number): boolean => {
    const values = from < start || to > end || from > to
      ? undefined
      : UriValues.fromCapture(capture, uri.slice(from, to))
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
  // Of a pattern without ambiguity at most one capture remains.
  const isComplete = left === right ? start === end : take(segments[left] as Capture, start, end)
  return isComplete ? matched.flat() : undefined
}
