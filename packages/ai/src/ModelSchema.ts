/**
 * Converts the JSON Schema of a tool's arguments to the dialect of a model. A dialect is the subset of JSON Schema that the API of a model
 * accepts. Most APIs refuse a whole tool list if one schema is outside of this subset. The conversion (`schema/Conversion`) corrects or
 * removes keywords that are wrong in the schema of a server. It also removes keywords that the dialect does not have. The descriptions then
 * say in words what these keywords require. The server of the tool still checks the arguments with the original schema.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Either from "effect/Either"
import * as Conversion from "./schema/Conversion.js"
import * as Inlining from "./schema/Inlining.js"
import * as Nulls from "./schema/Nulls.js"
import * as ObjectRoot from "./schema/ObjectRoot.js"

/**
 * Which subset of JSON Schema a model accepts:
 *
 * - `json-schema`: the schema as the server has written it, if the schema is valid;
 * - `openai`: functions of OpenAI and of compatible APIs;
 * - `openai-strict`: functions with `strict: true`; a schema without a strict form is converted as for `openai`;
 * - `anthropic`: the `input_schema` of a tool;
 * - `gemini`: the `parameters` of a function declaration.
 *
 * @category models
 */
export type Dialect = "json-schema" | "openai" | "openai-strict" | "anthropic" | "gemini"

/**
 * A schema in a dialect.
 *
 * @category models
 */
export interface ModelSchema {
  readonly schema: JsonObject
  /**
   * Whether the schema has the strict form of OpenAI. In this form a model writes null for an argument that it leaves out. `withoutNulls`
   * removes these nulls.
   */
  readonly isStrict: boolean
}

/**
 * Converts a schema. `Left` is the reason why the dialect cannot describe the schema. The reason completes a sentence that begins with the
 * name of the tool.
 *
 * @category constructors
 */
export const make = (inputSchema: JsonObject, dialect: Dialect): Either.Either<ModelSchema, string> =>
  Either.map(Conversion.make(inputSchema, dialect), ({ isStrict, schema }) => ({ schema, isStrict }))

/**
 * Removes the nulls that a model has written for arguments that it left out. Call this function for a schema with `isStrict`, before you
 * send the arguments to the server. `inputSchema` is the original schema of the tool.
 *
 * @category utils
 */
export const withoutNulls = (args: JsonObject, inputSchema: JsonObject): JsonObject =>
  Either.getOrElse(
    Conversion.attempt(() => {
      const schema = Inlining.inline(inputSchema)
      return schema === undefined ? args : Nulls.remove(args, ObjectRoot.make(schema)) as JsonObject
    }),
    () => args
  )
