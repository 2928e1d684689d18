/**
 * The registry for a feature layer that `Feature.visible`, `Feature.requires` or `Middleware.around` surrounds: every entry that the
 * layer registers gets this surrounding. The tables are the tables of the server.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { MethodNotFound } from "../../protocol/McpError.js"
import {
  type Entries,
  type Registered,
  type RegisteredFilter,
  type RegisteredHandler,
  Registry,
  type RegistryService,
  Running,
  type Surrounding
} from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as Surroundings from "./Surroundings.js"

/** Builds a feature layer with a registry that surrounds its entries. `of` gets the context that the layer is built with. */
export const layer = <E>(
  feature: Layer.Layer<never, E, any>,
  of: (context: Context.Context<never>) => Surrounding
): Layer.Layer<never, E, any> =>
  Layer.provide(
    feature,
    Layer.effectContext(
      Effect.contextWith((own: Context.Context<any>) =>
        contextOf(make(Context.get(own, Registry), of(Context.omit(Scope.Scope)(own) as Context.Context<never>)))
      )
    )
  )

/** What features get. */
export const contextOf = (registry: RegistryService): Context.Context<Registry | Running> =>
  Context.make(Registry, registry).pipe(Context.add(Running, registry))

const make = (registry: RegistryService, surrounding: Surrounding): RegistryService => {
  // Entries with equal surroundings share one array, so that a list runs them once for all.
  const all = new WeakMap<object, ReadonlyArray<Surrounding>>()
  const inside = <A extends Registered>(entry: A): A => {
    const { around } = entry
    const key = around ?? all
    let outer = all.get(key)
    if (outer === undefined) all.set(key, outer = [surrounding, ...around ?? []])
    return { ...entry, around: outer }
  }
  const table = <A extends Registered>(of: Entries<A>, inside: (entry: A) => A): Entries<A> => ({
    get size() {
      return of.size
    },
    get revision() {
      return of.revision
    },
    get wasUsed() {
      return of.wasUsed
    },
    get: (key) => of.get(key),
    has: (key) => of.has(key),
    keys: () => of.keys(),
    values: () => of.values(),
    register: (entry, options) => of.register(inside(entry), options),
    onChange: (listener) => of.onChange(listener),
    [Symbol.iterator]: () => of[Symbol.iterator]()
  })
  return {
    ...registry,
    tools: table(registry.tools, inside),
    resources: table(registry.resources, inside),
    templates: table(registry.templates, inside),
    prompts: table(registry.prompts, inside),
    handlers: table(
      registry.handlers,
      (handler) => handler.isShared === true ? handler : handlerInside(handler, surrounding)
    ),
    filters: table(registry.filters, (filter) => filterInside(filter, surrounding))
  }
}

// The eras run handlers without a look at their surroundings; `RequiredScopes` reads the scopes there.
const handlerInside = (handler: RegisteredHandler, surrounding: Surrounding): RegisteredHandler => ({
  ...handler,
  around: [surrounding, ...handler.around ?? []],
  context: Context.empty(),
  run: (params, raw, method) =>
    Surroundings.run<unknown>(
      { context: handler.context, around: [surrounding] },
      Effect.suspend(() => handler.run(params, raw, method)),
      handler.method.kind === "request"
        ? Effect.fail(new MethodNotFound({ method: HandlerName.quotable(method) }))
        : Effect.void
    )
})

const filterInside = (filter: RegisteredFilter, surrounding: Surrounding): RegisteredFilter => ({
  ...filter,
  context: Context.empty(),
  accept: (keys) =>
    Surroundings.run(
      { context: filter.context, around: [surrounding] },
      Effect.suspend(() => filter.accept(keys)),
      Effect.succeed([])
    )
})
