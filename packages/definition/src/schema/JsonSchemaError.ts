/**
 * Words the errors of ajv for the person or model that sent the value: the path leads to the member that is wrong, not
 * to the object around it, and the message names the values that are allowed.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { ErrorObject } from "ajv"
import type { SchemaError } from "./ExternalSchema.js"

export const make = ({ instancePath, keyword, message, params }: ErrorObject): SchemaError => {
  const path = instancePath.split("/").slice(1).map(unescape)
  const error = (message: string, ...rest: ReadonlyArray<string>): SchemaError => ({
    path: [...path, ...rest],
    message
  })
  switch (keyword) {
    case "required":
      return error("is missing", params.missingProperty)
    case "additionalProperties":
      return error("is unexpected", params.additionalProperty)
    case "unevaluatedProperties":
      return error("is unexpected", params.unevaluatedProperty)
    case "propertyNames":
      return error("has a name that is not allowed", params.propertyName)
    case "enum":
      return error(`must be one of ${(params.allowedValues as ReadonlyArray<unknown>).map(Json.stringify).join(", ")}`)
    case "const":
      return error(`must be ${Json.stringify(params.allowedValue)}`)
    case "false schema":
      return error("is not allowed")
    default:
      return error(message ?? "does not conform")
  }
}

const unescape = (segment: string): string => segment.replace(/~1/g, "/").replace(/~0/g, "~")
