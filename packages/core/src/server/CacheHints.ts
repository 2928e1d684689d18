/**
 * Cache hints: for how long clients may cache the results of a server, and whether a cache may share a result between users. Only results
 * of revision 2026-07-28 or later contain these hints. `runtime/MethodHints` combines the hints of a server with the hints of its tools,
 * resources and prompts.
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
  /** How long a client may reuse a result after the client has received it. Default: zero. */
  readonly ttl?: Duration.DurationInput | undefined
  /**
   * `public`: every client gets the same result, so a shared cache may keep it. `private`: the result is only for the client that sent the
   * request. Default: `private`.
   */
  readonly scope?: "public" | "private" | undefined
}

/**
 * Cache options for the results of all cacheable methods. `methods` contains options for single methods, which replace the general options
 * for the results of these methods.
 *
 * @category models
 */
export interface ServerCacheOptions extends CacheOptions {
  readonly methods?: { readonly [M in CacheableMethod]?: CacheOptions } | undefined
}

/**
 * The hints of a result in the form in which a message contains them.
 *
 * @category models
 */
export interface Hints {
  readonly ttlMs?: number | undefined
  readonly cacheScope?: "public" | "private" | undefined
}

/**
 * Makes hints from options, for a handler that makes its whole result itself.
 *
 * @category utils
 */
export const toHints = (options: CacheOptions | undefined): Hints | undefined =>
  options === undefined ? undefined : {
    ttlMs: options.ttl === undefined ? undefined : Duration.toMillis(options.ttl),
    cacheScope: options.scope
  }

/**
 * Combines the hints of several results from which one result is made. Gives the shortest time, and `public` only where all results are
 * `public`. A missing hint counts as its default: zero, or `private`.
 *
 * @category utils
 */
export const least = (all: ReadonlyArray<Hints>): Hints => ({
  ttlMs: Math.min(...all.map(({ ttlMs = 0 }) => ttlMs)),
  cacheScope: all.every(({ cacheScope }) => cacheScope === "public") ? "public" : "private"
})
