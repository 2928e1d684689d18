/**
 * For how long, and for whom, clients may cache the results of a server. Only results of revision 2026-07-28 or later carry these hints.
 * `runtime/MethodHints` joins the hints of a server with the hints of its entries.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"

/**
 * The methods whose results clients may cache.
 *
 * @category models
 */
export type CacheableMethod =
  | "server/discover"
  | "tools/list"
  | "prompts/list"
  | "resources/list"
  | "resources/templates/list"
  | "resources/read"

/** @category models */
export interface CacheOptions {
  /** How long a client may reuse a result, counted from the moment when the client receives it. Default: zero. */
  readonly ttl?: Duration.DurationInput | undefined
  /**
   * `public`: every client gets the same result, so a shared cache may keep it. `private`: the result is only for the client that sent the
   * request. Default: `private`.
   */
  readonly scope?: "public" | "private" | undefined
}

/**
 * Options of all cacheable results, and of single methods. For a method in `methods`, its options replace the options of all results.
 *
 * @category models
 */
export interface ServerCacheOptions extends CacheOptions {
  readonly methods?: { readonly [M in CacheableMethod]?: CacheOptions } | undefined
}

/**
 * The hints of a result as a message carries them.
 *
 * @category models
 */
export interface Hints {
  readonly ttlMs?: number | undefined
  readonly cacheScope?: "public" | "private" | undefined
}

/**
 * The hints that these options stand for, for a result that a handler makes itself.
 *
 * @category utils
 */
export const toHints = (options: CacheOptions | undefined): Hints | undefined =>
  options === undefined ? undefined : {
    ttlMs: options.ttl === undefined ? undefined : Duration.toMillis(options.ttl),
    cacheScope: options.scope
  }

/**
 * The hints of a result that is made of several results: the shortest time, and `public` only where all results are `public`. A missing
 * hint counts as its default: zero, or `private`.
 *
 * @category utils
 */
export const least = (all: ReadonlyArray<Hints>): Hints => ({
  ttlMs: Math.min(...all.map(({ ttlMs = 0 }) => ttlMs)),
  cacheScope: all.every(({ cacheScope }) => cacheScope === "public") ? "public" : "private"
})
