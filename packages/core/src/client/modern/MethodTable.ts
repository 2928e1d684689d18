/**
 * A table of the methods of the modern era that a client calls. With the rows of this table, `ModernCalls` and `TaskExtension` narrow
 * parameters to the revision and decode results. `ModernCalls` itself implements the functions of a session that have no method in this
 * era.
 */
import * as Methods from "../../protocol/modern/Methods.js"
import type * as MethodCalls from "../session/MethodCalls.js"

/** The methods of the legacy era for which this era has no method of the same name. */
export type Replaced = "ping" | "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel"

export type Name = Exclude<keyof MethodCalls.MethodTable, Replaced>

/** Makes a row without the types of the envelope, because the envelope is added after the parameters were narrowed. */
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
