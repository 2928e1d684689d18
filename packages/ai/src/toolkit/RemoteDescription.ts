/**
 * Makes the schemas and annotations with which `@effect/ai` describes the tools of MCP servers. A JSON Schema describes the parameters to
 * the model. The server of the tool checks the parameters. The title and the hints of the tool become annotations of `@effect/ai`.
 * `ClientToolkit` and `SamplingPrompt` use these functions. `ServerToolkit` uses the table `hints` for the other direction.
 */
import * as AiTool from "@effect/ai/Tool"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

const AnyObject = Schema.Struct({}, Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** Returns a schema that accepts any object. The model gets `inputSchema` as the description of the parameters. */
export const parameters = (inputSchema: JsonObject): typeof AnyObject =>
  AnyObject.annotations({ jsonSchema: inputSchema }) as typeof AnyObject

/**
 * Returns `schema` with `inputSchema` as the description for the model. In the strict form a model writes null for an argument that it
 * leaves out. Before the decoding, `restore` removes these nulls.
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
