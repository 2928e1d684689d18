/**
 * The capability that a client needs to answer a question that has its wire form already, or to answer a question as a task.
 * `legacy/Questions`, `legacy/TaskWire`, `modern/Questions` and `modern/Era` check the capability. `withoutContext` removes from a
 * sampling question the request for context, where the client has no such capability. A `Question` of a handler (`Ask`) names its
 * capability itself.
 */
import * as Capabilities from "../../protocol/Capabilities.js"
import * as Elicitation from "../../protocol/Elicitation.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Sampling from "../../protocol/Sampling.js"
import * as Version from "../../protocol/Version.js"
import type { Question } from "../Ask.js"

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

/**
 * To answer a question as a task. Only clients of 2025-11-25 can declare this capability: a server of every era names it when it refuses
 * other clients.
 */
export const asTask = ({ kind }: Pick<Question<unknown>, "kind">): Capabilities.ClientCapabilities => ({
  tasks: { requests: kind === "elicit" ? { elicitation: { create: {} } } : { sampling: { createMessage: {} } } }
})

/**
 * The parameters of a question without the request for the context of servers, where the client has not declared `sampling.context`: since
 * 2025-11-25 a server SHOULD NOT ask for the context then (client/sampling#capabilities). By default no context is requested.
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
