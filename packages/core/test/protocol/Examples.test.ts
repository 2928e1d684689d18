/**
 * The official example messages: each decodes to itself.
 */
import * as Message from "@effect-mcp/core/Message"
import * as Capabilities from "@effect-mcp/core/protocol/Capabilities"
import * as Content from "@effect-mcp/core/protocol/Content"
import * as Elicitation from "@effect-mcp/core/protocol/Elicitation"
import * as ElicitationSchema from "@effect-mcp/core/protocol/ElicitationSchema"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type * as Method from "@effect-mcp/core/protocol/Method"
import * as InputRequired from "@effect-mcp/core/protocol/modern/InputRequired"
import * as Methods from "@effect-mcp/core/protocol/modern/Methods"
import * as Resources from "@effect-mcp/core/protocol/Resources"
import * as Roots from "@effect-mcp/core/protocol/Roots"
import * as Sampling from "@effect-mcp/core/protocol/Sampling"
import * as SamplingContent from "@effect-mcp/core/protocol/SamplingContent"
import * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Official from "./Official.js"

/** The schema of each type that is part of a message. */
const types: Readonly<Record<string, Schema.Schema<any>>> = {
  AudioContent: Content.AudioContent,
  BlobResourceContents: Content.BlobResourceContents,
  BooleanSchema: ElicitationSchema.BooleanSchema,
  ClientCapabilities: Capabilities.ClientCapabilities,
  CreateMessageRequestParams: Sampling.CreateMessageParams,
  CreateMessageResult: Sampling.CreateMessageResult,
  ElicitRequestFormParams: Elicitation.ElicitFormParams,
  ElicitRequestURLParams: Elicitation.ElicitUrlParams,
  ElicitResult: Elicitation.ElicitResult,
  EmbeddedResource: Content.EmbeddedResource,
  ImageContent: Content.ImageContent,
  InputRequests: InputRequired.InputRequests,
  InputRequiredResult: InputRequired.InputRequiredResult,
  InputResponses: InputRequired.InputResponses,
  ListRootsResult: Roots.ListRootsResult,
  ModelPreferences: Sampling.ModelPreferences,
  NumberSchema: ElicitationSchema.NumberSchema,
  Resource: Resources.Resource,
  ResourceLink: Content.ResourceLink,
  Root: Roots.Root,
  SamplingMessage: Sampling.SamplingMessage,
  ServerCapabilities: Capabilities.ServerCapabilities,
  StringSchema: ElicitationSchema.StringSchema,
  TextContent: Content.TextContent,
  TextResourceContents: Content.TextResourceContents,
  TitledMultiSelectEnumSchema: ElicitationSchema.TitledMultiEnumSchema,
  TitledSingleSelectEnumSchema: ElicitationSchema.TitledEnumSchema,
  Tool: Tools.Tool,
  ToolResultContent: SamplingContent.ToolResultContent,
  ToolUseContent: SamplingContent.ToolUseContent,
  UntitledMultiSelectEnumSchema: ElicitationSchema.MultiEnumSchema,
  UntitledSingleSelectEnumSchema: ElicitationSchema.EnumSchema
}

const requests: ReadonlyMap<string, Method.Request> = new Map(
  [...Methods.table.values(), ...InputRequired.inputMethods.values()].flatMap((method: Method.Method) =>
    method.kind === "request" ? [[Official.definitionOf("2026-07-28", method.name)!, method]] : []
  )
)

type Decode = (value: any) => Either.Either<unknown, unknown>

const message = (method: Method.Method): Decode => (value: { readonly method: string; readonly params?: unknown }) =>
  value.method === method.name ? Either.map(method.decodeParams(value.params), () => value) : Either.left(value.method)

/** The decoder for an example of a type. */
const reader = (type: string): Decode => {
  const schema = types[type]
  if (schema !== undefined) return SchemaCheck.decoder(schema)
  const named = [...Methods.table.values(), ...InputRequired.inputMethods.values()].find(({ name }) =>
    Official.definitionOf("2026-07-28", name) === type
  )
  if (named !== undefined) return message(named)
  const params = /^(.*)Params$/.exec(type)
  if (params !== null) {
    const request = requests.get(`${params[1]}`)
    const method = request ??
      [...Methods.table.values()].find(({ name }) => Official.definitionOf("2026-07-28", name) === params[1])
    return method?.decodeParams ?? SchemaCheck.decoder(Methods.listTools.params)
  }
  const response = /^(.*)Response$/.exec(type)
  const result = requests.get(type.replace(/Result(?:Response)?$/, "Request"))
  if (result !== undefined) {
    return response === null
      ? result.decodeResult
      : (value: { readonly result: unknown }) => Either.map(result.decodeResult(value.result), () => value)
  }
  return (value: { readonly error?: unknown }) => {
    const error = (value.error ?? value) as { readonly code: number; readonly message: string }
    const decoded = McpError.fromWire(error)
    return decoded._tag === "PeerError" ? Either.left(decoded) : Either.right(value)
  }
}

describe("the official examples of 2026-07-28", () => {
  for (const [type, file, value] of Official.examples()) {
    it(`${type}/${file} decodes to itself`, () => {
      expect(Official.judge("2026-07-28", type)(value)).toBeUndefined()
      const before = JSON.stringify(value)
      const decoded = reader(type)(value)
      if (Either.isLeft(decoded)) {
        expect.fail(decoded.left instanceof Error ? decoded.left.message : String(decoded.left))
      }
      expect(JSON.stringify(decoded.right)).toBe(before)
      if ("jsonrpc" in (value as object)) expect(Message.fromUnknown(value)).toBe(value)
    })
  }

  it("an error keeps its code and its data", () => {
    for (const [type, file, value] of Official.examples()) {
      const { code, data } = ((value as { readonly error?: unknown }).error ?? value) as {
        readonly code?: number
        readonly data?: unknown
      }
      if (code === undefined) continue
      const error = (value as { readonly error?: unknown }).error ?? value
      const back = McpError.toWire(
        McpError.fromWire(error as { readonly code: number; readonly message: string }),
        "modern"
      )
      expect(back.code, `${type}/${file}`).toBe(code)
      if (data !== undefined) expect(back.data, `${type}/${file}`).toEqual(data)
    }
  })
})
