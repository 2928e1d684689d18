/**
 * Makes cache hints, which tell clients for how long, and for whom, they may cache a result. `ofMethod` makes the hints of all results of a
 * method from the server's option `cache`, for `modern/Era`. `ofList` adds the hints of the entries of a list, for `features/PagedList`.
 * `onlyForSender` is for results that other clients must not get, for `features/Resources`. `CacheHints` contains the options and the type
 * of hints.
 */
import { type CacheableMethod, type Hints, least, type ServerCacheOptions, toHints } from "../CacheHints.js"

/** The hints of a result that other clients must not get. They replace the scope in the options. */
export const onlyForSender: Hints = { cacheScope: "private" }

/**
 * Makes the hints of all results of a method. The options of the method replace the options of all methods. Without options there are no
 * hints.
 */
export const ofMethod = (options: ServerCacheOptions | undefined, method: string): Hints =>
  toHints(
    options === undefined
      ? undefined
      : { ttl: options.ttl, scope: options.scope, ...options.methods?.[method as CacheableMethod] }
  ) ?? {}

/**
 * Makes the hints of a list whose entries have their own hints: the shortest time and the narrowest scope of all. `own` are the hints of
 * the list method, for example of `tools/list`. They also count for an entry without hints. `undefined` when no entry has hints.
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
