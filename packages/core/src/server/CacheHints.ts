/**
 * For how long, and for whom, clients may cache the results of a server, from 2026-07-28 on. Results of older revisions
 * carry no such hints.
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
  /** How long a client may use a result again, from when it receives the result. Default: zero. */
  readonly ttl?: Duration.DurationInput | undefined
  /** `public`: the result is the same for every client. `private`: it is for the requesting client. Default: `private`. */
  readonly scope?: "public" | "private" | undefined
}

/**
 * Options of all cacheable results, and of single methods; an option of a method comes first.
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
 * The hints that options mean, for a result that a handler makes itself.
 *
 * @category utils
 */
export const toHints = (options: CacheOptions | undefined): Hints | undefined =>
  options === undefined ? undefined : {
    ttlMs: options.ttl === undefined ? undefined : Duration.toMillis(options.ttl),
    cacheScope: options.scope
  }

/**
 * The hints of a result that is made of several results: the shortest time, and `public` only where all results are `public`. A hint that
 * is missing counts as its default.
 *
 * @category utils
 */
export const least = (all: ReadonlyArray<Hints>): Hints => ({
  ttlMs: Math.min(...all.map(({ ttlMs = 0 }) => ttlMs)),
  cacheScope: all.every(({ cacheScope }) => cacheScope === "public") ? "public" : "private"
})
