/**
 * The word with which every modern result says what kind it is. An answer without one is complete: older servers say
 * nothing. One of a kind that nobody agreed on is no answer at all.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * The answer is there.
 *
 * @since 0.1.0
 * @category constants
 */
export const COMPLETE = "complete"

/**
 * The client has to say something first.
 *
 * @since 0.1.0
 * @category constants
 */
export const INPUT_REQUIRED = "input_required"

/**
 * The field of complete results.
 *
 * @since 0.1.0
 * @category fields
 */
export const complete = { resultType: Schema.optional(Schema.Literal(COMPLETE)) }

const core: ReadonlySet<string> = new Set([COMPLETE, INPUT_REQUIRED])

/**
 * The kind of a result. None when it is not one of the core's, nor of the extensions' that both sides declared.
 *
 * @since 0.1.0
 * @category getters
 */
export const of = (
  result: { readonly resultType?: unknown },
  extensions: ReadonlySet<string> = none
): Option.Option<string> => {
  const { resultType = COMPLETE } = result
  return typeof resultType === "string" && (core.has(resultType) || extensions.has(resultType))
    ? Option.some(resultType)
    : Option.none()
}

const none: ReadonlySet<string> = new Set()
