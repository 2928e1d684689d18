/**
 * Makes the registry for a feature layer to which the application has applied a function of `Feature` or `FeatureMiddleware`. The function
 * adds a `Surrounding` to every entry of the layer: a service, a check, scopes or middleware. `Surroundings` runs these surroundings. The
 * registry adds the entries to the tables of the server. `dispatch/Build` gives features their registry with `contextOf`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import { MethodNotFound } from "../../protocol/McpError.js"
import {
  type Entries,
  type FeatureEntry,
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

/** The `Surrounding` of entries: one value for all entries, or a function that makes a value for each entry. */
export type Surround = Surrounding | ((describe: (entry: Registered) => FeatureEntry) => Surrounding)

/**
 * Builds a feature layer with a registry that puts a `Surrounding` around its entries. `of` gets the context of the layer.
 */
export const layer = <E>(
  feature: Layer.Layer<never, E, any>,
  of: (context: Context.Context<never>) => Surround
): Layer.Layer<never, E, any> =>
  Layer.provide(
    feature,
    Layer.effectContext(
      Effect.contextWith((own: Context.Context<any>) =>
        contextOf(make(Context.get(own, Registry), of(Context.omit(Scope.Scope)(own) as Context.Context<never>)))
      )
    )
  )

/** Makes the services with which features find the registry. */
export const contextOf = (registry: RegistryService): Context.Context<Registry | Running> =>
  Context.make(Registry, registry).pipe(Context.add(Running, registry))

const make = (registry: RegistryService, surround: Surround): RegistryService => {
  // Entries with equal surroundings share one array, so that a list runs the checks once for all of these entries.
  const all = new WeakMap<object, ReadonlyArray<Surrounding>>()
  const aroundOf = ({ around }: Registered, describe: (entry: any) => FeatureEntry): ReadonlyArray<Surrounding> => {
    if (Predicate.isFunction(surround)) return [surround(describe), ...around ?? []]
    const key = around ?? all
    let outer = all.get(key)
    if (outer === undefined) all.set(key, outer = [surround, ...around ?? []])
    return outer
  }
  const table = <T extends Surroundings.Table, A extends Registered>(
    name: T,
    of: Entries<A>,
    inside: (entry: A, around: ReadonlyArray<Surrounding>) => A = (entry, around) => ({ ...entry, around })
  ): Entries<A> => ({
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
    register: (entry, options) => of.register(inside(entry, aroundOf(entry, Surroundings.describe[name])), options),
    onChange: (listener) => of.onChange(listener),
    [Symbol.iterator]: () => of[Symbol.iterator]()
  })
  return {
    ...registry,
    tools: table("tools", registry.tools),
    resources: table("resources", registry.resources),
    templates: table("templates", registry.templates),
    prompts: table("prompts", registry.prompts),
    handlers: table("handlers", registry.handlers, handlerInside),
    filters: table("filters", registry.filters, filterInside)
  }
}

// The code that runs handlers of methods does not read `around`, so `run` includes the surroundings. `RequiredScopes` reads the scopes in
// `around`.
const handlerInside = (handler: RegisteredHandler, around: ReadonlyArray<Surrounding>): RegisteredHandler => {
  if (handler.isShared === true) return handler
  const { context, run } = handler.inner ?? handler
  const surrounded: RegisteredHandler = {
    ...handler,
    around,
    inner: { context, run },
    context: Context.empty(),
    run: (params, raw, method) => {
      const entry: RegisteredHandler = { ...surrounded, context }
      return Surroundings.runUse<unknown>(
        entry,
        Surroundings.use(
          entry,
          () => ({
            kind: "method",
            entry: Surroundings.handler(entry),
            arguments: params,
            isNotification: handler.method.kind === "notification"
          }),
          Effect.suspend(() => run(params, raw, method))
        ),
        handler.method.kind === "request"
          ? Effect.fail(new MethodNotFound({ method: HandlerName.quotable(method) }))
          : Effect.void
      )
    }
  }
  return surrounded
}

const filterInside = (filter: RegisteredFilter, around: ReadonlyArray<Surrounding>): RegisteredFilter => {
  const { accept, context } = filter.inner ?? filter
  const entry: RegisteredFilter = { ...filter, around, context }
  return {
    ...filter,
    around,
    inner: { accept, context },
    context: Context.empty(),
    accept: (keys) => Surroundings.run(entry, Effect.suspend(() => accept(keys)), Effect.succeed([]))
  }
}
