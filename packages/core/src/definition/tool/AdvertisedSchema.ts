/**
 * Makes the JSON Schemas that clients get for a tool, with `JsonSchema`, for `Tool`, `RawTool` and `StandardTool`. When a schema cannot be
 * used, these functions throw an error that names the tool and says what to change.
 */
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { JsonObject } from "../../protocol/Json.js"
import type * as Tools from "../../protocol/Tools.js"
import * as JsonSchema from "../schema/JsonSchema.js"
import * as SchemaShape from "../schema/SchemaShape.js"
import { quoted } from "../text/Quoted.js"

/** Throws an error about one part of a tool: its `parameters`, `success`, `inputSchema` or `outputSchema`. */
export const refuse = (tool: string, part: string, problem: string, cause?: unknown): never => {
  throw new Error(`Tool ${quoted(tool)}: ${part} ${problem}${cause === undefined ? "" : `\n${String(cause)}`}`, {
    cause
  })
}

/** Returns the result of `f`. When `f` throws, `attempt` throws an error that names the tool and the part. */
export const attempt = <A>(tool: string, part: string, problem: string, f: () => A): A =>
  Either.getOrElse(
    Either.try({ try: f, catch: (cause) => cause }),
    (cause) => refuse(tool, part, problem, cause)
  )

const REMEDY =
  "Use a schema whose encoded side is JSON, such as Schema.Date for a Date, Schema.BigInt for a bigint, Schema.Map for a Map; or " +
  "describe the JSON with the annotation \"jsonSchema\", and with \"identifier\" for a type that refers to itself"

/** Makes the JSON Schema of an Effect schema. Throws when the schema has no values, or cannot be written as JSON. */
export const make = (tool: string, part: string, schema: Schema.Schema<any, any>): JsonObject => {
  if (SchemaShape.isNever(schema)) return refuse(tool, part, "must not be Schema.Never: no value conforms to it")
  const advertised = attempt(
    tool,
    part,
    `cannot be advertised as JSON Schema. ${REMEDY}`,
    () => JsonSchema.make(schema)
  )
  // An annotation may have any value. A single tool that cannot be encoded would make every `tools/list` fail.
  return JsonText.stringify(advertised) === undefined
    ? refuse(tool, part, "cannot be advertised: an annotation of the schema cannot be represented as JSON")
    : advertised
}

/** Returns the same JSON Schema. Throws when it does not describe an object. */
export const input = (
  tool: string,
  part: string,
  schema: JsonObject,
  problem = `must have "type": "object", because arguments are an object`
): Tools.Tool["inputSchema"] => JsonSchema.isObject(schema) ? schema : refuse(tool, part, problem)
