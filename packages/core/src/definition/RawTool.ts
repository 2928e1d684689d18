/**
 * A tool declared with JSON Schemas: a tool that another server advertises, that a file describes, or that a program makes while it runs.
 * Clients get the schemas as they are. Arguments and results are validated against the schemas.
 *
 * Validation generates no code from a schema, so it works where evaluating text as code is forbidden, as in a Worker. `Tool` declares a
 * tool with Effect schemas, and `StandardTool` declares a tool with the schemas of another library.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as EffectInternals from "../kit/EffectInternals.js"
import type { JsonObject } from "../protocol/Json.js"
import * as ExternalSchema from "./schema/ExternalSchema.js"
import * as JsonSchemaValidator from "./schema/JsonSchemaValidator.js"
import type { Trust } from "./schema/KeywordCheck.js"
import * as Tool from "./Tool.js"
import * as AdvertisedSchema from "./tool/AdvertisedSchema.js"

/** @category models */
export interface Options<Output> extends Tool.Description {
  /**
   * The JSON Schema of the arguments, with `"type": "object"`. Its dialect is draft 2020-12, unless `$schema` names 2019-09 or draft-07.
   */
  readonly inputSchema: JsonObject
  /** The JSON Schema of the structured content. Default: the tool returns content only. */
  readonly outputSchema?: Output | undefined
  /**
   * How the regular expressions of the schemas run. `linear`: the work grows linearly with the length of the text, for any expression; a
   * schema is refused when one of its expressions has a lookaround or a back reference. `native`: JavaScript's engine runs the expressions.
   * With `native`, an expression can need exponential time, so use `native` only for schemas that you wrote. Default: `linear`.
   */
  readonly patterns?: "linear" | "native" | undefined
  /**
   * Whether `format` is checked. The checked formats are `date-time`, `date`, `time`, `duration`, `email`, `idn-email`, `hostname`, `ipv4`,
   * `ipv6`, `uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template`, `uuid`, `json-pointer`, `relative-json-pointer` and `regex`.
   * Other formats are never checked. Default: `true`.
   */
  readonly formats?: boolean | undefined
}

/**
 * The type of the success of a tool with this output schema: an object where the schema has the type `object`, and `void` without a schema.
 *
 * @category models
 */
export type SuccessOf<Output> = Output extends { readonly type: "object" } ? JsonObject
  : Output extends JsonObject ? unknown
  : void

/**
 * Declares a tool with JSON Schemas.
 *
 * The handler receives arguments that conform to the schema. The server does not fill in defaults. When arguments do not conform and there
 * is only one way to read them, the server repairs the arguments. Otherwise it refuses the call. For example, the text `"5"` becomes the
 * number 5 if the schema requires a number. The option `mendArguments: false`, of the tool or of the server, turns repairs off. A value
 * that the handler returns must conform to `outputSchema`; otherwise the call dies.
 *
 * Throws when a schema cannot be used: a keyword has a wrong value, a reference cannot be resolved (nothing is fetched), the dialect is not
 * supported, or the schema of the arguments does not describe an object.
 *
 * @example
 * ```ts
 * import * as RawTool from "@effect-mcp/core/RawTool"
 *
 * export const Search = RawTool.make("search", {
 *   description: "Full-text search over the notes.",
 *   inputSchema: { type: "object", properties: { q: { type: "string", minLength: 1 } }, required: ["q"] }
 * })
 * ```
 * @category constructors
 */
export const make = <const Name extends string, const Output extends JsonObject | undefined = undefined>(
  name: Name,
  options: Options<Output>
): Tool.Tool<Name, JsonObject, JsonObject, SuccessOf<Output>, never> => {
  const { formats = true, patterns = "linear" } = options
  const trust: Trust = { isOfApplication: true, patterns, formats }
  const input = compile(name, "inputSchema", options.inputSchema, trust)
  const output = options.outputSchema === undefined
    ? undefined
    : compile(name, "outputSchema", options.outputSchema, trust)
  return Tool.fromSchemas(name, options, {
    parameters: input.schema,
    success: output?.schema,
    failure: Schema.Never,
    input: AdvertisedSchema.input(name, "inputSchema", input.json),
    output: output?.json
  })
}

const compile = (name: string, part: string, given: JsonObject, trust: Trust) =>
  Either.getOrElse(
    Either.gen(function*() {
      const json = yield* ExternalSchema.copy(given)
      const validate = yield* JsonSchemaValidator.make(json, trust)
      const parse: ExternalSchema.Parse<any> = (u) => {
        const errors = Either.getOrElse(validate(u), (why) => [{ path: [], message: why }])
        return EffectInternals.fromEither(
          errors.length === 0 ? Either.right(u) : Either.left(ExternalSchema.toIssue(errors, u))
        )
      }
      return { json, schema: ExternalSchema.make({ decode: parse, encode: parse }) }
    }),
    (problem) => AdvertisedSchema.refuse(name, part, problem)
  )
