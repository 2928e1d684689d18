/**
 * Reads the header `WWW-Authenticate`, which may have several challenges with tokens, quoted strings and `token68`. `wanted` collects the
 * parts of the challenges that describe the token that the server wants, for `ServerTokens`, `Login` and `Discovery`. The parser never
 * fails, and stops at the first malformed part. `ResourceMetadata`, `ServerMetadata`, `TokenEndpoint` and `TokenRules` split lists of
 * scopes with `scopesOf`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 */

export interface Challenge {
  /** In lower case: "bearer", "dpop". */
  readonly scheme: string
  /** The parameters, by their names in lower case. When a name occurs twice, the parser uses the first value. */
  readonly parameters: ReadonlyMap<string, string>
}

/** How many characters of the header are read. The rest is ignored. */
const MAX_LENGTH = 16 * 1024

const TOKEN = /\s*(?:,\s*)*([!#$%&'*+.^_`|~0-9A-Za-z-]+)/y
const TOKEN68 = /[ \t]+[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|$)/y
const PARAMETER =
  /\s*(?:,\s*)*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|([!#$%&'*+.^_`|~0-9A-Za-z:/?=@-]+))[ \t]*(?=,|$)/y

/** Returns all challenges of a header, in order. */
export const parse = (header: string): ReadonlyArray<Challenge> => {
  const text = header.slice(0, MAX_LENGTH)
  const challenges: Array<Challenge> = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  // A parameter without a scheme before it is malformed and ends the reading.
  for (let scheme = next(TOKEN); scheme !== null && !/^[ \t]*=/.test(text.slice(at, at + 8)); scheme = next(TOKEN)) {
    const parameters = new Map<string, string>()
    challenges.push({ scheme: scheme[1]!.toLowerCase(), parameters })
    if (next(TOKEN68) !== null) continue
    for (let found = next(PARAMETER); found !== null; found = next(PARAMETER)) {
      const name = found[1]!.toLowerCase()
      const value = found[2]?.replace(/\\([^])/g, "$1") ?? found[3]!
      if (!parameters.has(name)) parameters.set(name, value)
    }
  }
  return challenges
}

/** The parts of a refusal that describe the token that the server wants. */
export interface Wanted {
  /** The URL of the metadata of the resource; `undefined` when no challenge names it. */
  readonly resourceMetadata: string | undefined
  /** The scopes that the challenge names; `undefined` when the challenge names no scope. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** The error code, such as "insufficient_scope". */
  readonly error: string | undefined
  /** The text of the server that explains why it refused the request. */
  readonly description: string | undefined
}

/** Reads the challenges `Bearer` and `DPoP` of a header. Uses each parameter from the first challenge that has the parameter. */
export const wanted = (header: string | undefined): Wanted => {
  const challenges = header === undefined ? [] : parse(header)
  const ours = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop")
  const first = (name: string): string | undefined => {
    for (const { parameters } of ours) {
      const value = parameters.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }
  const scope = first("scope")
  return {
    resourceMetadata: first("resource_metadata"),
    scopes: scope === undefined ? undefined : scopesOf(scope),
    error: first("error"),
    description: first("error_description")
  }
}

/** Splits a list of scopes that are separated by spaces. Leaves out duplicates and entries that are not valid scopes. */
export const scopesOf = (
  list: string
): ReadonlyArray<string> => [
  ...new Set(list.split(" ").filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope)))
]
