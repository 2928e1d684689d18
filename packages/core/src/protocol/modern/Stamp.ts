/**
 * Adds to a result the members that the modern era requires: the type of the result, the name of the server, and cache hints if results of
 * the method have hints. `server/modern/Era` calls this module as the last step before it sends a result, after `narrowResult` of the
 * method. If the handler has returned hints, this module does not replace them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import type { Implementation } from "../Implementation.js"
import * as Meta from "../Meta.js"
import * as Caching from "./Caching.js"
import { COMPLETE } from "./ResultType.js"

/**
 * A result as its handler returns it.
 *
 * @category models
 */
export interface Unstamped extends Partial<Caching.CacheHints> {
  readonly resultType?: string | undefined
  readonly _meta?: Meta.Meta | undefined
}

/** @category models */
export type Stamp = <R extends object>(result: R & Unstamped) => R & { readonly resultType: string }

/**
 * The options for all results of one method of a server.
 *
 * @category models
 */
export interface Options {
  /** The name and version of the server. Default: results do not name the server. */
  readonly serverInfo?: Implementation | undefined
  /** The cache hints of results whose handlers return no hints. Default: `Caching.noCache`. */
  readonly hints?: Partial<Caching.CacheHints> | undefined
  /** Whether complete results have cache hints. Default: `Caching.isCacheable` of the method. */
  readonly isCacheable?: boolean | undefined
}

/**
 * Makes the function that adds the members to the results of a method. A server makes one function for each method.
 *
 * @category constructors
 */
export const make = (
  method: string,
  { hints = {}, isCacheable = Caching.isCacheable(method), serverInfo }: Options = {}
): Stamp => {
  const own = serverInfo === undefined ? undefined : { [Meta.keys.serverInfo]: serverInfo }
  return (result) => {
    const { _meta, cacheScope = hints.cacheScope, resultType = COMPLETE, ttlMs = hints.ttlMs } = result
    // The new members come before the spread. In Node 22 and earlier, it takes ten times as long to add them to a copy.
    const stamped: { [key: string]: unknown } = own === undefined
      ? { resultType, ...result as {} }
      : { resultType, _meta: own, ...result as {} }
    stamped.resultType = resultType
    if (own !== undefined) stamped._meta = _meta === undefined ? own : { ..._meta, ...own }
    if (isCacheable && resultType === COMPLETE) Object.assign(stamped, Caching.of({ ttlMs, cacheScope }))
    return stamped as typeof result & { readonly resultType: string }
  }
}
