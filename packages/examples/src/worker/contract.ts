/**
 * What the restaurant promises. It has a tool of each kind: with Effect schemas, with JSON Schemas, with a Standard Schema.
 * The server implements it, and the client is typed by it.
 */
import * as Definition from "@effect-mcp/core/Definition"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Resource from "@effect-mcp/core/Resource"
import * as StandardTool from "@effect-mcp/core/StandardTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

const Count = Tool.make("count", {
  description: "Counts to a number, and reports each step.",
  parameters: { to: Schema.Int.pipe(Schema.between(1, 10)) },
  success: Schema.Struct({ counted: Schema.Int })
})

const Book = RawTool.make("book", {
  description: "Books a table.",
  inputSchema: {
    type: "object",
    properties: { at: { type: "string", format: "date-time" }, name: { type: "string", pattern: "^[A-Z]" } },
    required: ["at", "name"]
  },
  outputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] }
})

const Double = StandardTool.make("double", {
  parameters: Schema.standardSchemaV1(Schema.Struct({ n: Schema.Number })),
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
})

const Cancel = Tool.make("cancel", {
  description: "Cancels a table, if the user is sure.",
  success: Schema.Struct({ cancelled: Schema.Boolean })
})

const Menu = Resource.make("menu", { uri: "menu://today", mimeType: "text/plain" })

const Greet = Prompt.make("greet", { arguments: { name: Schema.String } })

export const Restaurant = Definition.make(Count, Book, Double, Cancel, Menu, Greet)
