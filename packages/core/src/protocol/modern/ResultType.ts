/**
 * The member `resultType`, which every modern result has. A result without `resultType` counts as complete, because older servers do not
 * send this member. A result with an unknown type is not valid. `client/modern/InputRounds` handles each type of result.
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
 * The types of results of the core protocol. An extension must not add a type with one of these names.
 *
 * @category constants
 */
export const core: ReadonlySet<string> = new Set([COMPLETE, INPUT_REQUIRED])
