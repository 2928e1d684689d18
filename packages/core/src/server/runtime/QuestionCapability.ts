/**
 * Finds the capability that a client needs to answer an encoded question, or to answer a question as a task. `legacy/Questions`,
 * `legacy/TaskWire`, `modern/Questions` and `modern/Era` check this capability. `withoutContext` removes the request for context from a
 * sampling question, when the client has not declared this capability. A `Question` of `Ask` contains its capability itself.
 */
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Elicitation from "../../protocol/Elicitation.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Sampling from "../../protocol/Sampling.js"
import * as Version from "../../protocol/Version.js"
import type { Question } from "../Ask.js"

/** Gives the capability as a path such as `elicitation.url`, for `Capabilities.declares`. */
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

/**
 * Gives the capability to answer a question as a task. Only clients of revision 2025-11-25 can declare this capability. For other clients,
 * the server names this capability in the error.
 */
export const asTask = ({ kind }: Pick<Question<unknown>, "kind">): Capabilities.ClientCapabilities => ({
  tasks: { requests: kind === "elicit" ? { elicitation: { create: {} } } : { sampling: { createMessage: {} } } }
})

/**
 * Gives the parameters of a question. When the client has not declared `sampling.context`, removes the parameter `includeContext`. From
 * revision 2025-11-25 on, a server SHOULD NOT ask such a client for context (client/sampling#capabilities). Without this parameter, a
 * question asks for no context.
 */
export const withoutContext = <Params extends JsonObject>(
  method: string,
  params: Params,
  client: { readonly version: Version.Version; readonly clientCapabilities: Capabilities.ClientCapabilities }
): Params => {
  const { includeContext, ...rest } = params
  return method !== "sampling/createMessage" || includeContext === undefined || includeContext === "none" ||
      !Version.isAtLeast(client.version, "2025-11-25") ||
      Capabilities.declares(client.clientCapabilities, "sampling.context")
    ? params
    : rest as unknown as Params
}
