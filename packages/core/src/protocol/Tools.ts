/**
 * The types of tools: how a server lists tools, how a client calls a tool, and what the call returns. `definition/Tool` defines a tool with
 * schemas.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import { ContentBlock } from "./Content.js"
import { iconFields, nameFields } from "./Implementation.js"
import { JsonObject, JsonValue } from "./Json.js"
import * as Meta from "./Meta.js"
import { pageFields } from "./Pagination.js"
import * as WrappedOutput from "./rules/WrappedOutput.js"
import * as EffectParser from "./schema/EffectParser.js"
import { absentAs, harmless, nullAs, sieved } from "./schema/Mendable.js"
import { rewritten, since, until } from "./schema/Since.js"
import * as Tasks from "./Tasks.js"

/**
 * Hints about what a tool does. A client should rely on these hints only if it trusts the server.
 *
 * @category models
 */
export interface ToolAnnotations extends Schema.Schema.Type<typeof ToolAnnotations> {}

/** @category schemas */
export const ToolAnnotations = Schema.Struct({
  title: harmless(Schema.optional(Schema.String)),
  /** Whether the tool changes nothing. Default: `false`. */
  readOnlyHint: harmless(Schema.optional(Schema.Boolean)),
  /** Whether the tool may destroy data. Default: `true`. */
  destructiveHint: harmless(Schema.optional(Schema.Boolean)),
  /** Whether a repeated call with the same arguments has no further effect. Default: `false`. */
  idempotentHint: harmless(Schema.optional(Schema.Boolean)),
  /** Whether the tool reaches systems outside of the server. Default: `true`. */
  openWorldHint: harmless(Schema.optional(Schema.Boolean))
})

/** @category models */
export interface ToolExecution extends Schema.Schema.Type<typeof ToolExecution> {}

/** @category schemas */
export const ToolExecution = Schema.Struct({
  /** Whether a call of the tool may (`optional`), must (`required`) or must not (`forbidden`) create a task. Default: `forbidden`. */
  taskSupport: harmless(Schema.optional(Schema.Literal("forbidden", "optional", "required")))
})

const isObject: (value: unknown) => value is JsonObject = Predicate.isRecord

const namesDialect = (schema: JsonObject) =>
  schema.$schema === undefined || typeof schema.$schema === "string" ||
  EffectParser.refusedMember("$schema", "Expected string")

const Arguments: Schema.Schema<{ readonly type: "object"; readonly [key: string]: unknown }> = Schema.Struct(
  { type: absentAs("object", Schema.Literal("object")) },
  { key: Schema.String, value: Schema.Unknown }
).pipe(Schema.filter(namesDialect, {
  arbitrary: () => (fc) =>
    fc.constantFrom(
      { type: "object" as const },
      { type: "object" as const, properties: { q: { type: "string" } }, required: ["q"] },
      { type: "object" as const, additionalProperties: false, $schema: "https://json-schema.org/draft/2020-12/schema" },
      { type: "object" as const, properties: { any: true, none: false }, required: "any" }
    )
}))

const Output: Schema.Schema<JsonObject> = JsonObject.pipe(Schema.filter(namesDialect, {
  arbitrary: () => (fc) =>
    fc.constantFrom(
      { type: "object", properties: { hits: { type: "array" }, rest: true } },
      { type: "array", items: { type: "number" } },
      { anyOf: [{ type: "string" }, { type: "null" }] },
      {}
    )
}))

/** Returns the output schema of a tool as clients of revision 2025-11-25 or earlier receive it. */
const objectOutput = (schema: JsonObject): JsonObject | undefined =>
  WrappedOutput.allowsOthers(schema) ? WrappedOutput.schema(schema) : objectSchema(schema)

/**
 * Converts a schema to the form that clients of revision 2025-11-25 or earlier receive. The converted schema has the type `object`, and the
 * schema of each property is an object. Returns `undefined` when the schema has another type.
 */
const objectSchema = (schema: JsonObject): JsonObject | undefined => {
  if (schema.type !== "object") return undefined
  const { properties, required, ...rest } = schema
  const plain = properties === undefined || (isObject(properties) && Object.values(properties).every(isObject))
  const listed = required === undefined ||
    (Array.isArray(required) && required.every((name) => typeof name === "string"))
  return plain && listed ? schema : JsonText.defined({
    ...rest,
    required: listed ? required : undefined,
    properties: isObject(properties)
      ? Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, asObject(one)]))
      : undefined
  })
}

// The schemas `true` and `false` as objects. `true` accepts everything, `false` accepts nothing.
const asObject = (schema: unknown): JsonObject => isObject(schema) ? schema : schema === false ? { not: {} } : {}

/** @category models */
export interface Tool extends Schema.Schema.Type<typeof Tool> {}

/** @category schemas */
export const Tool = Schema.Struct({
  ...nameFields,
  ...iconFields,
  description: harmless(Schema.optional(Schema.String)),
  /** The JSON Schema of the arguments. Its dialect is draft 2020-12, unless `$schema` names another dialect. */
  inputSchema: rewritten({ until: "2025-11-25" }, objectSchema, Schema.propertySignature(Arguments)),
  /** The JSON Schema of the value that the tool returns in `structuredContent`. */
  outputSchema: rewritten(
    { until: "2025-11-25" },
    objectOutput,
    since("2025-06-18", harmless(Schema.optional(Output)))
  ),
  annotations: since("2025-03-26", harmless(Schema.optional(ToolAnnotations))),
  execution: until("2025-11-25", since("2025-11-25", harmless(Schema.optional(ToolExecution)))),
  _meta: since("2025-06-18", Meta.any._meta)
})

/** @category models */
export interface ListToolsResult extends Schema.Schema.Type<typeof ListToolsResult> {}

/** @category schemas */
export const ListToolsResult = Schema.Struct({ tools: nullAs([], sieved(Schema.Array(Tool))), ...pageFields })

/** @category models */
export interface CallToolParams extends Schema.Schema.Type<typeof CallToolParams> {}

/** @category schemas */
export const CallToolParams = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optional(JsonObject),
  ...Tasks.taskField,
  ...Meta.request
})

/** @category models */
export interface CallToolResult extends Schema.Schema.Type<typeof CallToolResult> {}

/** @category schemas */
export const CallToolResult = Schema.Struct({
  /** The content that the model reads. */
  content: absentAs([], sieved(Schema.Array(ContentBlock))),
  /**
   * The result that programs read. It conforms to the output schema of the tool. Clients of revision 2025-11-25 or earlier receive `{
   * result }` when the value is not an object.
   */
  structuredContent: rewritten(
    { until: "2025-11-25" },
    (value) => isObject(value) ? value : WrappedOutput.value(value),
    since("2025-06-18", Schema.optional(JsonValue))
  ),
  /** Whether the tool failed. The model reads the content, and may call the tool again. Default: `false`. */
  isError: Schema.optional(Schema.Boolean),
  ...Meta.any
})
