/**
 * Makes names of tools that every known model API accepts. Such a name has at most 64 characters, which are letters, digits, "_" and "-".
 * In one list all names are different. `ModelNames` uses this module for the names of a list. `ClientToolkit` checks the names of a
 * toolkit. `SamplingPrompt` makes the name of a tool that a message uses but the request does not list. `ModelText` makes other texts for
 * models.
 */
import * as Hash from "effect/Hash"

const MAX_LENGTH = 64

/**
 * Converts a name to a name that every known model API accepts. The result begins with a letter or "_". A shortened name ends with a hash,
 * so that two long names stay different.
 */
export const legal = (name: string): string => {
  const safe = name.replace(/[^A-Za-z0-9_-]/gu, "_").replace(/^(?![A-Za-z_])/, "_").replace(/^__proto__$/, "_proto_")
  if (safe.length <= MAX_LENGTH) return safe
  const end = `_${(Hash.string(name) >>> 0).toString(36)}`
  return safe.slice(0, MAX_LENGTH - end.length) + end
}

/** Makes a function that converts names as `legal` does, and adds each result to `taken`. A name that is already taken gets a number. */
export const unique = (taken: Set<string>): (wanted: string) => string => {
  // The last number that was added to each name. Without it, the search would be long for a list that repeats one name many times.
  const numbers = new Map<string, number>()
  return (wanted) => {
    const base = legal(wanted)
    let name = base
    while (taken.has(name)) {
      const number = (numbers.get(base) ?? 1) + 1
      numbers.set(base, number)
      name = `${base.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`
    }
    taken.add(name)
    return name
  }
}
