/**
 * The member `resultType`, which every modern result has. A result without `resultType` counts as complete, because older servers send
 * none. A result with an unknown type is not valid. `client/modern/InputRounds` decides by the type what to do with a result.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The type of a result that answers its request.
 *
 * @category constants
 */
export const COMPLETE = "complete"

/**
 * The type of a result with which the server asks the client for input first.
 *
 * @category constants
 */
export const INPUT_REQUIRED = "input_required"

/**
 * The `resultType` field of complete results.
 *
 * @category constants
 */
export const complete = { resultType: Schema.optional(Schema.Literal(COMPLETE)) }

/**
 * The types of the core. No extension may add them.
 *
 * @category constants
 */
export const core: ReadonlySet<string> = new Set([COMPLETE, INPUT_REQUIRED])
