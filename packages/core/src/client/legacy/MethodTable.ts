/**
 * The legacy era's methods in the tables that neutral modules take: the methods of a client's verbs, with which `Connect` makes the calls
 * (`MethodCalls`), and the notifications that have a stream of their own, with which `Negotiation` opens a conversation
 * (`NotificationHub`).
 */
import * as Methods from "../../protocol/legacy/Methods.js"
import type * as MethodCalls from "../session/MethodCalls.js"
import type { Decoders } from "../session/NotificationHub.js"

export const calls: MethodCalls.MethodTable = {
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

export const notifications: Decoders = {
  "notifications/message": Methods.message.decodeParams,
  "notifications/resources/updated": Methods.resourceUpdated.decodeParams,
  "notifications/elicitation/complete": Methods.elicitationComplete.decodeParams
}
