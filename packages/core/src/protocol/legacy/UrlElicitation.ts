/**
 * URL elicitation of revision 2025-11-25: each elicitation has an id, with which the server later notifies the client that the user is
 * done. `Elicitation` has the types that both protocol eras share. `client/legacy/InboundHandlers` answers such elicitations.
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
  /** The id that the server has chosen. It has no meaning for the client. */
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
