/**
 * What serves one request method, whatever the era: the name of the method and a function of its decoded parameters.
 * Features make routes; `Routes` finds them. Each era joins a route with the row of its own method table, which knows the
 * schemas of parameters and result and the revisions that have the method.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { JsonObject } from "../../protocol/Json.js"
import type { Hints } from "../CacheHints.js"
import type { ServerSessionService } from "../ServerSession.js"

/** An effect that serves a request, and the services that the layer of its feature was built with. */
export interface Served {
  readonly effect: Effect.Effect<unknown, unknown, any>
  readonly context: Context.Context<never>
  /** The hints for caches of clients, where this result has hints of its own. They hold once the effect has ended. */
  readonly hints?: Hints | undefined
}

export interface Route {
  /** The name of the method, `tools/list` for example. */
  readonly method: string
  /** Whether this library builds the whole result, so that it needs no check against the schema. */
  readonly isTrusted: boolean
  /** How a result that conforms to the schema breaks a rule beyond the schema; `undefined` when it breaks none. */
  readonly problem?: (result: any) => string | undefined
  /** Whether requests get the same result object until an entry changes, so that its projections may be cached. */
  readonly isStable: boolean
  /** The parameters for what surrounds the handler, as the handler gets them. Default: as the client sent them. */
  readonly seen?: ((params: JsonObject | undefined) => JsonObject | undefined) | undefined
  /** `params` are decoded; `raw` are the same parameters as the client sent them. */
  readonly serve: (params: any, session: ServerSessionService, raw: JsonObject | undefined) => Served
}

/** Serves a request by an effect that needs no service of a feature. */
export const served = (effect: Effect.Effect<unknown, unknown>): Served => ({ effect, context: Context.empty() })

export const failed = (error: unknown): Served => served(Effect.fail(error))

/** The key in the registry of the handler of all requests, or the tool of all names, that nothing else serves. */
export const ANY = "*"
