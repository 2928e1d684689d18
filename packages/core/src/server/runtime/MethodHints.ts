/**
 * The hints for caches of the results of a server: those that the server gives by itself, and those of a method. `CacheHints` has
 * what applications choose.
 */
import { type CacheableMethod, type Hints, type ServerCacheOptions, toHints } from "../CacheHints.js"

/** The hints of a result that other clients must not see. */
export const onlyForSender: Hints = { cacheScope: "private" }

/** The hints of the results of a method. */
export const ofMethod = (options: ServerCacheOptions | undefined, method: string): Hints =>
  toHints(
    options === undefined
      ? undefined
      : { ttl: options.ttl, scope: options.scope, ...options.methods?.[method as CacheableMethod] }
  ) ?? {}
