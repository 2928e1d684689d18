/**
 * Chooses the entries of an upstream that clients get, and the names of these entries for clients, for `Mirror`. The options `filter`,
 * `rename` and `prefix` of the proxy decide. This module removes invisible characters from the names of tools and prompts. When two entries
 * get the same name, clients get the first entry. Clients do not get an entry for which `filter` or `rename` throws. When `rename` changes
 * URIs, `Uris` converts the URIs in requests and results.
 */
import type { ServerLists } from "@effect-mcp/core/unstable/client/Entries"
import * as HiddenCharacters from "@effect-mcp/core/unstable/protocol/HiddenCharacters"
import * as Either from "effect/Either"
import type { ProxyEntry } from "../ProxyEntry.js"

export interface Options {
  readonly prefix?: string | undefined
  readonly rename?: ((entry: ProxyEntry) => string) | undefined
  readonly filter?: ((entry: ProxyEntry) => boolean) | undefined
}

/** An entry, and its name for clients. */
export interface Named {
  readonly own: string
  readonly entry: ProxyEntry
}

/** An entry for which `filter` or `rename` has thrown, and the error. */
export interface Failed {
  readonly entry: ProxyEntry
  readonly error: unknown
}

/**
 * Returns at most `max` entries that clients get. `left` is the number of further entries, which clients do not get. `failed` are the
 * entries for which `filter` or `rename` has thrown.
 */
export const named = (
  lists: ServerLists,
  options: Options,
  max: number
): { readonly entries: ReadonlyArray<Named>; readonly left: number; readonly failed: ReadonlyArray<Failed> } => {
  const { filter, prefix = "", rename } = options
  const all: ReadonlyArray<ProxyEntry> = [
    ...lists.tools.map((listed): ProxyEntry => ({ kind: "tool", name: listed.name, listed })),
    ...lists.prompts.map((listed): ProxyEntry => ({ kind: "prompt", name: listed.name, listed })),
    ...lists.resources.map((listed): ProxyEntry => ({ kind: "resource", name: listed.uri, listed })),
    ...lists.templates.map((listed): ProxyEntry => ({ kind: "template", name: listed.uriTemplate, listed }))
  ]
  const taken = new Set<string>()
  const failed: Array<Failed> = []
  const nameOf = (entry: ProxyEntry): string | undefined => {
    if (filter?.(entry) === false) return undefined
    const isNamed = entry.kind === "tool" || entry.kind === "prompt"
    const name = rename?.(entry) ?? (isNamed ? prefix + entry.name : entry.name)
    return isNamed ? HiddenCharacters.removed(name) : name
  }
  const entries = all.flatMap((entry): ReadonlyArray<Named> => {
    const chosen = Either.try(() => nameOf(entry))
    if (Either.isLeft(chosen)) failed.push({ entry, error: chosen.left })
    const own = Either.getOrUndefined(chosen)
    if (own === undefined) return []
    const key = `${entry.kind} ${own}`
    if (taken.has(key)) return []
    taken.add(key)
    return [{ own, entry }]
  })
  return { entries: entries.slice(0, max), left: Math.max(0, entries.length - max), failed }
}
