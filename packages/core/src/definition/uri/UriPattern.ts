/**
 * A URI template prepared for matching: its literals and captures, and for each capture the characters that delimit it on both sides.
 * `UriTemplate` prepares the pattern once for each template, so that `UriMatcher` reads a URI without backtracking.
 *
 * A template is ambiguous when matching an expanded URI might not give the same values. Then `make` returns the reason as `ambiguity`, and
 * `UriMatcher` matches no URI with this pattern.
 */
import { expansions, type Expression, type Varspec } from "./UriExpression.js"

export interface UriPattern {
  /** Why the template is ambiguous; `undefined` when it is not. */
  readonly ambiguity: string | undefined
  /** The part of the template before the query. */
  readonly path: ReadonlyArray<Segment>
  /**
   * The query of the template; `undefined` when it has none. In a URI, the query begins at a `mark`, after `nth` earlier marks of the same
   * kind.
   */
  readonly query:
    | { readonly mark: string; readonly nth: number; readonly variables: ReadonlyArray<Varspec> }
    | undefined
}

/** A literal, or a capture, which has the values of variables. */
export type Segment = string | Capture

/**
 * - `text`: one value, without reserved characters
 * - `reserved`: one value, with any character
 * - `list`: values separated by commas
 * - `segments`: values that each follow a slash
 * - `parameters`: `;name=value` pairs
 */
export type Kind = "text" | "reserved" | "list" | "segments" | "parameters"

export interface Capture {
  readonly kind: Kind
  readonly variables: readonly [Varspec, ...Array<Varspec>]
  /** The offset, in the literal after the capture, of a character that ends the capture; or `NONE` or `AT_SLASH`. */
  readonly end: number
  /** The offset, in the literal before the capture, of a character after which the capture begins; or `NONE`. */
  readonly begin: number
}

/** No character delimits the capture on this side. */
export const NONE = -1

/** The next slash, or the end of the URI, ends the capture. */
export const AT_SLASH = -2

/** Characters that an expanded capture never contains. */
const excluded: Readonly<Record<Kind, RegExp>> = {
  text: /[^A-Za-z0-9._~%-]/,
  reserved: /(?!)/,
  list: /[^A-Za-z0-9._~%,-]/,
  segments: /[^A-Za-z0-9._~%/-]/,
  parameters: /[^A-Za-z0-9._~%;=-]/
}

/** Prepares a template from its literals and expressions, given in order. */
export const make = (parts: ReadonlyArray<string | Expression>): UriPattern => {
  const at = parts.findIndex(isQuery)
  const query = parts.find(isQuery)
  const before = at === -1 ? parts : parts.slice(0, at)
  const path = delimited(joinLiterals(before.flatMap((part) => typeof part === "string" ? [part] : segmentsOf(part))))
  const literals = path.filter((segment) => typeof segment === "string").join("")
  const nth = query === undefined ? 0 : literals.split(query.operator).length - 1
  const ambiguity = query !== undefined && parts.at(-1) !== query
    ? "the query must be the last part"
    : before.some(hasLostSeparators)
    ? "the values of a list cannot be distinguished"
    : query !== undefined && (path.some((segment) => typeof segment === "object" && segment.kind === "reserved") ||
        (query.operator === "?" && nth > 0))
    ? "the query cannot be distinguished from the part before it"
    : undelimited(path) > 1
    ? "two variables cannot be distinguished"
    : undefined
  return { ambiguity, path, query: query && { mark: query.operator, nth, variables: query.variables } }
}

const isQuery = (part: string | Expression): part is Expression =>
  typeof part === "object" && /[?&]/.test(part.operator)

// The separator of an exploded list may also be a character of its values. With an empty list there is no separator.
const hasLostSeparators = (part: string | Expression): boolean =>
  typeof part === "object" && part.variables.some(({ explode }) => explode) &&
  (/[+#.]/.test(part.operator) || (part.operator === "" && part.variables.length > 1))

const capture = (kind: Kind, ...variables: Capture["variables"]): Capture => ({
  kind,
  variables,
  end: NONE,
  begin: NONE
})

const segmentsOf = ({ operator, variables }: Expression): ReadonlyArray<Segment> => {
  const { allowReserved, first, separator } = expansions[operator]
  if (operator === ";") return [capture("parameters", ...variables as Capture["variables"])]
  return variables.flatMap((variable, i) =>
    variable.explode && operator === "/"
      ? [capture("segments", variable)]
      : [
        i === 0 ? first : separator,
        capture(variable.explode ? "list" : allowReserved ? "reserved" : "text", variable)
      ]
  )
}

const joinLiterals = (segments: ReadonlyArray<Segment>): ReadonlyArray<Segment> => {
  const joined: Array<Segment> = []
  for (const segment of segments) {
    const last = joined.at(-1)
    if (typeof segment === "string" && typeof last === "string") joined[joined.length - 1] = last + segment
    else if (segment !== "") joined.push(segment)
  }
  return joined
}

/** Returns the same segments, with the delimiters of each capture. */
const delimited = (segments: ReadonlyArray<Segment>): ReadonlyArray<Segment> =>
  segments.map((segment, i) => {
    if (typeof segment === "string") return segment
    const next = segments[i + 1]
    const endsAtSlash = i + 2 === segments.length && typeof next === "object" && next.kind === "segments" &&
      excluded[segment.kind].test("/")
    return {
      ...segment,
      end: endsAtSlash ? AT_SLASH : delimiter(segment, next, "indexOf"),
      begin: delimiter(segment, segments[i - 1], "lastIndexOf")
    }
  })

const delimiter = ({ kind }: Capture, literal: Segment | undefined, which: "indexOf" | "lastIndexOf"): number =>
  typeof literal === "string" ? literal.split("").map((char) => excluded[kind].test(char))[which](true) : NONE

/** Returns how many segments are left in the middle after the delimiters have found the segments on the left and on the right. */
const undelimited = (segments: ReadonlyArray<Segment>): number => {
  let left = 0
  let right = segments.length
  const isDelimited = (segment: Segment, side: "begin" | "end") => typeof segment === "string" || segment[side] !== NONE
  while (left < right && isDelimited(segments[left]!, "end")) left++
  while (right > left && isDelimited(segments[right - 1]!, "begin")) right--
  return right - left
}
