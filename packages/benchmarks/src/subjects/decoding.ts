/**
 * The parameters of a `tools/call` checked, and its result made fit for an older peer: by us, by hand, and by the official
 * SDK's schemas. No transport and no fiber, only what a message costs beside them.
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import * as Tools from "@effect-mcp/protocol/Tools"
import { CallToolRequestParamsSchema, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { specTypeSchemas } from "@modelcontextprotocol/server"
import { Either } from "effect"
import type { Subject } from "../Workload.js"

const params = { name: "add", arguments: { a: 1, b: 2 }, _meta: { progressToken: 7 } }

const result: Tools.CallToolResult = {
  content: [{ type: "text", text: `{"sum":3}` }, { type: "resource_link", uri: "file:///sum", name: "sum" }],
  structuredContent: { sum: 3 }
}

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null && !Array.isArray(u)

const byHand = (u: unknown): boolean => {
  if (!isObject(u) || typeof u.name !== "string") return false
  if (u.arguments !== undefined && !isObject(u.arguments)) return false
  if (u._meta === undefined) return true
  if (!isObject(u._meta)) return false
  const { progressToken } = u._meta
  return progressToken === undefined || typeof progressToken === "string" || Number.isSafeInteger(progressToken)
}

const narrowByHand = (value: Tools.CallToolResult): unknown => {
  const { structuredContent: _, ...rest } = value
  return {
    ...rest,
    content: value.content.map((block) =>
      block.type === "resource_link" ? { type: "text", text: `[resource: ${block.name}] ${block.uri}` } : block
    )
  }
}

const narrow = Narrow.compile(Tools.CallToolResult, "2025-03-26")

const subject = (once: () => boolean): Subject => ({
  run: (calls) => {
    for (let i = 0; i < calls; i++) {
      if (!once()) throw new Error("A good message was refused")
    }
    return Promise.resolve()
  },
  close: () => Promise.resolve()
})

const passes = (checked: unknown): boolean => (checked as { readonly issues?: unknown }).issues === undefined

export const decoding: Readonly<Record<string, () => Subject>> = {
  "own-decode": () => subject(() => Either.isRight(Methods.callTool.decodeParams(params))),
  "hand-decode": () => subject(() => byHand(params)),
  "sdk1-decode": () => subject(() => CallToolRequestParamsSchema.safeParse(params).success),
  "sdk2-decode": () => subject(() => passes(specTypeSchemas.CallToolRequestParams["~standard"].validate(params))),
  "own-project": () => subject(() => narrow(result) !== result),
  "hand-project": () => subject(() => narrowByHand(result) !== result),
  "sdk1-project": () => subject(() => CallToolResultSchema.safeParse(result).success),
  "sdk2-project": () => subject(() => passes(specTypeSchemas.CallToolResult["~standard"].validate(result)))
}
