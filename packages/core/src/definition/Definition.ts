/**
 * The tools, resources, resource templates and prompts of a server, as one value. `make` throws when names collide, so you find a collision
 * where the definition is made, and not where an entry is called.
 *
 * `McpServer.implement` implements a definition on the server, and `Client.of` calls its entries from the client.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Prompt from "./Prompt.js"
import * as Resource from "./Resource.js"
import * as ResourceTemplate from "./ResourceTemplate.js"
import { quoted } from "./text/Quoted.js"
import * as Tool from "./Tool.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Definition")

/** @category models */
export type TypeId = typeof TypeId

/**
 * The entries of each kind, by their names, in the order in which they were passed.
 *
 * @category models
 */
export interface Definition<
  out Tools extends Tool.Tool.Any,
  out Resources extends Resource.Resource.Any = never,
  out Templates extends ResourceTemplate.ResourceTemplate.Any = never,
  out Prompts extends Prompt.Prompt.Any = never
> {
  readonly [TypeId]: TypeId
  readonly tools: ReadonlyMap<string, Tools>
  readonly resources: ReadonlyMap<string, Resources>
  readonly templates: ReadonlyMap<string, Templates>
  readonly prompts: ReadonlyMap<string, Prompts>
}

/**
 * A tool, a resource, a resource template or a prompt.
 *
 * @category models
 */
export type Entry =
  | Tool.Tool.Any
  | Resource.Resource.Any
  | ResourceTemplate.ResourceTemplate.Any
  | Prompt.Prompt.Any

type OfKind<E, Tag> = E extends { readonly _tag: Tag } ? E : never

/** @category constants */
export declare namespace Definition {
  export type Any = Definition<
    Tool.Tool.Any,
    Resource.Resource.Any,
    ResourceTemplate.ResourceTemplate.Any,
    Prompt.Prompt.Any
  >

  /** The type of the definition that `make` gives for these entries. */
  export type From<E extends Entry> = Definition<
    OfKind<E, "Tool">,
    OfKind<E, "Resource">,
    OfKind<E, "ResourceTemplate">,
    OfKind<E, "Prompt">
  >

  export type Tools<D> = D extends Definition<infer T, any, any, any> ? T : never

  export type Resources<D> = D extends Definition<any, infer R, any, any> ? R : never

  export type Templates<D> = D extends Definition<any, any, infer T, any> ? T : never

  export type Prompts<D> = D extends Definition<any, any, any, infer P> ? P : never
}

/**
 * Makes a definition of these entries, in any order.
 *
 * Throws when two entries of a kind have the same name, when two resources have the same URI, or when two resource templates have the same
 * URI template. A typed client has the members `resources`, `templates` and `prompts`. Therefore `make` also throws when a tool has one of
 * these names and the definition has entries of that kind.
 *
 * @example
 * ```ts
 * import * as Definition from "@effect-mcp/core/Definition"
 * import * as Prompt from "@effect-mcp/core/Prompt"
 * import * as Resource from "@effect-mcp/core/Resource"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Schema } from "effect"
 *
 * const Search = Tool.make("search", { parameters: { q: Schema.String } })
 * const Readme = Resource.make("readme", { uri: "file:///README.md" })
 * const Review = Prompt.make("review", { arguments: { code: Schema.String } })
 *
 * export const Notes = Definition.make(Search, Readme, Review)
 * ```
 * @category constructors
 */
export const make = <const E extends ReadonlyArray<Entry>>(...entries: E): Definition.From<E[number]> => {
  entries.forEach((entry: unknown, i) => {
    if (!isEntry(entry)) {
      throw new Error(
        `Definition: argument ${i + 1} is not an entry: make it with Tool, Resource, ResourceTemplate or Prompt`
      )
    }
  })
  const tools = byName("tools", entries.filter(Tool.isTool))
  const resources = byName("resources", entries.filter(Resource.isResource))
  const templates = byName("resource templates", entries.filter(ResourceTemplate.isResourceTemplate))
  const prompts = byName("prompts", entries.filter(Prompt.isPrompt))
  refuseShared("resources have the URI", resources, ({ uri }) => uri)
  refuseShared("resource templates have the URI template", templates, ({ template }) => template.template)
  for (const [name, kind] of Object.entries({ resources, templates, prompts })) {
    if (kind.size > 0 && tools.has(name)) {
      throw new Error(`Definition: a tool named "${name}" would hide the ${name} of a typed client: rename the tool`)
    }
  }
  // Each map has the entries of one kind.
  return { [TypeId]: TypeId, tools, resources, templates, prompts } as Definition.Any as Definition.From<E[number]>
}

const isEntry = (u: unknown): u is Entry =>
  Tool.isTool(u) || Resource.isResource(u) || ResourceTemplate.isResourceTemplate(u) || Prompt.isPrompt(u)

const byName = <E extends Entry>(kind: string, entries: ReadonlyArray<E>): ReadonlyMap<string, E> => {
  const named = new Map<string, E>()
  for (const entry of entries) {
    if (named.has(entry.name)) {
      throw new Error(`Definition: two ${kind} are named ${quoted(entry.name)}: rename one, or pass it once`)
    }
    named.set(entry.name, entry)
  }
  return named
}

const refuseShared = <E extends Entry>(
  problem: string,
  entries: ReadonlyMap<string, E>,
  addressOf: (entry: E) => string
): void => {
  const names = new Map<string, string>()
  for (const [name, entry] of entries) {
    const address = addressOf(entry)
    const other = names.get(address)
    if (other !== undefined) {
      throw new Error(
        `Definition: two ${problem} ${quoted(address)}: ${quoted(other)} and ${quoted(name)}: remove one of them`
      )
    }
    names.set(address, name)
  }
}

type EntriesOf<D> = D extends Definition<infer T, infer R, infer U, infer P> ? T | R | U | P : never

/**
 * Makes a definition with the entries of all these definitions. Throws as `make` does.
 *
 * @category utils
 */
export const merge = <const Definitions extends ReadonlyArray<Definition.Any>>(
  ...definitions: Definitions
): Definition.From<EntriesOf<Definitions[number]>> =>
  // The result has the entries of all the definitions.
  make(...definitions.flatMap(({ prompts, resources, templates, tools }) => [
    ...tools.values(),
    ...resources.values(),
    ...templates.values(),
    ...prompts.values()
  ])) as Definition.Any as Definition.From<EntriesOf<Definitions[number]>>

/** @category guards */
export const isDefinition = (u: unknown): u is Definition.Any => Predicate.hasProperty(u, TypeId)
