/**
 * URL elicitation of 2025-11-25: each elicitation has an id, and the server notifies the client when the user is done. `Elicitation` has
 * the types that both eras have. `client/legacy/InboundHandlers` answers such elicitations.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Elicitation from "../Elicitation.js"
import * as Meta from "../Meta.js"

/** @category models */
export interface ElicitUrlParams extends Schema.Schema.Type<typeof ElicitUrlParams> {}

/** @category schemas */
export const ElicitUrlParams = Schema.Struct({
  ...Elicitation.ElicitUrlParams.fields,
  /** Chosen by the server, opaque to the client. */
  elicitationId: Schema.String
})

/** @category models */
export type ElicitParams = Elicitation.ElicitFormParams | ElicitUrlParams

/** @category schemas */
export const ElicitParams: Schema.Schema<ElicitParams> = Schema.Union(ElicitUrlParams, Elicitation.ElicitFormParams)

/** @category models */
export interface ElicitationComplete extends Schema.Schema.Type<typeof ElicitationComplete> {}

/**
 * The parameters of `notifications/elicitation/complete`.
 *
 * @category schemas
 */
export const ElicitationComplete = Schema.Struct({ elicitationId: Schema.String, ...Meta.any })
