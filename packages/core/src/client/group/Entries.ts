/**
 * Combines the lists of many servers into the entries of a group, so that every entry has a name of its own, and finds the
 * entry of a URI. Functions of `GroupEntries`; `CurrentEntries` holds the current ones.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as UriTemplate from "../../definition/UriTemplate.js"
import * as EventLoop from "../../kit/EventLoop.js"
import type { Implementation } from "../../protocol/Implementation.js"
import type * as Prompts from "../../protocol/Prompts.js"
import type * as Resources from "../../protocol/Resources.js"
import type * as Tools from "../../protocol/Tools.js"
import type { Entries, Entry, Kind } from "../GroupEntries.js"
import * as Names from "./Names.js"

export const kinds: ReadonlyArray<Kind> = ["tools", "resources", "templates", "prompts"]

/** Everything that one server lists. */
export interface ServerLists {
  readonly tools: ReadonlyArray<Tools.Tool>
  readonly resources: ReadonlyArray<Resources.Resource>
  readonly templates: ReadonlyArray<Resources.ResourceTemplate>
  readonly prompts: ReadonlyArray<Prompts.Prompt>
}

export const noLists: ServerLists = { tools: [], resources: [], templates: [], prompts: [] }

/** A server of the group with what it listed last. A server that is away has no entries, but their names stay reserved for it. */
export interface Server {
  readonly name: string
  readonly info: Implementation
  readonly lists: ServerLists
  readonly isAway: boolean
}

export const empty: Entries = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/** The entries of all servers. Where two entries have the same name, the entry of the earlier server keeps the name. */
export const of = (servers: ReadonlyArray<Server>, naming: Names.Naming): Entries => ({
  tools: named("tools", servers, naming, ({ tools }) => tools, ({ name }) => name),
  resources: named("resources", servers, naming, ({ resources }) => resources, ({ uri }) => uri),
  templates: named("templates", servers, naming, ({ templates }) => templates, ({ uriTemplate }) => uriTemplate),
  prompts: named("prompts", servers, naming, ({ prompts }) => prompts, ({ name }) => name)
})

const named = <A>(
  kind: Kind,
  servers: ReadonlyArray<Server>,
  naming: Names.Naming,
  listed: (lists: ServerLists) => ReadonlyArray<A>,
  own: (value: A) => string
): ReadonlyMap<string, Entry<A>> => {
  const hook = Names.hookOf(kind, naming)
  const freeName = Names.freeName(kind, naming)
  const taken = new Map<string, Entry<A>>()
  for (const server of servers) {
    for (const [original, value] of new Map(listed(server.lists).map((value) => [own(value), value]))) {
      const name = hook(original, server, kind)
      if (name === undefined) continue
      const first = taken.get(name)
      taken.set(
        first === undefined ? name : freeName(server.name, name, (other) => taken.has(other)),
        { server: server.name, value, collision: first && { name, server: first.server } }
      )
    }
  }
  const away = new Set(servers.filter(({ isAway }) => isAway).map(({ name }) => name))
  return away.size === 0 ? taken : new Map([...taken].filter(([, { server }]) => !away.has(server)))
}

/** Names that entries of one server, of one kind, cannot have. */
export interface Renamed {
  readonly server: string
  readonly kind: Kind
  /** By the names that they have instead. */
  readonly names: ReadonlyMap<string, string>
}

/** The entries that are renamed because of a collision, and were not before. */
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

/** The first kind of which another server has names of this server, and these names. */
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

/**
 * What a URI of the group is read through: the server, and the URI that this server knows. A server may list so many
 * templates that other fibers run in between.
 */
export const readable: (entries: Entries, uri: string) => Effect.Effect<Entry<string> | undefined> = Effect.fnUntraced(
  function*({ resources, templates }, uri) {
    const resource = resources.get(uri)
    if (resource !== undefined) return { ...resource, value: resource.value.uri }
    for (const [name, template] of templates) {
      const original = originalOf(name, template)(uri)
      if (Option.isSome(original)) return { ...template, value: original.value }
      yield* EventLoop.worked
    }
    return undefined
  }
)

/** The URI that a server knows for a URI that its template matches in the group. */
type Original = (uri: string) => Option.Option<string>

// Entries do not change, and a server may have many templates.
const originals = new WeakMap<Entry<Resources.ResourceTemplate>, Original>()

const originalOf = (name: string, entry: Entry<Resources.ResourceTemplate>): Original => {
  const known = originals.get(entry)
  if (known !== undefined) return known
  const { uriTemplate } = entry.value
  const made: Original = Either.match(Either.all([UriTemplate.parse(name), UriTemplate.parse(uriTemplate)]), {
    onLeft: () => Option.none,
    onRight: ([group, server]) => (uri) =>
      Option.map(UriTemplate.match(group, uri), (values) =>
        // A prefix is cut off, so that the rest stays as it is.
        name.endsWith(uriTemplate)
          ? uri.slice(name.length - uriTemplate.length)
          : UriTemplate.expand(server, values))
  })
  originals.set(entry, made)
  return made
}
