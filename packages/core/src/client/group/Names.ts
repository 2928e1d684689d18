/**
 * Makes the names of entries in a group. Applies the hooks of the application, finds other names for entries whose names are taken, and
 * writes names for errors and log messages. The module consists of plain functions. `Entries` uses them for all entries of all servers.
 * `CurrentEntries` and `GroupError` use `listed` in their messages.
 */
import * as Hash from "effect/Hash"
import * as HiddenCharacters from "../../protocol/rules/HiddenCharacters.js"
import type { Kind, NameHook } from "../GroupEntries.js"

export interface Naming {
  readonly nameHook: NameHook
  readonly uriHook: NameHook
  readonly maxNameLength: number
  /** Whether each tool and prompt has the name of its server before its own name. */
  readonly isPrefixed: boolean
}

/** Returns a name that is not taken: the taken name, with the name of the server before it. */
export type FreeName = (server: string, name: string, isTaken: (name: string) => boolean) => string

const isUri = (kind: Kind): boolean => kind === "resources" || kind === "templates"

const hookOf = (kind: Kind, { nameHook, uriHook }: Naming): NameHook => isUri(kind) ? uriHook : nameHook

/**
 * Makes a function that returns the name that an entry should have. This is the name that the hook returns, without hidden characters. If
 * `isPrefixed` is `true`, the name of the server comes before it. `undefined` leaves the entry out of the group.
 */
export const wanted = (kind: Kind, naming: Naming): NameHook => {
  const hook = hookOf(kind, naming)
  if (isUri(kind)) return hook
  return (name, server, kind) => {
    const given = hook(name, server, kind)
    if (given === undefined) return undefined
    const seen = HiddenCharacters.removed(given)
    return naming.isPrefixed ? prefixed(server.name, seen, naming.maxNameLength) : seen
  }
}

const prefixed = (server: string, name: string, limit: number): string => shortened(`${safe(server)}_${name}`, limit)

/** Makes a function that finds free names. The same calls in the same order give the same names. */
export const freeName = (kind: Kind, { isPrefixed, maxNameLength }: Naming): FreeName => {
  const numbered = (server: string, name: string, number: string) => {
    // In a URI, the number is a part of the server's name. At the end of a template it would be a part of the last value.
    if (isUri(kind)) return `${safe(server)}${number}:${name}`
    const cut = isPrefixed ? name : prefixed(server, name, maxNameLength)
    return cut.slice(0, maxNameLength - number.length) + number
  }
  // The last number of each name. With it, a server that repeats a name many times does not cause a long search.
  const numbers = new Map<string, number>()
  return (server, name, isTaken) => {
    const first = numbered(server, name, "")
    let free = first
    while (isTaken(free)) {
      const number = (numbers.get(first) ?? 1) + 1
      numbers.set(first, number)
      free = numbered(server, name, `_${number}`)
    }
    return free
  }
}

/** Returns the name of a server with only those characters that model APIs accept in a name and that have no meaning in a URI template. */
const safe = (server: string): string => server.replace(/[^A-Za-z0-9_-]/gu, "_")

/** Cuts a name to at most `limit` characters. A name that was cut ends with a hash, so that two long names stay different. */
const shortened = (name: string, limit: number): string => {
  if (name.length <= limit) return name
  const end = `_${(Hash.string(name) >>> 0).toString(36)}`
  return `${name.slice(0, Math.max(0, limit - end.length))}${end}`
}

export const noun: Readonly<Record<Kind, string>> = {
  tools: "tool",
  resources: "resource",
  templates: "resource template",
  prompts: "prompt"
}

const MAX_LISTED = 10

/** Writes at most ten names in quotes. Long names are cut. */
export const listed = (names: ReadonlyArray<string>): string =>
  names.slice(0, MAX_LISTED).map((name) => JSON.stringify(name.slice(0, 100))).join(", ") +
  (names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "")

export const advice = (kind: Kind): string =>
  `Give them other names, or leave them out, with the group's option \`${isUri(kind) ? "uriHook" : "nameHook"}\``
