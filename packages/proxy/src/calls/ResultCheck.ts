/**
 * Checks the results of an upstream before they go on. A result that conforms to its method goes on as it is; so does one that
 * has kinds of content which this library does not know, because the client may know them. Any other is a fault of the
 * upstream.
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { GetPromptResult } from "@effect-mcp/protocol/Prompts"
import { ReadResourceResult } from "@effect-mcp/protocol/Resources"
import { CallToolResult } from "@effect-mcp/protocol/Tools"
import * as SchemaCheck from "@effect-mcp/protocol/unstable/SchemaCheck"
import * as Handler from "@effect-mcp/server/Handler"
import * as Predicate from "effect/Predicate"

export type Method = "tools/call" | "prompts/get" | "resources/read"

const checks: Readonly<Record<Method, (value: unknown) => boolean>> = {
  "tools/call": SchemaCheck.compile(CallToolResult),
  "prompts/get": SchemaCheck.compile(GetPromptResult),
  "resources/read": SchemaCheck.compile(ReadResourceResult)
}

/** The result to send on; `undefined` when it is not a result of the method. */
export const valid = (method: Method, result: JsonObject): JsonObject | undefined => {
  const conforms = checks[method]
  return conforms(result) || conforms(readable(method, result)) ? Handler.unchecked(result) : undefined
}

/** The result with text in place of each kind of content that is not known. */
const readable = (method: Method, result: JsonObject): unknown => {
  if (method === "tools/call") {
    // A tool that has structured content only is a mistake that clients forgive.
    return { ...result, content: Array.isArray(result.content) ? result.content.map(known) : result.content ?? [] }
  }
  if (method === "prompts/get" && Array.isArray(result.messages)) {
    return {
      ...result,
      messages: result.messages.map((one) => isObject(one) ? { ...one, content: known(one.content) } : one)
    }
  }
  return result
}

const kinds: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"])

const known = (content: unknown): unknown =>
  isObject(content) && typeof content.type === "string" && !kinds.has(content.type)
    ? { type: "text", text: "" }
    : content

const isObject = (value: unknown): value is JsonObject => Predicate.isRecord(value)
