/**
 * How long, and by whom, a modern result may be kept: the two hints, which results carry them, and what a client makes of
 * them. Nothing here keeps anything or looks at a clock.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * Whether a result is the same for everybody, or only for whoever asked.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CacheScope: Schema.Literal<["public", "private"]> = Schema.Literal("public", "private")

/**
 * @since 0.1.0
 * @category models
 */
export type CacheScope = typeof CacheScope.Type

/**
 * @since 0.1.0
 * @category models
 */
export interface CacheHints {
  /** Milliseconds, counted from when the result arrives. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

/**
 * The fields of results that may be kept. Servers must say both; clients make do without.
 *
 * @since 0.1.0
 * @category fields
 */
export const hints = { ttlMs: Schema.optional(Schema.Finite), cacheScope: Schema.optional(CacheScope) }

/**
 * What is said of a result that nobody said anything about: do not keep it.
 *
 * @since 0.1.0
 * @category constants
 */
export const unkept: CacheHints = { ttlMs: 0, cacheScope: "private" }

/**
 * Hints as they may be said, and as they are understood: whole milliseconds, not below zero; what is absent means that the
 * result is stale at once, and its asker's alone.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (
  said: { readonly ttlMs?: number | undefined; readonly cacheScope?: CacheScope | undefined }
): CacheHints => ({
  ttlMs: said.ttlMs !== undefined && said.ttlMs > 0 ? Math.min(Math.trunc(said.ttlMs), Number.MAX_SAFE_INTEGER) : 0,
  cacheScope: said.cacheScope ?? unkept.cacheScope
})

/**
 * Whether a result that arrived then may be used now; both in milliseconds of one clock.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isFresh = ({ ttlMs }: CacheHints, arrived: number, now: number): boolean => now < arrived + ttlMs

/** The methods whose results may be kept, and the parameters that tell one result from another. */
const affecting: ReadonlyMap<string, "cursor" | "uri" | undefined> = new Map([
  ["server/discover", undefined],
  ["tools/list", "cursor"],
  ["prompts/list", "cursor"],
  ["resources/list", "cursor"],
  ["resources/templates/list", "cursor"],
  ["resources/read", "uri"]
])

/**
 * Whether complete results of a method carry hints.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isCacheable = (method: string): boolean => affecting.has(method)

/**
 * Under what to keep the result of a request; none when it must not be kept, because of its method or because it answers
 * questions of the server's.
 *
 * @since 0.1.0
 * @category getters
 */
export const key = (method: string, params: { readonly [key: string]: unknown }): Option.Option<string> =>
  !affecting.has(method) || params.inputResponses !== undefined || params.requestState !== undefined
    ? Option.none()
    : Option.fromNullable(Json.stringify([method, params[affecting.get(method) ?? ""]]))
