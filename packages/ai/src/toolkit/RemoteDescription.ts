/**
 * Describes tools of servers for `@effect/ai`: a JSON Schema describes the parameters, and annotations of `@effect/ai` have the hints of
 * MCP. The server of the tool checks the parameters. `ClientToolkit` and `SamplingPrompt` describe tools with these functions;
 * `ServerToolkit` reads the annotations of the tools of a toolkit.
 */
import * as AiTool from "@effect/ai/Tool"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

const AnyObject = Schema.Struct({}, Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** Returns a schema that accepts any object. The JSON Schema is only its description for the model. */
export const parameters = (inputSchema: JsonObject): typeof AnyObject =>
  AnyObject.annotations({ jsonSchema: inputSchema }) as typeof AnyObject

/**
 * Returns the schema with a JSON Schema as its description for the model. In the strict form a model writes null for an argument that it
 * leaves out; `restore` removes these nulls.
 */
export const described = (
  schema: Schema.Schema<any, any>,
  inputSchema: JsonObject,
  restore: ((args: JsonObject) => JsonObject) | undefined
): Schema.Schema<any, any> =>
  (restore === undefined
    ? schema
    : Schema.transform(AnyObject, schema, { strict: false, decode: restore, encode: (args: unknown) => args }))
    .annotations({ jsonSchema: inputSchema })

type Described = Pick<Tools.Tool, "annotations" | "title">

/**
 * Returns the title and the hints of a tool as annotations. For hints that the server does not give, `@effect/ai` has the same defaults as
 * MCP.
 */
export const annotations = ({ annotations, title }: Described): Context.Context<never> => {
  let context = Context.empty() as Context.Context<any>
  const name = title ?? annotations?.title
  if (name !== undefined) context = Context.add(context, AiTool.Title, name)
  for (const [tag, hint] of hints) {
    const value = annotations?.[hint]
    if (value !== undefined) context = Context.add(context, tag as typeof AiTool.Readonly, value)
  }
  return context as Context.Context<never>
}

export const hints = [
  [AiTool.Readonly, "readOnlyHint"],
  [AiTool.Destructive, "destructiveHint"],
  [AiTool.Idempotent, "idempotentHint"],
  [AiTool.OpenWorld, "openWorldHint"]
] as const
