/**
 * The cache hints of a modern server: how long a client may cache a result, and for whom. This module also says which results have hints,
 * and makes the key of a cached result. `client/modern/ResponseCache` stores results, and `Stamp` writes the hints.
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
 * The clients for which a result may be cached. `public`: the result is the same for every client. `private`: only for the client that sent
 * the request.
 *
 * @category schemas
 */
export const CacheScope: Schema.Literal<["public", "private"]> = Schema.Literal("public", "private")

/** @category models */
export type CacheScope = typeof CacheScope.Type

/** @category models */
export interface CacheHints {
  /** For how many milliseconds the result may be cached, counted from the moment at which the client receives it. */
  readonly ttlMs: number
  readonly cacheScope: CacheScope
}

/**
 * The fields of cacheable results. A server MUST send both fields. A client does not cache a result whose hints it cannot read.
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
 * Makes the hints that a server sends. `ttlMs` is rounded to a whole number that is at least 0. Default: the values of `noCache`.
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
 * Returns the hints of a result that a client has received. A hint that is missing or not valid gets its value from `noCache`.
 *
 * @category constructors
 */
export const ofResult = ({ cacheScope, ttlMs }: { readonly [key: string]: unknown }): CacheHints =>
  of({
    ttlMs: typeof ttlMs === "number" ? ttlMs : undefined,
    cacheScope: cacheScope === "public" ? cacheScope : undefined
  })

/** The methods whose results may be cached, each with the parameter that decides which result is returned. */
const keyParameters: ReadonlyMap<string, "cursor" | "uri" | undefined> = new Map([
  ["server/discover", undefined],
  ["tools/list", "cursor"],
  ["prompts/list", "cursor"],
  ["resources/list", "cursor"],
  ["resources/templates/list", "cursor"],
  ["resources/read", "uri"]
])

/**
 * Whether the complete results of this core method have cache hints. A result that asks for input never has cache hints. For the methods of
 * extensions see `Extension.RequestOptions.isCacheable`.
 *
 * @category guards
 */
export const isCacheable = (method: string): boolean => keyParameters.has(method)

/**
 * Returns the key under which a client caches the result of a request. Returns `None` when results of the method are not cached, or when
 * the request contains responses to input requests.
 *
 * @category utils
 */
export const key = (method: string, params: { readonly [key: string]: unknown }): Option.Option<string> =>
  !keyParameters.has(method) || params.inputResponses !== undefined || params.requestState !== undefined
    ? Option.none()
    : Option.fromNullable(JsonText.stringify([method, keyOf(params[keyParameters.get(method) ?? ""], method)]))

/** Equal URIs get the same key. */
const keyOf = (value: unknown, method: string): unknown =>
  typeof value === "string" && keyParameters.get(method) === "uri" ? UriKey.of(value) : value
