/**
 * The types of the notifications for progress and for cancellation. A progress notification tells how much of a request is done. A
 * cancellation tells that the sender of a request no longer waits for the response. `jsonrpc/Conversation` delivers progress and cancels
 * requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Meta from "./Meta.js"
import { since } from "./schema/Since.js"

/**
 * The parameters of `notifications/progress`.
 *
 * @category models
 */
export interface ProgressParams extends Schema.Schema.Type<typeof ProgressParams> {}

/** @category schemas */
export const ProgressParams = Schema.Struct({
  progressToken: Meta.RequestId,
  /** The progress so far. The value is higher in each further notification. */
  progress: Schema.Finite,
  total: Schema.optional(Schema.Finite),
  message: since("2025-03-26", Schema.optional(Schema.String)),
  ...Meta.any
})

/**
 * The parameters of `notifications/cancelled`.
 *
 * @category models
 */
export interface CancelledParams extends Schema.Schema.Type<typeof CancelledParams> {}

/** @category schemas */
export const CancelledParams = Schema.Struct({
  requestId: Schema.optional(Meta.RequestId),
  reason: Schema.optional(Schema.String),
  ...Meta.any
})
