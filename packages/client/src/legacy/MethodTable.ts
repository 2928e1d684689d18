/**
 * The legacy era's methods in the tables that the neutral modules ask for: the methods of a client's verbs, the messages
 * that a session does not allow, and the notifications that have a stream of their own.
 */
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import { NotNegotiated } from "../ClientError.js"
import type * as Calls from "../session/Calls.js"
import type { Decoders } from "../session/NotificationHub.js"

export const calls: Calls.MethodTable = {
  "ping": Methods.ping,
  "tools/list": Methods.listTools,
  "tools/call": Methods.callTool,
  "resources/list": Methods.listResources,
  "resources/templates/list": Methods.listResourceTemplates,
  "resources/read": Methods.readResource,
  "resources/subscribe": Methods.subscribe,
  "resources/unsubscribe": Methods.unsubscribe,
  "prompts/list": Methods.listPrompts,
  "prompts/get": Methods.getPrompt,
  "completion/complete": Methods.complete,
  "logging/setLevel": Methods.setLevel
}

/**
 * Why a session does not allow a message of the client: its revision does not have the method, or its capability was not
 * declared. Methods that are not in the table are those of extensions, which are allowed.
 */
export const refusals = (
  version: LegacyVersion,
  declared: Record<"client" | "server", Capabilities.Capabilities>,
  enforceCapabilities: boolean
): Calls.Calls["refusal"] => {
  const refused = new Map<string, ConstructorParameters<typeof NotNegotiated>[0]>()
  for (const method of Methods.table.values()) {
    const { capability, from, gatedSince, name } = method
    const declaredBy = method.declaredBy === "sender" ? "client" : "server"
    const isIn = Method.isIn(method, version)
    const isMissing = enforceCapabilities && capability !== undefined && version >= gatedSince &&
      !Capabilities.declares(declared[declaredBy], capability)
    if (from !== "server" && (!isIn || isMissing)) {
      refused.set(name, { method: name, version, declaredBy, capability: isIn ? capability : undefined })
    }
  }
  return (method) => {
    const refusal = refused.get(method)
    return refusal === undefined ? undefined : new NotNegotiated(refusal)
  }
}

export const notifications: Decoders = {
  "notifications/message": Methods.message.decodeParams,
  "notifications/resources/updated": Methods.resourceUpdated.decodeParams,
  "notifications/elicitation/complete": Methods.elicitationComplete.decodeParams
}
