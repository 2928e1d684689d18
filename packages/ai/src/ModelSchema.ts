/**
 * The JSON Schemas of arguments in the dialects of models. The APIs of models accept subsets of JSON Schema, and most refuse a
 * whole tool list for one schema outside of theirs. The tool's own server checks the arguments by its schema in any case, so a
 * dialect may be less precise; what a keyword said that it does not know, the description says.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Conversion from "./schema/Conversion.js"
import * as Inlining from "./schema/Inlining.js"
import * as ObjectRoot from "./schema/ObjectRoot.js"
import * as Strict from "./schema/Strict.js"

/**
 * Which subset of JSON Schema a model accepts:
 *
 * - `json-schema`: the schema as the server wrote it;
 * - `openai`: functions of OpenAI and of compatible APIs;
 * - `openai-strict`: functions with `strict: true`; a schema without a strict form is as for `openai`;
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
  /** Whether the schema is in the strict form: a model then writes null for what it leaves out; see `withoutNulls`. */
  readonly isStrict: boolean
}

/**
 * Left: why the schema cannot be used with the dialect, as the end of a sentence whose subject is the tool.
 *
 * @category constructors
 */
export const make = (inputSchema: JsonObject, dialect: Dialect): Either.Either<ModelSchema, string> =>
  Conversion.make(inputSchema, dialect)

/**
 * The arguments that a model wrote by the strict form of a schema, for the server: without each null that stands for an
 * argument that the model left out.
 *
 * @category utils
 */
export const withoutNulls = (args: JsonObject, inputSchema: JsonObject): JsonObject =>
  Either.getOrElse(
    Conversion.attempt(() => {
      const schema = Inlining.inline(inputSchema)
      return schema === undefined ? args : Strict.withoutNulls(args, ObjectRoot.make(schema)) as JsonObject
    }),
    () => args
  )
