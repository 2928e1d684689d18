/**
 * The hints for caches of the results of a server: the hints that the server gives by itself (`features/PagedList`, `features/Resources`),
 * and the hints of a method (`modern/Era`). `CacheHints` has what applications choose.
 */
import { type CacheableMethod, type Hints, least, type ServerCacheOptions, toHints } from "../CacheHints.js"

/** The hints of a result that other clients must not see. */
export const onlyForSender: Hints = { cacheScope: "private" }

/** The hints of the results of a method. */
export const ofMethod = (options: ServerCacheOptions | undefined, method: string): Hints =>
  toHints(
    options === undefined
      ? undefined
      : { ttl: options.ttl, scope: options.scope, ...options.methods?.[method as CacheableMethod] }
  ) ?? {}

/**
 * The hints of a list whose entries have hints of their own: the strictest of all hints. `own` are the hints of the method, which also count
 * for an entry without hints. `undefined` when no entry has hints.
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
