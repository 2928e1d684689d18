/**
 * Validates the parameters of a `tools/call`, narrows its result to an older revision, and validates a list of tools, without and with
 * tools that must be mended. Effect MCP, code written by hand, and the schemas of the official SDKs do this work, without a transport and
 * without a fiber.
 */
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import {
  CallToolRequestParamsSchema,
  CallToolResultSchema,
  ListToolsResultSchema
} from "@modelcontextprotocol/sdk/types.js"
import { specTypeSchemas } from "@modelcontextprotocol/server"
import { Either } from "effect"
import type { Subject } from "../Workload.js"

// Several inputs, so that the compiler cannot treat the input as a constant.
const variants = Array.from({ length: 16 }, (_, i) => i)

const params = variants.map((i) => ({ name: `add${i}`, arguments: { a: i, b: 2 }, _meta: { progressToken: i } }))

const results = variants.map((i): Tools.CallToolResult => ({
  content: [{ type: "text", text: `{"sum":${i}}` }, { type: "resource_link", uri: `file:///sum/${i}`, name: "sum" }],
  structuredContent: { sum: i }
}))

const list = (bad: (i: number) => boolean) => ({
  tools: Array.from({ length: 1000 }, (_, i) => ({
    name: `tool${i}`,
    description: bad(i) ? 5 : "Adds two numbers",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }
  }))
})

const lists = variants.map(() => list(() => false))

const mendable = variants.map(() => list((i) => i % 10 === 0))

/** The check of a list without mending. */
const isList = Methods.listTools.isResult

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

const narrow = Methods.callTool.narrowResult("2025-03-26")

const subject = <A>(inputs: ReadonlyArray<A>, once: (input: A) => boolean): Subject => ({
  run: (calls) => {
    for (let i = 0; i < calls; i++) {
      if (!once(inputs[i & 15]!)) throw new Error("A valid message was refused")
    }
    return Promise.resolve()
  },
  close: () => Promise.resolve()
})

const passes = (checked: object): boolean => !("issues" in checked) || checked.issues === undefined

/** Subjects by the work that they do, and by the implementation. */
export const decoding: Readonly<Record<string, Readonly<Record<string, () => Subject>>>> = {
  decode: {
    own: () => subject(params, (input) => Either.isRight(Methods.callTool.decodeParams(input))),
    hand: () => subject(params, byHand),
    sdk1: () => subject(params, (input) => CallToolRequestParamsSchema.safeParse(input).success),
    sdk2: () => subject(params, (input) => passes(specTypeSchemas.CallToolRequestParams["~standard"].validate(input)))
  },
  "validate-list": {
    own: () => subject(lists, (input) => Either.isRight(Methods.listTools.decodeResult(input))),
    checked: () => subject(lists, isList),
    mended: () => subject(mendable, (input) => Either.isRight(Methods.listTools.decodeResult(input))),
    sdk1: () => subject(lists, (input) => ListToolsResultSchema.safeParse(input).success)
  },
  project: {
    own: () => subject(results, (input) => narrow(input) !== input),
    hand: () => subject(results, (input) => narrowByHand(input) !== input),
    sdk1: () => subject(results, (input) => CallToolResultSchema.safeParse(input).success),
    sdk2: () => subject(results, (input) => passes(specTypeSchemas.CallToolResult["~standard"].validate(input)))
  }
}
