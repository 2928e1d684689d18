/**
 * Serves `resources/list`, `resources/templates/list` and `resources/read`: finds the resource, or the resource template, that reads a URI,
 * and lists resources and templates. `McpServer` makes entries of the `Registry` with this module, and `dispatch/Build` adds the routes to
 * the server. `RequiredScopes` calls `subscribable`, which finds the entry of a subscription.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Resource from "../../definition/Resource.js"
import type * as ResourceTemplate from "../../definition/ResourceTemplate.js"
import type * as UriTemplate from "../../definition/UriTemplate.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { all as concurrently } from "../../kit/Race.js"
import type { JsonObject } from "../../protocol/Json.js"
import { ResourceNotFound } from "../../protocol/McpError.js"
import type { PaginatedParams } from "../../protocol/Pagination.js"
import type * as Resources from "../../protocol/Resources.js"
import * as ContentRules from "../../protocol/rules/ContentRules.js"
import type { Hints, ServerCacheOptions } from "../CacheHints.js"
import type * as Completer from "../Completer.js"
import type { Registered, RegisteredResource, RegisteredTemplate, RegistryService, Subscribable } from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerResult from "../runtime/HandlerResult.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as Permission from "../runtime/Permission.js"
import * as Route from "../runtime/Route.js"
import * as Completion from "./Completion.js"
import * as PagedList from "./PagedList.js"
import * as Surroundings from "./Surroundings.js"
import * as TemplateMatches from "./TemplateMatches.js"

export const routes = (
  registry: RegistryService,
  { cache, pageSize }: { readonly pageSize: number; readonly cache?: ServerCacheOptions | undefined }
): ReadonlyArray<Route.Route> => {
  const options = { list: "resources", pageSize, result, hints: MethodHints.ofMethod(cache, "resources/list") }
  const reports = PagedList.reporter("resources")
  const list = PagedList.serve({
    ...options,
    entries: registry.resources,
    advertised: ({ advertised }) => advertised
  })
  const listTemplates = PagedList.serve({
    list: "templates",
    entries: registry.templates,
    pageSize,
    hints: MethodHints.ofMethod(cache, "resources/templates/list"),
    advertised: ({ advertised }) => advertised,
    result: (resourceTemplates): Resources.ListResourceTemplatesResult => ({ resourceTemplates })
  })
  return [
    {
      method: "resources/list",
      isTrusted: false,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) =>
        [...registry.templates.values()].some((template) => template.list !== undefined)
          ? listAll(registry, cursor, options, reports)
          : list(cursor)
    },
    {
      method: "resources/templates/list",
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => listTemplates(cursor)
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
          : { ...Surroundings.serve(resource, readOf(resource, uri), notFound(uri)), hints: hintsOf(resource) }
      }
    }
  ]
}

/** `uri` is the URI as the client sent it. */
const readOf = (resource: RegisteredResource, uri: string) =>
  Surroundings.use(
    resource,
    () => ({ kind: "resource", entry: Surroundings.resource(resource), arguments: {}, uri }),
    resource.read
  )

// MUST be base64 (2025-11-25 server/resources#binary-content)
const problem = ({ contents }: Resources.ReadResourceResult): string | undefined => {
  for (const [index, resource] of contents.entries()) {
    const found = ContentRules.problem({ type: "resource", resource })
    if (found !== undefined) return `content ${index}: ${found}`
  }
  return undefined
}

/** Makes the registry entry of a resource. */
export const entry = (
  { advertised, contentMeta, requires, uri }: Resource.Resource.Any,
  read: Effect.Effect<Resource.Contents, unknown, any>,
  context: Context.Context<never>,
  hints?: Hints
): RegisteredResource => ({
  ...Surroundings.ofDefinition({ requires }),
  advertised,
  context,
  hints,
  read: contentsOf(read, uri, advertised.mimeType, `The handler of ${HandlerName.resource(uri)}`, contentMeta)
})

const contentsOf = <E, R>(
  read: Effect.Effect<Resource.Contents, E, R>,
  uri: string,
  mimeType: string | undefined,
  actor: string,
  meta?: JsonObject
): Effect.Effect<Resources.ReadResourceResult, E, R> =>
  Effect.map(
    HandlerResult.value(HandlerResult.effect(read, actor), actor),
    (contents) => Resource.toResult(contents, uri, mimeType, meta)
  )

/** Makes the registry entry of a resource template. */
export const templateEntry = (
  definition: ResourceTemplate.ResourceTemplate.Any,
  read: (parameters: any, uri: string) => Effect.Effect<Resource.Contents, unknown, any>,
  options: {
    readonly complete?: Completer.Completers<string> | undefined
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, unknown, any> | undefined
    readonly hints?: Hints | undefined
  },
  context: Context.Context<never>
): RegisteredTemplate => {
  const { advertised, codec, enumValues, template } = definition
  const subject = HandlerName.template(advertised.uriTemplate)
  const mimeType = advertised.mimeType === undefined ? undefined : { mimeType: advertised.mimeType }
  const [reader, lister] = [`The handler of ${subject}`, `The list of ${subject}`]
  return {
    ...Surroundings.ofDefinition(definition),
    advertised,
    template,
    context,
    hints: options.hints,
    decode: (variables) => codec.decode(variables as UriTemplate.Match),
    read: (parameters, uri) =>
      contentsOf(
        Effect.suspend(() => HandlerResult.effect(read(parameters, uri), reader)),
        uri,
        advertised.mimeType,
        reader
      ),
    list: options.list === undefined
      ? undefined
      : Effect.map(
        HandlerResult.value(HandlerResult.effect(options.list, lister), lister),
        (resources) => resources.map((resource) => ({ ...mimeType, ...resource.advertised }))
      ),
    completers: Completion.completers(options.complete ?? {}, enumValues, subject)
  }
}

/**
 * Whether the URI belongs to a resource, or matches a template. When the template reads the URI, it may still find that the resource does
 * not exist.
 */
export const isKnown = (registry: RegistryService, uri: string): boolean => at(registry, uri).length > 0

/**
 * Gives the URIs that are hidden from the request. Where several URIs have the same checks, these checks run once. Fails when the user
 * lacks a scope that a visible URI requires.
 */
export const hidden = (
  registry: RegistryService,
  uris: ReadonlyArray<string>
): Effect.Effect<ReadonlySet<string>, unknown> =>
  Effect.suspend(() => {
    const checked = uris.flatMap((uri) => {
      const found = at(registry, uri)
      return found.every(Surroundings.mayBeHidden) ? found.map((entry) => [uri, entry] as const) : []
    })
    return Effect.flatMap(Surroundings.visible(checked), (visible) => {
      const hidden = new Set(checked.map(([uri]) => uri))
      for (const [uri] of visible) hidden.delete(uri)
      const scopes = uris.flatMap((uri) => hidden.has(uri) ? [] : at(registry, uri).flatMap(Surroundings.scopesOf))
      return Effect.as(scopes.length === 0 ? Effect.void : Permission.check([...new Set(scopes)]), hidden)
    })
  })

/** Gives the entries that read a URI. A resource comes before all templates, even when the resource is hidden from the request. */
const at = (registry: RegistryService, uri: string): ReadonlyArray<Registered> => {
  const resource = registry.resources.get(uri)
  return resource === undefined ? TemplateMatches.find(registry, uri).map(({ template }) => template) : [resource]
}

/**
 * Finds the entry to which a client subscribes with this URI: the resource with this URI, or else the most specific template that matches.
 */
export const subscribable = (registry: RegistryService, uri: string): Subscribable | undefined =>
  registry.resources.get(uri) ?? TemplateMatches.find(registry, uri)[0]?.template

/** Gives a page of all resources, when templates also list resources. The effects of the templates run again for each page. */
const listAll = (
  { resources, templates }: RegistryService,
  cursor: string | undefined,
  options: Parameters<typeof PagedList.page<Resources.Resource, Resources.ListResourcesResult>>[0] & {
    readonly hints: Hints
  },
  reports: ReturnType<typeof PagedList.reporter>
): Route.Served => {
  const lists = concurrently(
    [...templates.values()].flatMap((template) =>
      template.list === undefined ? [] : [Surroundings.runUnlessRefused(template, template.list, none)]
    )
  )
  const effect = Effect.zipWith(lists, Surroundings.visible(resources), (lists, visible) => {
    const all = new Map(lists.flat().map((resource) => [resource.uri, resource]))
    // A resource that is hidden from the request is also not read through a template.
    const seen = new Map(visible)
    for (const uri of resources.keys()) if (!seen.has(uri)) all.delete(uri)
    for (const [uri, { advertised, isListed }] of seen) if (isListed !== false) all.set(uri, advertised)
    return all
  })
  const isFiltered = [...templates.values(), ...resources.values()].some(Surroundings.mayBeHidden)
  const listing = [...templates.values()].filter(({ list }) => list !== undefined)
  const hints = PagedList.hintsOf([...listing, ...resources.values()], options.hints)()
  return {
    ...Route.served(Effect.flatMap(
      effect,
      (all) => reports.after(EffectInternals.fromEither(PagedList.page(options, all, cursor, reports.see)))
    )),
    hints: isFiltered ? { ...hints, ...MethodHints.onlyForSender } : hints
  }
}

const result = (resources: ReadonlyArray<Resources.Resource>): Resources.ListResourcesResult => ({ resources })

const none: Effect.Effect<ReadonlyArray<Resources.Resource>> = Effect.succeed([])

/**
 * Gives the cache hints of an entry. Where the entry may be hidden from some clients, caches may store the content only for the sender of
 * the request.
 */
const hintsOf = (entry: Registered & { readonly hints?: Hints | undefined }): Hints | undefined =>
  Surroundings.mayBeHidden(entry) ? { ...entry.hints, ...MethodHints.onlyForSender } : entry.hints

/** Reads a URI through a template. Gives `undefined` where the template does not serve the URI. */
const readThrough = (
  { template, variables }: TemplateMatches.TemplateMatch,
  uri: string
): Effect.Effect<Resources.ReadResourceResult | undefined, unknown, any> => {
  const read = (parameters: unknown) =>
    Surroundings.use(
      template,
      () => ({ kind: "resource", entry: Surroundings.template(template), arguments: parameters, uri }),
      Effect.suspend(() => template.read(parameters, uri))
    )
  return template.decode === undefined
    ? read(variables)
    : Effect.matchEffect(template.decode(variables), { onFailure: () => Effect.succeed(undefined), onSuccess: read })
}

const readFromTemplates = (registry: RegistryService, uri: string): Route.Served => {
  const found = TemplateMatches.find(registry, uri)
  const [only] = found
  if (found.length === 1) {
    const { template } = only!
    const read = Effect.flatMap(
      readThrough(only!, uri),
      (result) => result === undefined ? notFound(uri) : Effect.succeed(result)
    )
    return { ...Surroundings.serve(template, read, notFound(uri)), hints: hintsOf(template) }
  }
  const mayDiffer = found.some(({ template }) => Surroundings.mayBeHidden(template))
  // The cache hints of the template that reads the URI. They are complete when the effect has ended.
  const hints: Hints = {}
  // The most specific template reads first. When this template does not accept the variables, the next template reads.
  const effect = found.reduceRight<Effect.Effect<unknown, unknown>>(
    (next, match) =>
      Effect.flatMap(
        Surroundings.runUse(match.template, readThrough(match, uri), Effect.succeed(undefined)),
        (result) => {
          if (result === undefined) return next
          Object.assign(hints, match.template.hints, mayDiffer ? MethodHints.onlyForSender : undefined)
          return Effect.succeed(result)
        }
      ),
    notFound(uri)
  )
  return { ...Route.served(effect), hints }
}

const notFound = (uri: string) => Effect.fail(new ResourceNotFound({ uri: HandlerName.quotable(uri) }))
