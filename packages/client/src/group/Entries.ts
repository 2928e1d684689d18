/**
 * Combines the lists of many servers into the entries of a group, so that no name appears twice, and finds the server of
 * a name. Plain functions of `GroupEntries`; `CurrentEntries` holds the current ones.
 */
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Entries, Entry, Kind, NameHook } from "../GroupEntries.js"

export const kinds: ReadonlyArray<Kind> = ["tools", "resources", "templates", "prompts"]

/** Everything that one server lists. */
export interface ServerLists {
  readonly tools: ReadonlyArray<Tools.Tool>
  readonly resources: ReadonlyArray<Resources.Resource>
  readonly templates: ReadonlyArray<Resources.ResourceTemplate>
  readonly prompts: ReadonlyArray<Prompts.Prompt>
}

/** Names of one kind that two servers have. */
export interface Collision {
  readonly kind: Kind
  readonly names: ReadonlyArray<string>
}

export const empty: Entries = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/** The entries of one server. */
export const of = (
  lists: ServerLists,
  server: { readonly name: string; readonly info: Implementation },
  hook: NameHook
): Entries => {
  const by = <A>(values: ReadonlyArray<A>, key: (value: A) => string): ReadonlyMap<string, Entry<A>> =>
    new Map(values.map((value) => [key(value), { server: server.name, value }]))
  return {
    tools: by(lists.tools, ({ name }) => hook(name, server)),
    resources: by(lists.resources, ({ uri }) => uri),
    templates: by(lists.templates, ({ uriTemplate }) => uriTemplate),
    prompts: by(lists.prompts, ({ name }) => hook(name, server))
  }
}

/** The entries without those of one server. */
export const without = (entries: Entries, server: string): Entries => ({
  tools: rest(entries.tools, server),
  resources: rest(entries.resources, server),
  templates: rest(entries.templates, server),
  prompts: rest(entries.prompts, server)
})

const rest = <A>(entries: ReadonlyMap<string, Entry<A>>, server: string): ReadonlyMap<string, Entry<A>> =>
  new Map([...entries].filter(([, entry]) => entry.server !== server))

/** All entries of both; or, on the left, the first kind that has names in both. */
export const merge = (entries: Entries, more: Entries): Either.Either<Entries, Collision> => {
  const [collision] = collisions(entries, more)
  return collision === undefined ? Either.right(union(entries, more)) : Either.left(collision)
}

/** All entries of both. For a name that is in both, `entries` wins. Also gives the names that were not added. */
export const add = (entries: Entries, more: Entries): readonly [Entries, ReadonlyArray<Collision>] => [
  union(more, entries),
  collisions(entries, more)
]

const collisions = (entries: Entries, more: Entries): ReadonlyArray<Collision> =>
  kinds.flatMap((kind) => {
    const names = [...more[kind].keys()].filter((name) => entries[kind].has(name))
    return names.length === 0 ? [] : [{ kind, names }]
  })

const union = (a: Entries, b: Entries): Entries => ({
  tools: new Map([...a.tools, ...b.tools]),
  resources: new Map([...a.resources, ...b.resources]),
  templates: new Map([...a.templates, ...b.templates]),
  prompts: new Map([...a.prompts, ...b.prompts])
})

/** The entry that a URI is read through: the resource itself, else the first template that matches. */
export const readable = ({ resources, templates }: Entries, uri: string): Entry<unknown> | undefined =>
  resources.get(uri) ?? [...templates].find(([template]) => matches(template, uri))?.[1]

const matches = (template: string, uri: string): boolean =>
  Either.match(UriTemplate.parse(template), {
    onLeft: () => false,
    onRight: (parsed) => Option.isSome(UriTemplate.match(parsed, uri))
  })
