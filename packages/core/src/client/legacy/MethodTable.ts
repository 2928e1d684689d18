/**
 * Tables with methods of the legacy era, for modules that serve both eras. `calls` has the methods that a client calls; `Connect` makes the
 * calls of a session with it (`MethodCalls`). `notifications` has the notifications that have a stream of their own; `Negotiation` opens a
 * conversation with it (`NotificationHub`).
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
