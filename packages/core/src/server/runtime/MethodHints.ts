/**
 * Makes cache hints. They tell a client how long it may cache a result, and whether caches may give the result to other users. `modern/Era`
 * calls `ofMethod`, which makes the hints for all results of a method from the server's option `cache`. `features/PagedList` calls
 * `ofList`, which combines the hints of a list method with the hints of the entries in the list. `features/Resources` uses `onlyForSender`
 * for results that other clients must not get. `CacheHints` contains the options and the type `Hints`.
 */
import { type CacheableMethod, type Hints, least, type ServerCacheOptions, toHints } from "../CacheHints.js"

/** The hints of a result that other clients must not get. They replace the scope in the options. */
export const onlyForSender: Hints = { cacheScope: "private" }

/**
 * Makes the hints of all results of a method. An option that the application gives for this method replaces the same option for all
 * methods. When the application gives no options, the result is an empty object.
 */
export const ofMethod = (options: ServerCacheOptions | undefined, method: string): Hints =>
  toHints(
    options === undefined
      ? undefined
      : { ttl: options.ttl, scope: options.scope, ...options.methods?.[method as CacheableMethod] }
  ) ?? {}

/**
 * Makes the hints of a list in which entries have their own hints: the shortest time and the narrowest scope of all entries. `own` are the
 * hints of the list method, for example of `tools/list`. For an entry without hints, `own` is used in place of its hints. When every entry
 * has hints, the time and the scope in `own` replace the time and the scope of the entries. Gives `undefined` when no entry has hints.
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
