/**
 * Makes the hints that tell clients for how long, and for whom, they may cache a result. `ofMethod` gives the hints of all results of a
 * method, from the server's option `cache` (`modern/Era`). `ofList` adds the hints of the entries of a list (`features/PagedList`).
 * `onlyForSender` is for results that other clients must not see (`features/Resources`). `CacheHints` has the options and the type of
 * hints.
 */
import { type CacheableMethod, type Hints, least, type ServerCacheOptions, toHints } from "../CacheHints.js"

/** The hints of a result that other clients must not see. They replace the scope that the options give. */
export const onlyForSender: Hints = { cacheScope: "private" }

/**
 * The hints of all results of a method. The options of the method come before the options of all methods. Without options there are no
 * hints.
 */
export const ofMethod = (options: ServerCacheOptions | undefined, method: string): Hints =>
  toHints(
    options === undefined
      ? undefined
      : { ttl: options.ttl, scope: options.scope, ...options.methods?.[method as CacheableMethod] }
  ) ?? {}

/**
 * The hints of a list whose entries have hints of their own: the shortest time and the narrowest scope of all of them. `own` are the hints
 * of the method `tools/list`, for example; they also count for an entry without hints. `undefined` when no entry has hints.
 */
export const ofList = (own: Hints, entries: ReadonlyArray<Hints | undefined>): Hints | undefined => {
  const given = entries.filter((hints) => hints !== undefined)
  if (given.length === 0) return undefined
  const hints = least(given)
  return least([hints, given.length < entries.length ? own : { ...hints, ...chosen(own) }])
}

const chosen = ({ cacheScope, ttlMs }: Hints): Hints => ({
  ...(ttlMs === undefined ? undefined : { ttlMs }),
  ...(cacheScope === undefined ? undefined : { cacheScope })
})
