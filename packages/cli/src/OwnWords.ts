/**
 * Finds misspelled commands and options in a command line. `Cli` calls this module before `@effect/cli` reads the words, because the errors
 * of `@effect/cli` do not suggest the word that the user may have meant.
 */
import { type Failure, usage } from "./CommandFailure.js"
import * as Help from "./Help.js"
import * as Suggestion from "./Suggestion.js"

/** Returns the failure for the first misspelled command or option among the words; `undefined` when there is none. */
export const mistake = (root: Help.Part, words: ReadonlyArray<string>): Failure | undefined => {
  let part = root
  let at = 0
  for (; part.parts.length > 0; at++) {
    const word = words[at]
    if (word === undefined || word.startsWith("-")) return mistakeInOptions(part, words.slice(at))
    const next = part.parts.find(({ name }) => name === word)
    if (next === undefined) {
      return Suggestion.unknown(
        (word) => `${part === root ? "effect-mcp" : part.name} has no command "${word}"`,
        word,
        part.parts.map(({ name }) => name),
        Suggestion.itHas
      )
    }
    part = next
  }
  return mistakeInOptions(part, words.slice(at))
}

const mistakeInOptions = (part: Help.Part, words: ReadonlyArray<string>): Failure | undefined => {
  const options = Help.optionsOf(part)
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ""
    if (!/^--?[a-z]/i.test(word)) continue
    const name = word.replace(/=[^]*/, "")
    const takesValue = options.get(name)
    if (takesValue === undefined) {
      if (!name.startsWith("--")) continue
      return Suggestion.unknown(
        (word) => `${part.name} has no option ${word}`,
        name,
        [...options.keys()].filter((option) => option.startsWith("--")),
        () =>
          Help.hasArguments(part) ? "Arguments are written as name=value" : `\`${part.name} --help\` lists its options`
      )
    }
    if (!takesValue || name !== word) continue
    at++
    if (at === words.length) return usage(`${name} needs a value`)
  }
  return undefined
}
