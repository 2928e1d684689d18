/**
 * The capability that a client needs to answer a question that is already in the form of the protocol, or to answer a question as a task.
 * `legacy/Questions`, `legacy/TaskWire`, `modern/Questions` and `modern/Era` check this capability. `withoutContext` removes the request
 * for context from a sampling question, where the client does not have the capability for context. A `Question` of a handler (`Ask`) names
 * its capability itself.
 */
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Elicitation from "../../protocol/Elicitation.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Sampling from "../../protocol/Sampling.js"
import * as Version from "../../protocol/Version.js"
import type { Question } from "../Ask.js"

/** The capability as a path such as `elicitation.url`, for `Capabilities.declares`. */
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
 * The capability to answer a question as a task. Only clients of revision 2025-11-25 can declare it. A server of every protocol era names
 * it when it refuses other clients.
 */
export const asTask = ({ kind }: Pick<Question<unknown>, "kind">): Capabilities.ClientCapabilities => ({
  tasks: { requests: kind === "elicit" ? { elicitation: { create: {} } } : { sampling: { createMessage: {} } } }
})

/**
 * The parameters of a question, without the request for the context of servers where the client has not declared `sampling.context`. From
 * revision 2025-11-25 on a server SHOULD NOT ask such a client for context (client/sampling#capabilities). A question without this
 * parameter asks for no context.
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
