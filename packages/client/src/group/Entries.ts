/**
 * What many servers offer, as one: tools, resources, templates and prompts, each with the server that has it, under names
 * of which none stands twice. Plain values; who asks servers for them is `ClientSessionGroup`.
 *
 * @since 0.1.0
 */
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Either from "effect/Either"

/**
 * @since 0.1.0
 * @category models
 */
export interface Entry<out A> {
  /** The name of the server in the group. */
  readonly server: string
  /** As the server says it, under the name that the server knows. */
  readonly value: A
}

/**
 * What a group offers: tools and prompts by the group's names for them, resources by URI, templates by URI template.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entries {
  readonly tools: ReadonlyMap<string, Entry<Tools.Tool>>
  readonly resources: ReadonlyMap<string, Entry<Resources.Resource>>
  readonly templates: ReadonlyMap<string, Entry<Resources.ResourceTemplate>>
  readonly prompts: ReadonlyMap<string, Entry<Prompts.Prompt>>
}

/**
 * @since 0.1.0
 * @category models
 */
export type Kind = keyof Entries

/**
 * @since 0.1.0
 * @category models
 */
export const kinds: ReadonlyArray<Kind> = ["tools", "resources", "templates", "prompts"]

/**
 * What one server offers, as it lists it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Offer {
  readonly tools: ReadonlyArray<Tools.Tool>
  readonly resources: ReadonlyArray<Resources.Resource>
  readonly templates: ReadonlyArray<Resources.ResourceTemplate>
  readonly prompts: ReadonlyArray<Prompts.Prompt>
}

/**
 * What a tool or a prompt of a server is called in the group.
 *
 * @since 0.1.0
 * @category models
 */
export type NameHook = (name: string, server: { readonly name: string; readonly info: Implementation }) => string

/**
 * Names that are taken already.
 *
 * @since 0.1.0
 * @category models
 */
export interface Taken {
  readonly kind: Kind
  readonly names: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const empty: Entries = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/**
 * The entries without those of a server.
 *
 * @since 0.1.0
 * @category combinators
 */
export const without = (entries: Entries, server: string): Entries => ({
  tools: rest(entries.tools, server),
  resources: rest(entries.resources, server),
  templates: rest(entries.templates, server),
  prompts: rest(entries.prompts, server)
})

const rest = <A>(entries: ReadonlyMap<string, Entry<A>>, server: string): ReadonlyMap<string, Entry<A>> =>
  new Map([...entries].filter(([, entry]) => entry.server !== server))

/**
 * The entries of one server by itself; the left side names those that stand twice in it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (
  offer: Offer,
  server: { readonly name: string; readonly info: Implementation },
  hook: NameHook
): Entries => {
  const by = <A>(values: ReadonlyArray<A>, key: (value: A) => string): ReadonlyMap<string, Entry<A>> =>
    new Map(values.map((value) => [key(value), { server: server.name, value }]))
  return {
    tools: by(offer.tools, ({ name }) => hook(name, server)),
    resources: by(offer.resources, ({ uri }) => uri),
    templates: by(offer.templates, ({ uriTemplate }) => uriTemplate),
    prompts: by(offer.prompts, ({ name }) => hook(name, server))
  }
}

/**
 * Both together, when no name is in both.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = (entries: Entries, more: Entries): Either.Either<Entries, Taken> => {
  for (const kind of kinds) {
    const names = [...more[kind].keys()].filter((name) => entries[kind].has(name))
    if (names.length > 0) return Either.left({ kind, names })
  }
  return Either.right(together(entries, more))
}

/**
 * Both together; of a name that is in both, the entry that was there stays. Says which names were not added.
 *
 * @since 0.1.0
 * @category combinators
 */
export const add = (entries: Entries, more: Entries): readonly [Entries, ReadonlyArray<Taken>] => {
  const taken = kinds.flatMap((kind) => {
    const names = [...more[kind].keys()].filter((name) => entries[kind].has(name))
    return names.length === 0 ? [] : [{ kind, names }]
  })
  return [together(more, entries), taken]
}

const together = (a: Entries, b: Entries): Entries => ({
  tools: new Map([...a.tools, ...b.tools]),
  resources: new Map([...a.resources, ...b.resources]),
  templates: new Map([...a.templates, ...b.templates]),
  prompts: new Map([...a.prompts, ...b.prompts])
})
