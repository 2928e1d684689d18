/**
 * A route serves the requests of one method, for all protocol revisions. It contains the name of the method, and a function that gets the
 * decoded parameters. The modules in `features` make routes, and `Routes` finds them. `Routes` joins a route with the definition of the
 * method, which contains the schemas of parameters and result, and the revisions with this method.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { JsonObject } from "../../protocol/Json.js"
import type { Hints } from "../CacheHints.js"
import type { ServerSessionService } from "../ServerSession.js"

/** The effect that serves a request, and the context of the feature's layer. */
export interface Served {
  readonly effect: Effect.Effect<unknown, unknown, any>
  readonly context: Context.Context<never>
  /** The cache hints of this result, if the result has its own hints. The object is complete when the effect has ended. */
  readonly hints?: Hints | undefined
}

export interface Route {
  /** The name of the method, for example `tools/list`. */
  readonly method: string
  /** Whether this library builds the whole result, so that the result needs no check against the schema. */
  readonly isTrusted: boolean
  /**
   * Checks further rules for a result that conforms to the schema. Gives a text that says what is wrong; `undefined` when nothing is wrong.
   */
  readonly problem?: (result: any) => string | undefined
  /** Whether all requests get the same result object until an entry changes. If `true`, the server caches the encoded result. */
  readonly isStable: boolean
  /**
   * Gives the parameters for middleware and for the check of headers. Where the server repairs the arguments of a tool, the parameters
   * contain the repaired arguments. Default: the parameters as the client sent them.
   */
  readonly seen?: ((params: JsonObject | undefined) => JsonObject | undefined) | undefined
  /** Serves a request. `params` are the decoded parameters; `raw` are the same parameters as the client sent them. */
  readonly serve: (params: any, session: ServerSessionService, raw: JsonObject | undefined) => Served
}

/** Makes a `Served` from an effect that needs no services of a feature. */
export const served = (effect: Effect.Effect<unknown, unknown>): Served => ({ effect, context: Context.empty() })

export const failed = (error: unknown): Served => served(Effect.fail(error))

/**
 * The key in the registry of two special entries: the handler of all requests without another handler, and the tool for all names without
 * another tool.
 */
export const ANY = "*"
