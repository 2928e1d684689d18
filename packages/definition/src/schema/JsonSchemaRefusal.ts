/**
 * What ajv says is wrong, in the words of the house: the place that is meant, not the one around it, and the values that
 * would have done.
 *
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { ErrorObject } from "ajv"
import type { Refusal } from "./ForeignSchema.js"

/**
 * @since 0.1.0
 * @category conversions
 */
export const make = ({ instancePath, keyword, message, params }: ErrorObject): Refusal => {
  const path = instancePath.split("/").slice(1).map(unescape)
  const refusal = (message: string, ...rest: ReadonlyArray<string>): Refusal => ({ path: [...path, ...rest], message })
  switch (keyword) {
    case "required":
      return refusal("is missing", params.missingProperty)
    case "additionalProperties":
      return refusal("is unexpected", params.additionalProperty)
    case "unevaluatedProperties":
      return refusal("is unexpected", params.unevaluatedProperty)
    case "propertyNames":
      return refusal("has a name that is not allowed", params.propertyName)
    case "enum":
      return refusal(
        `must be one of ${(params.allowedValues as ReadonlyArray<unknown>).map(Json.stringify).join(", ")}`
      )
    case "const":
      return refusal(`must be ${Json.stringify(params.allowedValue)}`)
    case "false schema":
      return refusal("is not allowed")
    default:
      return refusal(message ?? "does not conform")
  }
}

const unescape = (segment: string): string => segment.replace(/~1/g, "/").replace(/~0/g, "~")
