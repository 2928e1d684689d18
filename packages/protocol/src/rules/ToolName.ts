/**
 * Which names a tool should have. Most peers accept other names too, so a server that registers such a tool logs a
 * warning, and a client can call it.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 */

/** The longest valid name, in characters. */
export const MAX_LENGTH = 128

/** What is wrong with a name; `undefined` when it is valid. */
export const problem = (name: string): string | undefined => {
  if (name === "") return "the name is empty"
  if (name.length > MAX_LENGTH) return `the name has ${name.length} characters, and ${MAX_LENGTH} are allowed`
  const wrong = /[^A-Za-z0-9_.-]/u.exec(name)
  return wrong === null
    ? undefined
    : `the name contains "${wrong[0]}", and only letters, digits, "_", "-" and "." are allowed`
}
