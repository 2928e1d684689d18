/**
 * Compares the entries that are registered with the server and the entries that the upstream lists now. Finds the entries that are new,
 * that have changed, and that the upstream no longer lists. `Mirror` then adds, replaces and removes entries.
 */

/** The version of a registered entry. While both texts stay equal, the entry does not need to be registered again. */
export interface Version {
  /** The name at the upstream, and the settings of the proxy that affect all entries. */
  readonly settings: string
  /** The entry as the upstream lists it, as JSON text. */
  readonly text: string
}

/** Entries by their kinds and names. */
type Entries = ReadonlyMap<string, Version>

export interface Change {
  readonly _tag: "Add" | "Replace" | "Remove"
  readonly key: string
}

/**
 * Returns the changes from `before` to `after`. First come the new and changed entries in the order of `after`, then the entries that are
 * not in `after`.
 */
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
