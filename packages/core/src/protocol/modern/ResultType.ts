/**
 * The member `resultType` of every modern result. A result without a `resultType` is complete: older servers send none. A result with an
 * unknown type is not valid: `client/modern/InputRounds` decides what becomes of a result by its type.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The request is answered.
 *
 * @category constants
 */
export const COMPLETE = "complete"

/**
 * The server needs input from the client first.
 *
 * @category constants
 */
export const INPUT_REQUIRED = "input_required"

/**
 * The field of complete results.
 *
 * @category constants
 */
export const complete = { resultType: Schema.optional(Schema.Literal(COMPLETE)) }

/**
 * The types of the core, which no extension may add.
 *
 * @category constants
 */
export const core: ReadonlySet<string> = new Set([COMPLETE, INPUT_REQUIRED])
