/**
 * A tool whose schemas are JSON Schema already: one that another server advertises, that a file describes, that is made up
 * while the program runs. What it says of itself is advertised as it was written, and arguments and results are held to it.
 *
 * A tool with schemas of Effect's is a `Tool`; one with schemas of another library a `StandardTool`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as ForeignSchema from "./schema/ForeignSchema.js"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as JsonSchemaValidator from "./schema/JsonSchemaValidator.js"
import * as Tool from "./Tool.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Output> extends Tool.Description {
  /** JSON Schema of the arguments, which are an object: draft 2020-12 unless `$schema` names 2019-09 or draft-07. */
  readonly inputSchema: JsonObject
  /** JSON Schema of what it gives. Default: it gives content only. */
  readonly outputSchema?: Output | undefined
  /**
   * Whether regular expressions in the schemas are run. Turn them off for schemas that somebody else wrote, another server
   * for one: an expression can take for ever. A schema that has some is then refused. Default: true.
   */
  readonly patterns?: boolean | undefined
}

/**
 * What a tool with this output schema gives: an object where the schema says so, content only without one.
 *
 * @since 0.1.0
 * @category models
 */
export type SuccessOf<Output> = Output extends { readonly type: "object" } ? JsonObject
  : Output extends JsonObject ? unknown
  : void

/**
 * Declares a tool by its JSON Schemas.
 *
 * A handler is given the arguments as they came, once they conform; nothing is converted or filled in, and `format` checks
 * nothing (see `JsonSchemaValidator`). What a handler gives must conform too: what does not is a bug of the handler.
 *
 * Throws when a schema is none, and says what is wrong with it: a keyword that cannot be what it is, a reference that leads
 * nowhere or elsewhere (nothing is fetched), a dialect that is not known, or arguments that are no object.
 *
 * @example
 * ```ts
 * import * as RawTool from "@effect-mcp/definition/RawTool"
 *
 * export const Search = RawTool.make("search", {
 *   description: "Full-text search over the notes.",
 *   inputSchema: { type: "object", properties: { q: { type: "string", minLength: 1 } }, required: ["q"] }
 * })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Name extends string, const Output extends JsonObject | undefined = undefined>(
  name: Name,
  options: Options<Output>
): Tool.Tool<Name, JsonObject, JsonObject, SuccessOf<Output>, never> => {
  const { patterns } = options
  const input = read(name, "inputSchema", options.inputSchema, patterns)
  if (!JsonSchema.isObject(input.json)) {
    throw new Error(`Tool "${name}": its inputSchema must say "type": "object": arguments are an object`)
  }
  const output = options.outputSchema === undefined
    ? undefined
    : read(name, "outputSchema", options.outputSchema, patterns)
  return Tool.fromSchemas(name, options, {
    parameters: input.schema,
    success: output?.schema,
    failure: Schema.Never,
    input: input.json,
    output: output?.json
  })
}

const read = (name: string, part: string, given: JsonObject, patterns: boolean | undefined) =>
  Either.getOrThrowWith(
    Either.gen(function*() {
      const json = yield* ForeignSchema.copy(given)
      const validate = yield* JsonSchemaValidator.make(json, { patterns })
      const check: ForeignSchema.Parse<any> = (u) => {
        const refusals = validate(u)
        return refusals.length === 0 ? Either.right(u) : Either.left(ForeignSchema.toIssue(refusals, u))
      }
      return { json, schema: ForeignSchema.make({ decode: check, encode: check }) }
    }),
    (problem) => new Error(`Tool "${name}": its ${part} ${problem}`)
  )
