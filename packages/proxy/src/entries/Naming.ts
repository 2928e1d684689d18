/**
 * Chooses the entries of an upstream that clients get, and their names. A name that a rename gives twice stays with the first
 * entry.
 */
import type { ServerLists } from "@effect-mcp/client/unstable/Entries"
import type { ProxyEntry } from "../ProxyEntry.js"

export interface Options {
  readonly prefix?: string | undefined
  readonly rename?: ((entry: ProxyEntry) => string) | undefined
  readonly filter?: ((entry: ProxyEntry) => boolean) | undefined
}

/** An entry with the name that clients know. */
export interface Named {
  readonly own: string
  readonly entry: ProxyEntry
}

/** The entries that clients get, at most `max`, and how many are left out for the limit. */
export const named = (
  lists: ServerLists,
  options: Options,
  max: number
): { readonly entries: ReadonlyArray<Named>; readonly left: number } => {
  const { filter, prefix = "", rename } = options
  const all: ReadonlyArray<ProxyEntry> = [
    ...lists.tools.map((listed): ProxyEntry => ({ kind: "tool", name: listed.name, listed })),
    ...lists.prompts.map((listed): ProxyEntry => ({ kind: "prompt", name: listed.name, listed })),
    ...lists.resources.map((listed): ProxyEntry => ({ kind: "resource", name: listed.uri, listed })),
    ...lists.templates.map((listed): ProxyEntry => ({ kind: "template", name: listed.uriTemplate, listed }))
  ]
  const taken = new Set<string>()
  const entries = all.flatMap((entry): ReadonlyArray<Named> => {
    if (filter?.(entry) === false) return []
    const isNamed = entry.kind === "tool" || entry.kind === "prompt"
    const own = rename?.(entry) ?? (isNamed ? prefix + entry.name : entry.name)
    const key = `${entry.kind} ${own}`
    if (taken.has(key)) return []
    taken.add(key)
    return [{ own, entry }]
  })
  return { entries: entries.slice(0, max), left: Math.max(0, entries.length - max) }
}
