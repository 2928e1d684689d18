/**
 * What a server promises, as one value: the tools, resources, resource templates and prompts it keeps. Promises can be
 * merged; one that is made twice is an error where it is made, not where it is called.
 *
 * Who keeps a promise is in `@effect-mcp/server/McpServer`, who relies on it in `@effect-mcp/client/Typed`.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Prompt from "./Prompt.js"
import * as Resource from "./Resource.js"
import * as ResourceTemplate from "./ResourceTemplate.js"
import * as Tool from "./Tool.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/Definition")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * Promises by their names, in the order in which they were made.
 *
 * @since 0.1.0
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
 * One thing that a server promises.
 *
 * @since 0.1.0
 * @category models
 */
export type Promised =
  | Tool.Tool.Any
  | Resource.Resource.Any
  | ResourceTemplate.ResourceTemplate.Any
  | Prompt.Prompt.Any

type Of<P, Tag> = P extends { readonly _tag: Tag } ? P : never

/**
 * Helper types of definitions.
 *
 * @since 0.1.0
 */
export declare namespace Definition {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = Definition<
    Tool.Tool.Any,
    Resource.Resource.Any,
    ResourceTemplate.ResourceTemplate.Any,
    Prompt.Prompt.Any
  >

  /**
   * The definition that these promises make.
   *
   * @since 0.1.0
   * @category models
   */
  export type From<P extends Promised> = Definition<
    Of<P, "Tool">,
    Of<P, "Resource">,
    Of<P, "ResourceTemplate">,
    Of<P, "Prompt">
  >

  /**
   * @since 0.1.0
   * @category models
   */
  export type Tools<D> = D extends Definition<infer T, any, any, any> ? T : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Resources<D> = D extends Definition<any, infer R, any, any> ? R : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Templates<D> = D extends Definition<any, any, infer T, any> ? T : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Prompts<D> = D extends Definition<any, any, any, infer P> ? P : never
}

/**
 * A definition of these tools, resources, resource templates and prompts, in any order.
 *
 * Throws when two of a kind have the same name, two resources the same address, or two resource templates the same
 * template: a peer that asks for one could not say which it means. And when a tool is named `resources`, `templates` or
 * `prompts` and there are such beside it.
 *
 * @example
 * ```ts
 * import { Definition, Prompt, Resource, Tool } from "@effect-mcp/definition"
 * import { Schema } from "effect"
 *
 * const Search = Tool.make("search", { parameters: { q: Schema.String } })
 * const Readme = Resource.make("readme", { uri: "file:///README.md" })
 * const Review = Prompt.make("review", { arguments: { code: Schema.String } })
 *
 * export const Notes = Definition.make(Search, Readme, Review)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const P extends ReadonlyArray<Promised>>(...promises: P): Definition.From<P[number]> => {
  const tools = new Map<string, Tool.Tool.Any>()
  const resources = new Map<string, Resource.Resource.Any>()
  const templates = new Map<string, ResourceTemplate.ResourceTemplate.Any>()
  const prompts = new Map<string, Prompt.Prompt.Any>()
  const uris = new Map<string, string>()
  const uriTemplates = new Map<string, string>()
  promises.forEach((promise, i) => {
    if (Tool.isTool(promise)) return add(tools, "tools", promise)
    if (Prompt.isPrompt(promise)) return add(prompts, "prompts", promise)
    if (Resource.isResource(promise)) {
      add(resources, "resources", promise)
      return claim(uris, "resources have the URI", promise.uri, promise.name)
    }
    if (ResourceTemplate.isResourceTemplate(promise)) {
      add(templates, "resource templates", promise)
      return claim(uriTemplates, "resource templates have the URI template", promise.template.template, promise.name)
    }
    throw new Error(
      `Definition: promise ${i + 1} is none: make it with Tool, Resource, ResourceTemplate or Prompt`
    )
  })
  // A typed client, and whoever keeps the whole at once, has tools by their names, and these beside them.
  const beside: ReadonlyArray<readonly [string, ReadonlyMap<string, unknown>]> = [
    ["resources", resources],
    ["templates", templates],
    ["prompts", prompts]
  ]
  for (const [name, kind] of beside) {
    if (kind.size > 0 && tools.has(name)) {
      throw new Error(`Definition: a tool named "${name}" hides the ${name} beside it: rename the tool`)
    }
  }
  // Each went into the map of its kind.
  return { [TypeId]: TypeId, tools, resources, templates, prompts } as Definition.Any as Definition.From<P[number]>
}

const add = <P extends Promised>(byName: Map<string, P>, kind: string, promise: P): void => {
  if (byName.has(promise.name)) {
    throw new Error(`Definition: two ${kind} are named "${promise.name}": rename one, or promise it once`)
  }
  byName.set(promise.name, promise)
}

const claim = (names: Map<string, string>, what: string, address: string, name: string): void => {
  const before = names.get(address)
  if (before !== undefined) throw new Error(`Definition: two ${what} "${address}": "${before}" and "${name}"`)
  names.set(address, name)
}

type Merged<D> = Definition<
  Definition.Tools<D>,
  Definition.Resources<D>,
  Definition.Templates<D>,
  Definition.Prompts<D>
>

/**
 * The promises of all of them. Throws as `make` does.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = <const Definitions extends ReadonlyArray<Definition.Any>>(
  ...definitions: Definitions
): Merged<Definitions[number]> =>
  // The promises are those of all the definitions.
  make(...definitions.flatMap((one) => [
    ...one.tools.values(),
    ...one.resources.values(),
    ...one.templates.values(),
    ...one.prompts.values()
  ])) as Definition.Any as Merged<Definitions[number]>

/**
 * @since 0.1.0
 * @category guards
 */
export const isDefinition = (u: unknown): u is Definition.Any => Predicate.hasProperty(u, TypeId)
