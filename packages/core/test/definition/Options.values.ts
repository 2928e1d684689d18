/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import * as Prompt from "@effect-mcp/core/Prompt"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as StandardTool from "@effect-mcp/core/StandardTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Schema } from "effect"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { city: Schema.String }) {}

const meta = { "example.com/version": 1 } as const

const icons = [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }] as const

const described = { title: "Weather", description: "The weather of a city", icons, requires: ["weather:read"], meta }

const tool = {
  ...described,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false, destructiveHint: false },
  task: "optional",
  mendArguments: false
} satisfies Every<Tool.Description>

const typed = {
  ...tool,
  parameters: { city: Schema.String, day: Schema.optional(Schema.Date) },
  success: Schema.Struct({ degrees: Schema.Number }),
  failure: NotFound
} satisfies Every<Tool.Options<Schema.Struct.Fields, Schema.Schema.Any, typeof NotFound>>

const raw = {
  ...tool,
  inputSchema: { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } } },
  outputSchema: { type: "object" },
  patterns: "native",
  formats: true
} as const satisfies Every<RawTool.Options<object>>

const standard = {
  ...tool,
  parameters: Schema.standardSchemaV1(Schema.Struct({ city: Schema.String })),
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
  success: Schema.standardSchemaV1(Schema.Struct({ degrees: Schema.Number })),
  outputSchema: { type: "object", properties: { degrees: { type: "number" } } }
} as const satisfies Every<StandardTool.Options<object, object>>

const resourceDescription = {
  ...described,
  mimeType: "text/plain",
  annotations: { audience: ["user"], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" }
} as const satisfies Every<Resource.Description>

const resource = { ...resourceDescription, uri: "notes://today", size: 100, contentMeta: meta } satisfies Every<
  Resource.Options
>

const prompt = {
  ...described,
  arguments: { city: Schema.String, days: Schema.optional(Schema.NumberFromString) }
} satisfies Every<Prompt.Options<Schema.Struct.Fields>>

const block = { annotations: { priority: 1 }, meta } satisfies Every<ToolResult.BlockOptions>

export const definitions = [
  Tool.make("typed", typed),
  RawTool.make("raw", raw),
  StandardTool.make("standard", standard),
  Resource.make("resource", resource),
  ResourceTemplate.fromString("template", "notes://{day}", {
    ...resourceDescription,
    parameters: { day: Schema.NumberFromString }
  }),
  Prompt.make("prompt", prompt)
]

export const results = [
  ToolResult.text("sunny", block),
  ToolResult.image(new Uint8Array(), "image/png", block),
  ToolResult.audio("", "audio/wav", block),
  ToolResult.resource({ uri: "notes://today", text: "sunny" }, block)
]
