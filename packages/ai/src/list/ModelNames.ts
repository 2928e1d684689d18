/**
 * The names of tools for models: only characters that every known model API accepts, at most 64, and no name twice. A tool keeps
 * its name as long as it is listed, also when others come and go.
 */
import * as Hash from "effect/Hash"

export interface Named {
  /** What stays the same while the tool is listed: its server and its name there. */
  readonly key: string
  /** The name that it should have. */
  readonly wanted: string
}

const MAX_LENGTH = 64

/** The names by key. A tool that had a name `before` keeps it; the others get theirs in order. */
export const assign = (
  tools: ReadonlyArray<Named>,
  before: ReadonlyMap<string, string> = new Map()
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  // The last number of each name: a server that repeats a name many times causes no long search.
  const numbers = new Map<string, number>()
  for (const { key } of tools) {
    const name = before.get(key)
    if (name === undefined || taken.has(name)) continue
    names.set(key, name)
    taken.add(name)
  }
  for (const { key, wanted } of tools) {
    if (names.has(key)) continue
    const base = legal(wanted)
    let name = base
    while (taken.has(name)) {
      const number = (numbers.get(base) ?? 1) + 1
      numbers.set(base, number)
      name = `${base.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`
    }
    names.set(key, name)
    taken.add(name)
  }
  return names
}

/** A name with only letters, digits, "_" and "-", that begins with a letter or "_". A name that is cut ends with a hash. */
export const legal = (name: string): string => {
  const safe = name.replace(/[^A-Za-z0-9_-]/gu, "_").replace(/^(?![A-Za-z_])/, "_").replace(/^__proto__$/, "_proto_")
  if (safe.length <= MAX_LENGTH) return safe
  const end = `_${(Hash.string(name) >>> 0).toString(36)}`
  return safe.slice(0, MAX_LENGTH - end.length) + end
}
