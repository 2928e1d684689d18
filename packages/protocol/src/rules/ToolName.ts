/**
 * Which names a tool should have. A name that breaks these rules still works with most peers: whoever defines a tool is
 * warned, whoever calls one is not.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 * @since 0.1.0
 */

/**
 * How long a name may be.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_LENGTH = 128

/**
 * What is wrong with a name; `undefined` when nothing is.
 *
 * @since 0.1.0
 * @category predicates
 */
export const problem = (name: string): string | undefined => {
  if (name === "") return "a tool needs a name"
  if (name.length > MAX_LENGTH) return `a tool's name has at most ${MAX_LENGTH} characters, this has ${name.length}`
  const wrong = /[^A-Za-z0-9_.-]/u.exec(name)
  return wrong === null
    ? undefined
    : `a tool's name is made of letters, digits, "_", "-" and ".", not of "${wrong[0]}"`
}

/**
 * @since 0.1.0
 * @category predicates
 */
export const isValid = (name: string): boolean => problem(name) === undefined

/**
 * The names that stand more than once in a list, each once; `Search` and `search` are two names.
 *
 * @since 0.1.0
 * @category predicates
 */
export const repeated = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const name of names) (seen.has(name) ? twice : seen).add(name)
  return [...twice]
}
