/**
 * What the modern era must say beside a result: its kind, who answers, and, of the results that may be kept, for how long
 * and by whom. The last step before a result is sent, after `Narrow`.
 *
 * It knows no result by its type; the hints that a handler gave stay.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import type { Implementation } from "../Implementation.js"
import * as Meta from "../Meta.js"
import * as Caching from "./Caching.js"
import { COMPLETE } from "./ResultType.js"

/**
 * A result as it comes from a handler.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unstamped extends Partial<Caching.CacheHints> {
  readonly resultType?: string | undefined
  readonly _meta?: Meta.Meta | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type Stamp = <R extends object>(result: R & Unstamped) => R & { readonly resultType: string }

/**
 * What a server says of all its results.
 *
 * @since 0.1.0
 * @category models
 */
export interface Facts {
  /** Who answers. Without it, results do not say. */
  readonly serverInfo?: Implementation | undefined
  /** For results whose handlers say nothing. Default: they may not be kept. */
  readonly hints?: Partial<Caching.CacheHints> | undefined
}

/**
 * What to do to the results of a method before they are sent, questions included. Made once per method and server.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (method: string, { hints = {}, serverInfo }: Facts = {}): Stamp => {
  const own = serverInfo === undefined ? undefined : { [Meta.keys.serverInfo]: serverInfo }
  const cacheable = Caching.isCacheable(method)
  return (result) => {
    const { _meta, cacheScope = hints.cacheScope, resultType = COMPLETE, ttlMs = hints.ttlMs } = result
    return {
      ...result,
      ...(cacheable && resultType === COMPLETE ? Caching.of({ ttlMs, cacheScope }) : undefined),
      resultType,
      ...(own === undefined ? undefined : { _meta: _meta === undefined ? own : { ..._meta, ...own } })
    }
  }
}
