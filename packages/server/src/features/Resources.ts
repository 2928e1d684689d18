/**
 * `resources/list`, `resources/templates/list` and `resources/read`: finds the resource, or the resource template, that
 * serves a URI, and lists both.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
import * as Resource from "@effect-mcp/definition/Resource"
import type * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import type * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import { ResourceNotFound } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as ContentRules from "@effect-mcp/protocol/unstable/ContentRules"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Hints } from "../CacheOptions.js"
import type * as Completer from "../Completer.js"
import type { Registered, RegisteredResource, RegisteredTemplate, RegistryService } from "../Registry.js"
import * as Returned from "../runtime/Returned.js"
import * as Route from "../runtime/Route.js"
import * as Subject from "../runtime/Subject.js"
import * as Completion from "./Completion.js"
import * as Page from "./Page.js"
import * as PagedList from "./PagedList.js"
import * as TemplateMatches from "./TemplateMatches.js"

export const routes = (
  registry: RegistryService,
  options: { readonly pageSize: number }
): ReadonlyArray<Route.Route> => {
  const { pageSize } = options
  const list = PagedList.make({
    list: "resources",
    entries: registry.resources,
    pageSize,
    advertised: ({ advertised }) => advertised,
    result: (resources): Resources.ListResourcesResult => ({ resources })
  })
  const listTemplates = PagedList.make({
    list: "templates",
    entries: registry.templates,
    pageSize,
    advertised: ({ advertised }) => advertised,
    result: (resourceTemplates): Resources.ListResourceTemplatesResult => ({ resourceTemplates })
  })
  return [
    {
      method: "resources/list",
      isTrusted: false,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) =>
        Route.served(
          [...registry.templates.values()].some((template) => template.list !== undefined)
            ? listAll(registry, cursor, pageSize)
            : list(cursor)
        )
    },
    {
      method: "resources/templates/list",
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => Route.served(listTemplates(cursor))
    },
    {
      method: "resources/read",
      problem,
      isTrusted: false,
      isStable: false,
      serve: ({ uri }: Resources.ReadResourceParams) => {
        const resource = registry.resources.get(uri)
        return resource === undefined
          ? readFromTemplates(registry, uri)
          : { effect: resource.read, context: resource.context, hints: resource.hints }
      }
    }
  ]
}

// MUST be base64 (2025-11-25 server/resources#binary-content)
const problem = ({ contents }: Resources.ReadResourceResult): string | undefined => {
  for (const [index, resource] of contents.entries()) {
    const found = ContentRules.problem({ type: "resource", resource })
    if (found !== undefined) return `content ${index}: ${found}`
  }
  return undefined
}

/** The registry entry of a resource. */
export const entry = (
  { advertised, uri }: Resource.Resource.Any,
  read: Effect.Effect<Resource.Contents, unknown, any>,
  context: Context.Context<never>,
  hints?: Hints
): RegisteredResource => ({
  advertised,
  context,
  hints,
  read: contentsOf(read, uri, advertised.mimeType, `The handler of ${Subject.resource(uri)}`)
})

const contentsOf = <E, R>(
  read: Effect.Effect<Resource.Contents, E, R>,
  uri: string,
  mimeType: string | undefined,
  actor: string
): Effect.Effect<Resources.ReadResourceResult, E, R> =>
  Effect.map(
    Returned.value(Returned.effect(read, actor), actor),
    (contents) => Resource.toResult(contents, uri, mimeType)
  )

/** The registry entry of a resource template. */
export const templateEntry = (
  { advertised, codec, enumValues, template }: ResourceTemplate.ResourceTemplate.Any,
  read: (parameters: any, uri: string) => Effect.Effect<Resource.Contents, unknown, any>,
  options: {
    readonly complete?: Completer.Completers<string> | undefined
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, unknown, any> | undefined
    readonly hints?: Hints | undefined
  },
  context: Context.Context<never>
): RegisteredTemplate => {
  const subject = Subject.template(advertised.uriTemplate)
  const [reader, lister] = [`The handler of ${subject}`, `The list of ${subject}`]
  return {
    advertised,
    template,
    context,
    hints: options.hints,
    read: (variables, uri) =>
      Effect.matchEffect(codec.decode(variables as UriTemplate.Match), {
        onFailure: () => Effect.succeed(undefined),
        onSuccess: (parameters) =>
          contentsOf(
            Effect.suspend(() => Returned.effect(read(parameters, uri), reader)),
            uri,
            advertised.mimeType,
            reader
          )
      }),
    list: options.list === undefined
      ? undefined
      : Effect.map(
        Returned.value(Returned.effect(options.list, lister), lister),
        (resources) => resources.map((resource) => resource.advertised)
      ),
    completers: Completion.completers(options.complete ?? {}, enumValues, subject)
  }
}

/**
 * Whether a resource or a template has this URI. A template may still find, on reading, that there is no such resource.
 */
export const isKnown = (registry: RegistryService, uri: string): boolean =>
  registry.resources.has(uri) ||
  TemplateMatches.find(registry, uri).length > 0

/** A page of all resources, where templates list resources too: their effects run anew for each page. */
const listAll = (registry: RegistryService, cursor: string | undefined, pageSize: number) =>
  Effect.flatMap(
    Effect.forEach(
      [...registry.templates.values()],
      (template) => template.list === undefined ? Effect.succeed([]) : withServices(template, template.list),
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

/** Runs an effect of an entry with the services of its feature, and those of the request. */
const withServices = <A, E>({ context }: Registered, effect: Effect.Effect<A, E, any>): Effect.Effect<A, E> =>
  Effect.mapInputContext(
    effect as Effect.Effect<A, E>,
    (request: Context.Context<never>) => Context.merge(context, request)
  )

const readFromTemplates = (registry: RegistryService, uri: string): Route.Served => {
  const found = TemplateMatches.find(registry, uri)
  const [only] = found
  if (found.length === 1) {
    const { template, variables } = only!
    return {
      effect: Effect.flatMap(
        template.read(variables, uri),
        (result) => result === undefined ? notFound(uri) : Effect.succeed(result)
      ),
      context: template.context,
      hints: template.hints
    }
  }
  // The most specific template reads first; where it does not accept the variables, the next one reads.
  return Route.served(
    found.reduceRight<Effect.Effect<unknown, unknown>>(
      (next, { template, variables }) =>
        Effect.flatMap(
          withServices(template, template.read(variables, uri)),
          (result) => result === undefined ? next : Effect.succeed(result)
        ),
      notFound(uri)
    )
  )
}

const notFound = (uri: string) => Effect.fail(new ResourceNotFound({ uri: Subject.quotable(uri) }))
