/**
 * Adds to a result what the modern era requires: its type, the name of the server, and caching hints where the method's results carry
 * them. The stamp is the last step before a result is sent, after the method's `narrowResult`. Hints that a handler returned stay.
 * `server/modern/Era` stamps.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import type { Implementation } from "../Implementation.js"
import * as Meta from "../Meta.js"
import * as Caching from "./Caching.js"
import { COMPLETE } from "./ResultType.js"

/**
 * A result as a handler returns it.
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
 * What is the same for all results of a server.
 *
 * @category models
 */
export interface Options {
  /** Without it, results do not name the server. */
  readonly serverInfo?: Implementation | undefined
  /** For results whose handlers return no hints. Default: `Caching.noCache`. */
  readonly hints?: Partial<Caching.CacheHints> | undefined
  /** Whether results carry hints. Default: only the results of the methods of the core that `Caching` names. */
  readonly isCacheable?: boolean | undefined
}

/**
 * The function that stamps the results of a method; made once for each method and server.
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
    // The new members come before the spread: up to Node 22, adding them to a copy takes ten times as long.
    const stamped: { [key: string]: unknown } = own === undefined
      ? { resultType, ...result as {} }
      : { resultType, _meta: own, ...result as {} }
    stamped.resultType = resultType
    if (own !== undefined) stamped._meta = _meta === undefined ? own : { ..._meta, ...own }
    if (isCacheable && resultType === COMPLETE) Object.assign(stamped, Caching.of({ ttlMs, cacheScope }))
    return stamped as typeof result & { readonly resultType: string }
  }
}
