/**
 * The methods of the modern era that the verbs of a client send, in a table. `ModernCalls` and `TaskExtension` narrow parameters and
 * decode results by its rows; `ModernCalls` serves the verbs that have no method in this era.
 */
import * as Methods from "../../protocol/modern/Methods.js"
import type * as MethodCalls from "../session/MethodCalls.js"

/** The verbs of the legacy era that no method of this era serves under the same name. */
export type Replaced = "ping" | "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel"

export type Name = Exclude<keyof MethodCalls.MethodTable, Replaced>

/** The envelope is added after the parameters are narrowed, so a row takes parameters without it. */
const row = (
  { decodeResult, narrowParams }: MethodCalls.MethodRow<any, any>
): MethodCalls.MethodRow<any, any> => ({ decodeResult, narrowParams })

export const calls: Pick<MethodCalls.MethodTable, Name> = {
  "tools/list": row(Methods.listTools),
  "tools/call": row(Methods.callTool),
  "resources/list": row(Methods.listResources),
  "resources/templates/list": row(Methods.listResourceTemplates),
  "resources/read": row(Methods.readResource),
  "prompts/list": row(Methods.listPrompts),
  "prompts/get": row(Methods.getPrompt),
  "completion/complete": row(Methods.complete)
}
