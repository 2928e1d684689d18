/**
 * Reads `WWW-Authenticate`: several challenges in one header, with tokens, quoted strings and `token68`, and finds the challenge that
 * names where to get a token, for `ServerTokens`, `Login` and `Discovery`. Reading never fails: what is malformed ends the reading.
 * `ResourceMetadata`, `ServerMetadata`, `TokenEndpoint` and `TokenRules` split lists of scopes by `scopesOf`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 */

export interface Challenge {
  /** In lower case: "bearer", "dpop". */
  readonly scheme: string
  /** By lower-case names; the first parameter of a name counts. */
  readonly parameters: ReadonlyMap<string, string>
}

/** How many characters of the header are read. */
const MAX_LENGTH = 16 * 1024

const TOKEN = /\s*(?:,\s*)*([!#$%&'*+.^_`|~0-9A-Za-z-]+)/y
const TOKEN68 = /[ \t]+[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|$)/y
const PARAMETER =
  /\s*(?:,\s*)*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|([!#$%&'*+.^_`|~0-9A-Za-z:/?=@-]+))[ \t]*(?=,|$)/y

/** All challenges of a header, in order. */
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
  // A name with a value and no scheme before it is malformed.
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

/** What a refusal says about the token that the server wants. */
export interface Wanted {
  readonly resourceMetadata: string | undefined
  /** `undefined` when the challenge names no scope. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** The error code, such as "insufficient_scope". */
  readonly error: string | undefined
  /** Why the server refused the request, in its own words. */
  readonly description: string | undefined
}

/** What the challenges for tokens say together; a server may send a challenge for `Bearer` and a challenge for `DPoP`. */
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

/** The scopes of a list, each once; what is not a scope is left out. */
export const scopesOf = (
  list: string
): ReadonlyArray<string> => [
  ...new Set(list.split(" ").filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope)))
]
