/**
 * URL elicitation of revision 2025-11-25. Each URL elicitation has an id. When the user has finished, the server notifies the client with
 * this id. `Elicitation` has the types that both protocol eras share. `client/legacy/InboundHandlers` answers URL elicitations.
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
  /** The id that the server has chosen. The client does not interpret the id. */
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
