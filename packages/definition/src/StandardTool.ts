/**
 * A tool whose schemas are of another library: anything that is a Standard Schema, which checks values, perhaps later, and
 * may know a JSON Schema of itself.
 *
 * A tool with schemas of Effect's is a `Tool`, which knows more of them; one with nothing but JSON Schema a `RawTool`.
 *
 * @see https://standardschema.dev
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ForeignSchema from "./schema/ForeignSchema.js"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as Tool from "./Tool.js"

/**
 * What is asked of a schema: version 1 of the standard, and its extension for JSON Schema where the library has it.
 *
 * @since 0.1.0
 * @category models
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>
    }
  }
}

/**
 * A value that conforms, or what is wrong with it.
 *
 * @since 0.1.0
 * @category models
 */
export type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
    readonly issues: ReadonlyArray<{
      readonly message: string
      readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
    }>
  }

type Any = StandardSchema<any, any>

/**
 * What a caller gives to a schema, and what comes out of it.
 *
 * @since 0.1.0
 * @category models
 */
export type Input<S extends Any> = NonNullable<S["~standard"]["types"]>["input"]

/**
 * @since 0.1.0
 * @category models
 */
export type Output<S extends Any> = NonNullable<S["~standard"]["types"]>["output"]

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Parameters, Success> extends Tool.Description {
  readonly parameters: Parameters
  /** JSON Schema of the arguments. Default: what `parameters` knows of itself; it must be given where that is nothing. */
  readonly inputSchema?: JsonObject | undefined
  /**
   * What it gives, checked on its way out and again where it comes in: a schema that converts what it checks must leave what
   * it has converted as it is. Default: content only.
   */
  readonly success?: Success | undefined
  /** JSON Schema of what it gives. Default: what `success` knows of itself; it must be given where that is nothing. */
  readonly outputSchema?: JsonObject | undefined
}

/**
 * Declares a tool by Standard Schemas.
 *
 * A handler is given what `parameters` make of the arguments, and runs once they have, which may take a while; a caller gives
 * what goes into them. A check that throws, or whose promise fails, is a defect.
 *
 * Throws when there is no JSON Schema to advertise, or one of arguments that are no object.
 *
 * @example
 * ```ts
 * import { StandardTool } from "@effect-mcp/definition"
 * import { Schema } from "effect"
 *
 * export const Search = StandardTool.make("search", {
 *   parameters: Schema.standardSchemaV1(Schema.Struct({ q: Schema.String })),
 *   inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
 * })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Name extends string,
  Parameters extends Any,
  Success extends Any = StandardSchema<void>
>(
  name: Name,
  options: Options<Parameters, Success>
): Tool.Tool<Name, Output<Parameters>, Input<Parameters>, Output<Success>, never> => {
  const { inputSchema, outputSchema, parameters, success } = options
  if (success === undefined && outputSchema !== undefined) {
    throw new Error(`Tool "${name}": its outputSchema is of nothing: give the schema of its success too`)
  }
  const input = advertise(name, "parameters", "inputSchema", inputSchema ?? inputOf(name, parameters))
  if (!JsonSchema.isObject(input)) {
    throw new Error(`Tool "${name}": its inputSchema must say "type": "object": arguments are an object`)
  }
  const check = parse(parameters)
  const checkSuccess = success === undefined ? undefined : parse(success)
  return Tool.fromSchemas(name, options, {
    parameters: ForeignSchema.make({ decode: check, encode: (u) => Effect.as(check(u), u) }),
    success: checkSuccess && ForeignSchema.make({ decode: checkSuccess, encode: checkSuccess }),
    failure: Schema.Never,
    input,
    output: success === undefined
      ? undefined
      : advertise(name, "success", "outputSchema", outputSchema ?? generate(name, "success", success, "output"))
  })
}

/** Where a union does not say that all of its members are objects: arguments are nothing else. */
const inputOf = (name: string, parameters: Any): unknown => {
  const generated = generate(name, "parameters", parameters, "input")
  return generated !== undefined && generated.type === undefined ? { type: "object", ...generated } : generated
}

const generate = (name: string, part: string, { "~standard": schema }: Any, side: "input" | "output") =>
  Either.getOrThrowWith(
    Either.try(() => schema.jsonSchema?.[side]({ target: "draft-2020-12" })),
    (cause) => new Error(`Tool "${name}": its ${part} cannot be advertised as JSON Schema\n${String(cause)}`, { cause })
  )

const advertise = (name: string, part: string, option: string, schema: unknown): JsonObject => {
  if (schema === undefined) {
    throw new Error(`Tool "${name}": its ${part} know no JSON Schema of themselves: give one as ${option}`)
  }
  return Either.getOrThrowWith(
    ForeignSchema.copy(schema),
    (problem) => new Error(`Tool "${name}": the JSON Schema of its ${part} ${problem}`)
  )
}

const parse = ({ "~standard": schema }: Any): ForeignSchema.Parse<any> => (u) => {
  const settle = (result: Result<any>): Either.Either<any, ParseResult.ParseIssue> =>
    result.issues === undefined
      ? Either.right(result.value)
      : Either.left(ForeignSchema.toIssue(result.issues.map(refusalOf), u))
  return Either.match(Either.try({ try: () => schema.validate(u), catch: (defect) => defect }), {
    onLeft: Effect.die,
    onRight: (checked) =>
      Predicate.isPromiseLike(checked) ? Effect.flatMap(Effect.promise(() => checked), settle) : settle(checked)
  })
}

const refusalOf = (
  { message, path = [] }: Extract<Result<never>, { readonly issues: unknown }>["issues"][number]
): ForeignSchema.Refusal => ({
  path: path.map((segment) => typeof segment === "object" ? segment.key : segment),
  message
})
