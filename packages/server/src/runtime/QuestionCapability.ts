/**
 * The capability that a client needs to answer a question that has its wire form already. Those that a handler asks as a
 * `Question` name it themselves.
 */
import * as Elicitation from "@effect-mcp/protocol/Elicitation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Sampling from "@effect-mcp/protocol/Sampling"

/** A path, for `Capabilities.declares`. */
export const of = (method: string, params: JsonObject): string => {
  switch (method) {
    case "elicitation/create":
      return Elicitation.capability(params)
    case "sampling/createMessage":
      return Sampling.capability(params)
    default:
      return "roots"
  }
}
