/**
 * Suggests the name that a user may have meant with a misspelled word. The name may be a command or an option (`OwnWords`), a server
 * (`Configured`), a tool, a prompt or a resource (`Call`, `Inspect`), or an argument (`ArgumentWords`).
 */
import { type Failure, usage } from "./CommandFailure.js"

/** Returns how many letters must be added, left out or replaced to change one word into the other word. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + (letter === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const MAX_NAMES = 20
const MAX_LETTERS = 100
/** How many names are compared with the word at most, because a server may list a hundred thousand long names. */
const MAX_COMPARED = 1000

const closest = (word: string, names: ReadonlyArray<string>): string | undefined =>
  names.slice(0, MAX_COMPARED).filter((name) => name.length <= MAX_LETTERS)
    .map((name) => ({ name, letters: distance(word.slice(0, MAX_LETTERS).toLowerCase(), name.toLowerCase()) }))
    .filter(({ letters, name }) => letters <= Math.ceil(name.length / 3))
    .sort((a, b) => a.letters - b.letters)[0]?.name

/**
 * Makes the failure for a word that is not among the names. Its message suggests the closest name. When no name is close, the message has
 * the text that `otherwise` makes from the first names.
 */
export const unknown = (
  problem: (word: string) => string,
  word: string,
  names: ReadonlyArray<string>,
  otherwise: (names: string) => string
): Failure => {
  const meant = closest(word, names)
  const known = names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ", …" : "")
  const advice = meant === undefined ? otherwise(known) : `Did you mean "${meant}"?`
  return usage(`${problem(word.slice(0, MAX_LETTERS))}${advice === "" ? "" : `. ${advice}`}`)
}

/** Says which names a server or a command has. */
export const itHas = (names: string): string => names === "" ? "" : `It has: ${names}`
