/**
 * The member `resultType` of every modern result. A result without one is complete: older servers send none. A result
 * with an unknown type is not valid.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The request is answered. */
export const COMPLETE = "complete"

/** The server needs input from the client first. */
export const INPUT_REQUIRED = "input_required"

/** The field of complete results. */
export const complete = { resultType: Schema.optional(Schema.Literal(COMPLETE)) }

/** The types of the core, which no extension may add. */
export const core: ReadonlySet<string> = new Set([COMPLETE, INPUT_REQUIRED])

/** The type of a result. None when neither the core nor `extensions` has it. */
export const of = (
  result: { readonly resultType?: unknown },
  extensions: { readonly has: (type: string) => boolean } = none
): Option.Option<string> => {
  const { resultType = COMPLETE } = result
  return typeof resultType === "string" && (core.has(resultType) || extensions.has(resultType))
    ? Option.some(resultType)
    : Option.none()
}

const none: ReadonlySet<string> = new Set()
