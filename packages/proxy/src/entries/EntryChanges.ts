/**
 * Compares the entries that are registered with the entries that the upstream lists now: which entries are new, which have changed, and
 * which have gone. `Mirror` makes the changes.
 */

/** What an entry was registered with. The entry need not be registered anew as long as both texts are equal. */
export interface Version {
  /** How the entry is registered: the name at the upstream, and what holds for all entries. */
  readonly settings: string
  /** What the upstream lists for the entry, as JSON. */
  readonly text: string
}

/** Entries by their kinds and names. */
type Entries = ReadonlyMap<string, Version>

export interface Change {
  readonly _tag: "Add" | "Replace" | "Remove"
  readonly key: string
}

/** The changes from `before` to `after`: what is new or different, in the order of `after`, and then what has gone. */
export const changes = (before: Entries, after: Entries): ReadonlyArray<Change> => {
  const found: Array<Change> = []
  for (const [key, { settings, text }] of after) {
    const known = before.get(key)
    if (known === undefined) found.push({ _tag: "Add", key })
    else if (known.settings !== settings || known.text !== text) found.push({ _tag: "Replace", key })
  }
  for (const key of before.keys()) {
    if (!after.has(key)) found.push({ _tag: "Remove", key })
  }
  return found
}
