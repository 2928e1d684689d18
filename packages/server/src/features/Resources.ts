/**
 * `resources/list`, `resources/templates/list` and `resources/read`: from an address to the resource, or to the kind of
 * resources, that is meant.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { ResourceNotFound } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Kept, RegisteredTemplate, RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import type { Route, Served } from "../runtime/Router.js"
import * as Page from "./Page.js"
import * as PagedList from "./PagedList.js"

/**
 * @since 0.1.0
 * @category routes
 */
export const routes = (registry: RegistryService, options: { readonly pageSize: number }): ReadonlyArray<Route> => {
  const { pageSize } = options
  const list = PagedList.make({
    list: "resources",
    shelf: registry.resources,
    pageSize,
    advertised: ({ advertised }) => advertised,
    result: (resources): Resources.ListResourcesResult => ({ resources })
  })
  const listTemplates = PagedList.make({
    list: "templates",
    shelf: registry.templates,
    pageSize,
    advertised: ({ advertised }) => advertised,
    result: (resourceTemplates): Resources.ListResourceTemplatesResult => ({ resourceTemplates })
  })
  return [
    {
      method: Methods.listResources,
      trusted: false,
      kept: true,
      serve: ({ cursor }: PaginatedParams) => ({
        effect: [...registry.templates.values()].some((template) => template.list !== undefined)
          ? everything(registry, cursor, pageSize)
          : list(cursor),
        context: Context.empty()
      })
    },
    {
      method: Methods.listResourceTemplates,
      trusted: true,
      kept: true,
      serve: ({ cursor }: PaginatedParams) => ({ effect: listTemplates(cursor), context: Context.empty() })
    },
    {
      method: Methods.readResource,
      trusted: false,
      serve: ({ uri }: Resources.ReadResourceParams) => {
        const resource = registry.resources.get(uri)
        return resource === undefined
          ? fromTemplates(registry, uri)
          : { effect: resource.read, context: resource.context }
      }
    }
  ]
}

/**
 * Whether something can be read at this address, as far as that is known without reading it.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isKnown = (registry: RegistryService, uri: string): boolean =>
  registry.resources.has(uri) ||
  [...registry.templates.values()].some(({ template }) => Option.isSome(UriTemplate.match(template, uri)))

/** What templates list is asked for anew each time, and stands where its address says. */
const everything = (registry: RegistryService, cursor: string | undefined, pageSize: number) =>
  Effect.flatMap(
    Effect.forEach(
      [...registry.templates.values()],
      (template) => template.list === undefined ? Effect.succeed([]) : within(template, template.list),
      { concurrency: "unbounded" }
    ),
    (lists) => {
      const all = new Map(lists.flat().map((resource) => [resource.uri, resource]))
      for (const [uri, { advertised }] of registry.resources) all.set(uri, advertised)
      return Effect.map(
        Page.make("resources", Page.sorted(all), cursor, pageSize),
        ({ items, nextCursor }): Resources.ListResourcesResult => ({
          resources: items,
          ...(nextCursor === undefined ? undefined : { nextCursor })
        })
      )
    }
  )

const within = <A, E>({ context }: Kept, effect: Effect.Effect<A, E, any>): Effect.Effect<A, E> =>
  Effect.mapInputContext(
    effect as Effect.Effect<A, E>,
    (request: Context.Context<never>) => Context.merge(context, request)
  )

const fromTemplates = (registry: RegistryService, uri: string): Served => {
  const found = [...registry.templates.values()].flatMap((template) =>
    Option.match(UriTemplate.match(template.template, uri), {
      onNone: () => [],
      onSome: (variables) => [{ template, variables }]
    })
  )
  const [only] = found
  // The one that fits closest is tried first; variables that are none of it leave the address to the next.
  if (found.length === 1) {
    const { template, variables } = only!
    return {
      effect: Effect.flatMap(
        template.read(variables, uri),
        (result) => result === undefined ? none(uri) : Effect.succeed(result)
      ),
      context: template.context
    }
  }
  return {
    effect: found.sort((a, b) => closer(a.template, b.template)).reduceRight<Effect.Effect<unknown, unknown, any>>(
      (next, { template, variables }) =>
        Effect.flatMap(
          within(template, template.read(variables, uri)),
          (result) => result === undefined ? next : Effect.succeed(result)
        ),
      none(uri)
    ),
    context: Context.empty()
  }
}

const none = (uri: string) => Effect.fail(new ResourceNotFound({ uri: Reply.quotable(uri) }))

// More text of its own, then the order of the list: the same whatever the order in which features were built.
const closer = ({ advertised: a }: RegisteredTemplate, { advertised: b }: RegisteredTemplate): number =>
  text(b.uriTemplate) - text(a.uriTemplate) || (a.uriTemplate < b.uriTemplate ? -1 : 1)

const text = (template: string): number => template.replace(/\{[^}]*\}/g, "").length
