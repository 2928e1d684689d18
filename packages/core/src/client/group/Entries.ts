/**
 * Combines the lists of many servers into the entries of a group, so that no two entries have the same name. Also finds the entry of a URI.
 * The module consists of plain functions over the types of `GroupEntries`. `CurrentEntries` stores the entries that these functions make.
 * `ServerLists` reads the lists of one server. `ClientSessionGroup` finds the server of a name or a URI. `Mirror`, `Naming` and
 * `ListFollower` of package `proxy` use the type `ServerLists`, too.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as UriTemplate from "../../definition/UriTemplate.js"
import * as EventLoop from "../../kit/EventLoop.js"
import type { Implementation } from "../../protocol/Implementation.js"
import type * as Prompts from "../../protocol/Prompts.js"
import type * as Resources from "../../protocol/Resources.js"
import * as HiddenCharacters from "../../protocol/rules/HiddenCharacters.js"
import * as UriKey from "../../protocol/rules/UriKey.js"
import type * as Tools from "../../protocol/Tools.js"
import type { Entries, Entry, Kind } from "../GroupEntries.js"
import type * as ListReport from "./ListReport.js"
import * as Names from "./Names.js"

export const kinds: ReadonlyArray<Kind> = ["tools", "resources", "templates", "prompts"]

/** All lists of one server. */
export interface ServerLists {
  readonly tools: ReadonlyArray<Tools.Tool>
  readonly resources: ReadonlyArray<Resources.Resource>
  readonly templates: ReadonlyArray<Resources.ResourceTemplate>
  readonly prompts: ReadonlyArray<Prompts.Prompt>
}

export const noLists: ServerLists = { tools: [], resources: [], templates: [], prompts: [] }

/**
 * A server of the group, with its last lists. A server whose connection is lost (`isAway`) has no entries, but the names of its entries
 * stay reserved.
 */
export interface Server {
  readonly name: string
  readonly info: Implementation
  readonly lists: ServerLists
  readonly isAway: boolean
}

/** Returns why calls of a tool of a server are refused; `undefined` when they are not refused. */
export type Refusal = (server: string, tool: Tools.Tool) => string | undefined

export const empty: Entries = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/** Makes the entries of all servers. When two entries have the same name, the entry of the earlier server keeps the name. */
export const of = (servers: ReadonlyArray<Server>, naming: Names.Naming, refusal: Refusal): Entries => ({
  tools: named("tools", servers, naming, ({ tools }) => tools, ({ name }) => name, refusal),
  resources: named("resources", servers, naming, ({ resources }) => resources, ({ uri }) => uri),
  templates: named("templates", servers, naming, ({ templates }) => templates, ({ uriTemplate }) => uriTemplate),
  prompts: named("prompts", servers, naming, ({ prompts }) => prompts, ({ name }) => name)
})

const named = <A extends { readonly name: string }>(
  kind: Kind,
  servers: ReadonlyArray<Server>,
  naming: Names.Naming,
  listed: (lists: ServerLists) => ReadonlyArray<A>,
  own: (value: A) => string,
  refusal: (server: string, listed: A) => string | undefined = () => undefined
): ReadonlyMap<string, Entry<A>> => {
  const wanted = Names.wanted(kind, naming)
  const freeName = Names.freeName(kind, naming)
  const taken = new Map<string, Entry<A>>()
  for (const server of servers) {
    for (const [original, one] of new Map(listed(server.lists).map((one) => [own(one), one]))) {
      const name = wanted(original, server, kind)
      if (name === undefined) continue
      const first = taken.get(name)
      taken.set(
        first === undefined ? name : freeName(server.name, name, (other) => taken.has(other)),
        {
          server: server.name,
          value: cleaned(one),
          listed: one,
          collision: first && { name, server: first.server },
          refusal: refusal(server.name, one)
        }
      )
    }
  }
  const away = new Set(servers.filter(({ isAway }) => isAway).map(({ name }) => name))
  return away.size === 0 ? taken : new Map([...taken].filter(([, { server }]) => !away.has(server)))
}

const clean = new WeakMap<object, object>()

/** Returns the entry without hidden characters. Each entry is cleaned only once, also when the servers of the group change often. */
const cleaned = <A extends { readonly name: string }>(listed: A): A => {
  let one = clean.get(listed)
  if (one === undefined) clean.set(listed, one = HiddenCharacters.removedFrom(listed))
  return one as A
}

/** Returns the names and texts that all servers list, for a `ListReport`. */
export const listings = (servers: ReadonlyArray<Server>): ReadonlyArray<ListReport.Listing> =>
  kinds.map((kind) => ({
    subject: `the ${Names.noun[kind]}s of the group`,
    isNamed: kind === "tools" || kind === "prompts",
    entries: servers.flatMap(({ lists, name: server }) =>
      lists[kind].map((listed) => ({ server, name: listed.name, isChanged: cleaned(listed) !== listed }))
    )
  }))

/** Entries of one server and one kind that were renamed. */
export interface Renamed {
  readonly server: string
  readonly kind: Kind
  /** By the name that each entry has in the group: the name that the entry could not have, because another entry has it. */
  readonly names: ReadonlyMap<string, string>
}

/** Returns the entries that are renamed now because of a collision, and were not renamed before. */
export const renamed = (before: Entries, now: Entries): ReadonlyArray<Renamed> =>
  kinds.flatMap((kind) => {
    const found = new Map<string, Map<string, string>>()
    for (const [name, { collision, server }] of now[kind]) {
      const old = before[kind].get(name)
      if (collision === undefined || (old?.server === server && old.collision?.name === collision.name)) continue
      const names = found.get(server) ?? new Map<string, string>()
      found.set(server, names.set(name, collision.name))
    }
    return [...found].map(([server, names]) => ({ server, kind, names }))
  })

/**
 * Returns the first kind of entries in which this server and another server have equal names, with these names; `undefined` when there is
 * none.
 */
export const collisions = (
  entries: Entries,
  server: string
): { readonly kind: Kind; readonly names: ReadonlyArray<string> } | undefined =>
  kinds.map((kind) => ({
    kind,
    names: [...entries[kind].values()].flatMap(({ collision, server: renamed }) =>
      collision !== undefined && collision.server !== renamed && [collision.server, renamed].includes(server)
        ? [collision.name]
        : []
    )
  })).find(({ names }) => names.length > 0)

/** A server, and a URI that this server knows. */
export interface Readable {
  readonly server: string
  readonly uri: string
}

/**
 * Finds the server that has a URI of the group, and the URI that this server knows; `undefined` when no server has it. A server may list
 * very many templates, so the search lets other fibers run between two templates.
 */
export const readable: (entries: Entries, uri: string) => Effect.Effect<Readable | undefined> = Effect.fnUntraced(
  function*({ resources, templates }, uri) {
    const key = UriKey.of(uri)
    const resource = resources.get(uri) ?? equalOf(resources, key)
    if (resource !== undefined) return { server: resource.server, uri: resource.value.uri }
    for (const [name, template] of templates) {
      const original = originalOf(name, template)(uri, key)
      if (Option.isSome(original)) return { server: template.server, uri: original.value }
      yield* EventLoop.worked
    }
    return undefined
  }
)

/** Returns the URI at a server for a URI of the group; `None` when the template does not match the URI. */
type Original = (uri: string, key: string) => Option.Option<string>

const equal = new WeakMap<Entries["resources"], ReadonlyMap<string, Entry<Resources.Resource>>>()

/** Finds the first resource whose URI has this key. */
const equalOf = (resources: Entries["resources"], key: string): Entry<Resources.Resource> | undefined => {
  let byKey = equal.get(resources)
  if (byKey === undefined) {
    byKey = new Map([...resources].reverse().map(([uri, entry]) => [UriKey.of(uri), entry]))
    equal.set(resources, byKey)
  }
  return byKey.get(key)
}

// Kept for each entry, because entries do not change and a server may have many templates.
const originals = new WeakMap<Entry<Resources.ResourceTemplate>, Original>()

const originalOf = (name: string, entry: Entry<Resources.ResourceTemplate>): Original => {
  const known = originals.get(entry)
  if (known !== undefined) return known
  const { uriTemplate } = entry.value
  const made: Original = Either.match(Either.all([UriTemplate.parse(name), UriTemplate.parse(uriTemplate)]), {
    onLeft: () => Option.none,
    onRight: ([group, server]) => (uri, key) =>
      Option.map(group[UriTemplate.TypeId].match(uri, () => key), (values) => {
        const prefix = name.endsWith(uriTemplate) ? name.slice(0, name.length - uriTemplate.length) : undefined
        // The prefix is cut off, so that the rest of the URI stays exactly as it is.
        return prefix !== undefined && uri.startsWith(prefix)
          ? uri.slice(prefix.length)
          : UriTemplate.expand(server, values)
      })
  })
  originals.set(entry, made)
  return made
}
