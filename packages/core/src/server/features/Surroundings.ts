/**
 * Runs the effects of an entry inside its surroundings, for `Tools`, `Prompts`, `Resources` and `Completion`. The surroundings of an entry
 * are services, checks whether the entry is visible to a request, required scopes, and middleware around each use. `PagedList` gets the
 * visible entries from this module, and `RequiredScopes` gets the scopes of an entry. An entry without surroundings costs only one
 * comparison.
 *
 * Services and checks run in the order in which the application has added them. The middleware runs after all services and checks. So
 * middleware gets decoded arguments, and an error about arguments never reveals a hidden entry to a client. An entry is visible to a
 * request when every check gives true. The entry is also hidden when a service that runs before a check refuses the request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { all as concurrently } from "../../kit/Race.js"
import type * as Prompts from "../../protocol/Prompts.js"
import type * as Resources from "../../protocol/Resources.js"
import type * as Tools from "../../protocol/Tools.js"
import type {
  EntryOf,
  FeatureEntry,
  Registered,
  RegisteredHandler,
  RegistryService,
  Surrounding,
  Use
} from "../Registry.js"
import * as Permission from "../runtime/Permission.js"
import * as Route from "../runtime/Route.js"

type Handled = Effect.Effect<unknown, unknown, any>

/** Makes a result from the failure of a service or a middleware, where the definition of the entry allows this. */
type Settle = (end: Handled) => Handled

/**
 * Serves a request with `effect`. When the entry is hidden from the request, serves the request with `hidden`. When the entry has
 * middleware, `effect` must run the handler with `use`. `settle` handles the failures of services.
 */
export const serve = (
  entry: Registered,
  effect: Handled,
  hidden: Effect.Effect<unknown, unknown>,
  settle?: Settle
): Route.Served =>
  entry.around === undefined
    ? { effect, context: entry.context }
    : Route.served(runUse(entry, effect, hidden, settle))

/** Does the same as `serve`, for an effect that serves only a part of a request. */
export const runUse = <A>(
  entry: Registered,
  effect: Effect.Effect<A, unknown, any>,
  hidden: Effect.Effect<A, unknown>,
  settle?: Settle
): Effect.Effect<A, unknown> =>
  hasMiddleware(entry)
    ? inside(entry, effect as Effect.Effect<A, unknown>, hidden, settle)
    : run(entry, effect, hidden, settle)

/** Runs an effect of an entry that is not a use of the entry, for example a list. No middleware runs around it. */
export const run = <A>(
  entry: Registered,
  effect: Effect.Effect<A, unknown, any>,
  hidden: Effect.Effect<A, unknown>,
  settle?: Settle
): Effect.Effect<A, unknown> => inside(entry, withServices(entry, effect), hidden, settle)

/** Runs an effect with the services of the request, inside the services and the checks around an entry. */
const inside = <A>(
  entry: Registered,
  effect: Effect.Effect<A, unknown>,
  hidden: Effect.Effect<A, unknown>,
  settle: Settle = (end) => end,
  around: ReadonlyArray<Surrounding> = entry.around ?? []
): Effect.Effect<A, unknown> =>
  around.reduceRight((next, one) => {
    switch (one._tag) {
      case "Services":
        return settle(one.run(next)) as Effect.Effect<A, unknown>
      case "Visibility":
        return Effect.flatMap(one.check(entry), (visible) => visible ? next : hidden)
      case "Requirement":
        // Checks all scopes of the entry together, so that a client needs to get a new token only once.
        return Effect.zipRight(Permission.check(scopesOf(entry)), next)
      case "Use":
        return next
    }
  }, effect)

/** Runs an effect with the context of the entry's layer, and with the services of the request. */
const withServices = <A>(
  { context }: Registered,
  effect: Effect.Effect<A, unknown, any>
): Effect.Effect<A, unknown> =>
  Effect.mapInputContext(
    effect as Effect.Effect<A, unknown>,
    (request: Context.Context<never>) => Context.merge(context, request)
  )

const hasMiddleware = ({ around }: Registered): boolean => around?.some(({ _tag }) => _tag === "Use") === true

/** Runs the handler for one use of an entry, inside the middleware around the entry. */
export const use = <A>(
  entry: Registered,
  of: () => UseWithout<"next">,
  handler: Effect.Effect<A, unknown, any>,
  settle: Settle = (end) => end
): Effect.Effect<A, unknown, any> => {
  if (!hasMiddleware(entry)) return handler
  const known = of()
  return (entry.around ?? []).reduceRight(
    (next, one) =>
      one._tag === "Use"
        ? settle(one.run({ ...known, next } as Use)) as Effect.Effect<A, unknown>
        : next,
    withServices(entry, handler)
  )
}

/** A `Use` of any kind, without the member `Member`. */
type UseWithout<Member extends string> = Use extends infer Each ? Each extends Use ? Omit<Each, Member> : never : never

/** The tables of the registry whose entries can have a `Surrounding`. */
export type Table = "tools" | "resources" | "templates" | "prompts" | "handlers" | "filters"

/** For each table, makes the description of an entry that middleware and checks get. */
export const describe: {
  readonly [T in Table]: (
    entry: RegistryService[T] extends Iterable<[string, infer Entry]> ? Entry : never
  ) => FeatureEntry
} = {
  tools: (entry) => tool(entry),
  resources: (entry) => resource(entry),
  templates: (entry) => template(entry),
  prompts: (entry) => prompt(entry),
  handlers: (entry) => handler(entry),
  filters: (entry) => ({ kind: "filter", name: entry.name, advertised: undefined, scopes: scopesOf(entry) })
}

type Advertising<A> = Registered & { readonly advertised: A }

/**
 * Describes a tool. `name` is the name in the client's call. This differs from the tool's own name when the tool serves the calls of all
 * names.
 */
export const tool = (
  entry: Advertising<Tools.Tool>,
  name: string = entry.advertised.name
): EntryOf<"tool", Tools.Tool> => described("tool", name, entry)

export const prompt = (entry: Advertising<Prompts.Prompt>): EntryOf<"prompt", Prompts.Prompt> =>
  described("prompt", entry.advertised.name, entry)

export const resource = (entry: Advertising<Resources.Resource>): EntryOf<"resource", Resources.Resource> =>
  described("resource", entry.advertised.uri, entry)

export const template = (
  entry: Advertising<Resources.ResourceTemplate>
): EntryOf<"resourceTemplate", Resources.ResourceTemplate> =>
  described("resourceTemplate", entry.advertised.uriTemplate, entry)

export const handler = (entry: RegisteredHandler): EntryOf<"method", undefined> => ({
  kind: "method",
  name: entry.method.name,
  advertised: undefined,
  scopes: scopesOf(entry)
})

const described = <Kind extends string, A>(kind: Kind, name: string, entry: Advertising<A>): EntryOf<Kind, A> => ({
  kind,
  name,
  advertised: entry.advertised,
  scopes: scopesOf(entry)
})

/** Runs an effect of an entry, like `run`. Also runs `hidden` when a service refuses the request before the effect has begun. */
export const runUnlessRefused = <A>(
  entry: Registered,
  effect: Effect.Effect<A, unknown, any>,
  hidden: Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  entry.around === undefined ? run(entry, effect, hidden) : Effect.suspend(() => {
    let started = false
    const inside = Effect.suspend(() => {
      started = true
      return effect
    })
    return Effect.catchAll(run(entry, inside, hidden), (error) => started ? Effect.fail(error) : hidden)
  })

/**
 * Makes the `around` of an entry whose definition requires scopes. For equal scopes, this function returns the same array. So a list runs
 * the checks of several entries only once.
 */
export const ofDefinition = (
  { requires }: { readonly requires?: ReadonlyArray<string> | undefined }
): Pick<Registered, "around"> | undefined => {
  if (requires === undefined) return undefined
  const key = requires.join(" ")
  const around = definitions.get(key) ?? [{ _tag: "Requirement", scopes: requires }]
  definitions.set(key, around)
  return { around }
}

const definitions = new Map<string, ReadonlyArray<Surrounding>>()

/** Gives the scopes that a use of the entry requires. */
export const scopesOf = ({ around }: Registered): ReadonlyArray<string> =>
  around === undefined
    ? []
    : [...new Set(around.flatMap((one) => one._tag === "Requirement" ? one.scopes : []))]

/**
 * Gives the scopes that a use of the entry requires. Gives no scopes when a visibility check comes before the scopes: a client must not
 * learn from the scopes that a hidden entry exists.
 */
export const openScopesOf = (entry: Registered): ReadonlyArray<string> =>
  entry.around?.find(({ _tag }) => _tag === "Visibility" || _tag === "Requirement")?._tag === "Requirement"
    ? scopesOf(entry)
    : []

/** Whether the entry may be hidden from some requests. */
export const mayBeHidden = ({ around }: Registered): boolean => around !== undefined && checksOf(around) > 0

/** Whether the entry is visible to the request. Ignores the scopes that a use of the entry requires. */
export const isVisible = (entry: Registered): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { around = [] } = entry
    let visible = false
    const checks = around.slice(0, checksOf(around)).filter(({ _tag }) => _tag === "Services" || _tag === "Visibility")
    const see = Effect.sync(() => {
      visible = true
    })
    return Effect.map(Effect.ignore(inside(entry, see, Effect.void, undefined, checks)), () => visible)
  })

/** Gives the entries that are visible to the request. A check around several entries runs once for all of them. */
export const visible = <A extends Registered>(
  entries: Iterable<readonly [key: string, entry: A]>
): Effect.Effect<ReadonlyArray<readonly [key: string, entry: A]>> =>
  Effect.suspend(() => {
    const all = [...entries]
    const distinct = new Map(all.flatMap(([, entry]) => mayBeHidden(entry) ? [[entry.around, entry] as const] : []))
    const checked = concurrently(
      Array.from(distinct, ([around, entry]) => Effect.map(isVisible(entry), (visible) => [around, visible] as const)),
      CHECKING
    )
    return Effect.map(checked, (results) => {
      const known = new Map(results)
      return all.filter(([, { around }]) => known.get(around) !== false)
    })
  })

/** How many checks of one list run at the same time, each on its own fiber. */
const CHECKING = 64

/** Counts the elements of `around` up to and including the last check; 0 when there is no check. */
const checksOf = (around: ReadonlyArray<Surrounding>): number => {
  for (let i = around.length; i > 0; i--) if (around[i - 1]!._tag === "Visibility") return i
  return 0
}
