/**
 * For how long, and for whom, a client may cache a modern result: the two hints, the results that carry them, and the key of a cached
 * result. This module contains no cache and reads no clock; `client/modern/ResponseCache` keeps results, `Stamp` writes the hints.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as UriKey from "../rules/UriKey.js"
import * as Mendable from "../schema/Mendable.js"

/**
 * `public`: the same for every client. `private`: for the requesting client.
 *
 * @category schemas
 */
export const CacheScope: Schema.Literal<["public", "private"]> = Schema.Literal("public", "private")

/** @category models */
export type CacheScope = typeof CacheScope.Type

/** @category models */
export interface CacheHints {
  /** Milliseconds, counted from when the client receives the result. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

/**
 * The fields of cacheable results. Servers MUST send both; a client that cannot read them caches nothing.
 *
 * @category constants
 */
export const hintFields = {
  ttlMs: Mendable.harmless(Schema.optional(Schema.Finite)),
  cacheScope: Mendable.harmless(Schema.optional(CacheScope))
}

/**
 * The hints of a result that must not be cached.
 *
 * @category constants
 */
export const noCache: CacheHints = { ttlMs: 0, cacheScope: "private" }

/**
 * The hints as a server sends them: whole milliseconds, not negative. Default: `noCache`.
 *
 * @category constructors
 */
export const of = (
  { cacheScope = noCache.cacheScope, ttlMs = 0 }: {
    readonly ttlMs?: number | undefined
    readonly cacheScope?: CacheScope | undefined
  }
): CacheHints => ({ ttlMs: ttlMs > 0 ? Math.min(Math.trunc(ttlMs), Number.MAX_SAFE_INTEGER) : 0, cacheScope })

/**
 * The hints of a result as a client got it: a hint that is missing or not valid counts as in `noCache`.
 *
 * @category constructors
 */
export const ofResult = ({ cacheScope, ttlMs }: { readonly [key: string]: unknown }): CacheHints =>
  of({
    ttlMs: typeof ttlMs === "number" ? ttlMs : undefined,
    cacheScope: cacheScope === "public" ? cacheScope : undefined
  })

/** The methods whose results are cacheable, and the parameter that distinguishes their results. */
const keyParameters: ReadonlyMap<string, "cursor" | "uri" | undefined> = new Map([
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
 * @category guards
 */
export const isCacheable = (method: string): boolean => keyParameters.has(method)

/**
 * The key under which a client caches the result of a request. None when its method is not cacheable, and for a request
 * that answers input requests.
 *
 * @category utils
 */
export const key = (method: string, params: { readonly [key: string]: unknown }): Option.Option<string> =>
  !keyParameters.has(method) || params.inputResponses !== undefined || params.requestState !== undefined
    ? Option.none()
    : Option.fromNullable(JsonText.stringify([method, keyOf(params[keyParameters.get(method) ?? ""], method)]))

/** Equal URIs have one key. */
const keyOf = (value: unknown, method: string): unknown =>
  typeof value === "string" && keyParameters.get(method) === "uri" ? UriKey.of(value) : value
