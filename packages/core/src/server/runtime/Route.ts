/**
 * A route serves the requests of one method, in both protocol eras: it has the name of the method, and a function of the decoded
 * parameters. The modules of `features` make routes, and `Routes` finds them. Each era joins a route with the entry of its own method
 * table, which has the schemas of parameters and result, and the revisions that have the method.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { JsonObject } from "../../protocol/Json.js"
import type { Hints } from "../CacheHints.js"
import type { ServerSessionService } from "../ServerSession.js"

/** The effect that serves a request, and the services that the layer of its feature was built with. */
export interface Served {
  readonly effect: Effect.Effect<unknown, unknown, any>
  readonly context: Context.Context<never>
  /** The hints for caches, where this result has hints of its own. They are complete once the effect has ended. */
  readonly hints?: Hints | undefined
}

export interface Route {
  /** The name of the method, `tools/list` for example. */
  readonly method: string
  /** Whether this library builds the whole result, so that the result needs no check against the schema. */
  readonly isTrusted: boolean
  /** Says how a result that conforms to the schema breaks another rule; `undefined` when the result breaks none. */
  readonly problem?: (result: any) => string | undefined
  /** Whether requests get the same result object until an entry changes, so that the encoded result may be cached. */
  readonly isStable: boolean
  /**
   * Gives the parameters for middleware and for the check of headers: with mended arguments, where the server mends them. Default: the
   * parameters as the client sent them.
   */
  readonly seen?: ((params: JsonObject | undefined) => JsonObject | undefined) | undefined
  /** Serves a request. `params` are the decoded parameters; `raw` are the same parameters as the client sent them. */
  readonly serve: (params: any, session: ServerSessionService, raw: JsonObject | undefined) => Served
}

/** Serves a request by an effect that needs no service of a feature. */
export const served = (effect: Effect.Effect<unknown, unknown>): Served => ({ effect, context: Context.empty() })

export const failed = (error: unknown): Served => served(Effect.fail(error))

/**
 * The key in the registry of the handler of all requests that no other handler serves, and of the tool of all names that no other tool has.
 */
export const ANY = "*"
