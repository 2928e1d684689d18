/**
 * Runs the effects of an entry inside what surrounds the entry: middleware, checks whether a request may see the entry, and
 * the scopes that it requires. An entry without surroundings costs one comparison.
 *
 * A request sees an entry when every check inside the middleware around it gives true. Where a middleware refuses the request
 * before such a check, the request does not see the entry.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { all as concurrently } from "../../kit/Race.js"
import type { Registered, Surrounding } from "../Registry.js"
import * as Permission from "../runtime/Permission.js"
import * as Route from "../runtime/Route.js"

type Handled = Effect.Effect<unknown, unknown, any>

/** Serves a request with an effect of an entry; with `hidden` when the request does not see the entry. */
export const serve = (
  entry: Registered,
  effect: Handled,
  hidden: Effect.Effect<unknown, unknown>,
  settle?: (end: Handled) => Handled
): Route.Served =>
  entry.around === undefined
    ? { effect, context: entry.context }
    : Route.served(run(entry, effect, hidden, settle) as Effect.Effect<unknown, unknown>)

/** Runs an effect of an entry, with the services of its feature and of the request. */
export const run = <A>(
  entry: Registered,
  effect: Effect.Effect<A, unknown, any>,
  hidden: Effect.Effect<A, unknown>,
  /** How a failure of a middleware ends. */
  settle: (end: Handled) => Handled = (end) => end
): Effect.Effect<A, unknown> =>
  (entry.around ?? []).reduceRight(
    (next, one) =>
      one._tag === "Middleware"
        ? settle(one.run(next)) as Effect.Effect<A, unknown>
        : one._tag === "Requirement"
        // All scopes of the entry, so that a client has to get a token once.
        ? Effect.zipRight(Permission.check(scopesOf(entry)), next)
        : Effect.flatMap(one.check, (visible) => visible ? next : hidden),
    Effect.mapInputContext(
      effect as Effect.Effect<A, unknown>,
      (request: Context.Context<never>) => Context.merge(entry.context, request)
    )
  )

/** As `run`, with `hidden` also where a middleware refuses the request before the effect runs. */
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
 * What surrounds an entry whose definition requires scopes. Equal scopes give one array, so that a list runs what is around
 * several entries once.
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

/** The scopes that a use of the entry requires. */
export const scopesOf = ({ around }: Registered): ReadonlyArray<string> =>
  around === undefined
    ? []
    : [...new Set(around.flatMap((one) => one._tag === "Requirement" ? one.scopes : []))]

/** The same; none where a check of visibility comes first, because then a request may not learn that there is the entry. */
export const openScopesOf = (entry: Registered): ReadonlyArray<string> =>
  entry.around?.find(({ _tag }) => _tag !== "Middleware")?._tag === "Requirement" ? scopesOf(entry) : []

/** Whether there are requests that may not see the entry. */
export const mayBeHidden = ({ around }: Registered): boolean => around !== undefined && checksOf(around) > 0

/** Whether the request sees the entry, with or without the scopes to use it. */
export const isVisible = ({ around = [] }: Registered): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let visible = false
    const checks = around.slice(0, checksOf(around)).filter(({ _tag }) => _tag !== "Requirement")
    const checked: Registered = { context: Context.empty(), around: checks }
    const see = Effect.sync(() => {
      visible = true
    })
    return Effect.map(Effect.ignore(run(checked, see, Effect.void)), () => visible)
  })

/** Those of the entries that the request sees. What surrounds several entries runs once. */
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

/** How many checks of one list run at the same time: each has a fiber. */
const CHECKING = 64

/** How many surroundings there are up to the last check; 0 without one. */
const checksOf = (around: ReadonlyArray<Surrounding>): number => {
  for (let i = around.length; i > 0; i--) if (around[i - 1]!._tag === "Visibility") return i
  return 0
}
