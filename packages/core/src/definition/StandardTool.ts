/**
 * A tool declared with the schemas of another library, such as zod, valibot or arktype. Each schema must be a Standard Schema, which
 * validates values, possibly asynchronously. A Standard Schema may also provide its JSON Schema.
 *
 * `Tool` declares a tool with Effect schemas, and `RawTool` declares a tool with JSON Schemas alone.
 *
 * @see https://standardschema.dev
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as EffectInternals from "../kit/EffectInternals.js"
import type { JsonObject } from "../protocol/Json.js"
import type { ParseIssue } from "../protocol/McpError.js"
import * as ExternalSchema from "./schema/ExternalSchema.js"
import * as Tool from "./Tool.js"
import * as AdvertisedSchema from "./tool/AdvertisedSchema.js"

/**
 * A Standard Schema of version 1. `jsonSchema` is the extension for JSON Schema, which some libraries have.
 *
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
 * The result of a validation: the value, which the schema may have converted, or the issues.
 *
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
 * The type of the values that a schema validates.
 *
 * @category models
 */
export type Input<S extends Any> = NonNullable<S["~standard"]["types"]>["input"]

/**
 * The type of the values that validation yields.
 *
 * @category models
 */
export type Output<S extends Any> = NonNullable<S["~standard"]["types"]>["output"]

/** @category models */
export interface Options<Parameters, Success> extends Tool.Description {
  readonly parameters: Parameters
  /** The JSON Schema of the arguments. Default: the JSON Schema of `parameters`. Required when `parameters` provides no JSON Schema. */
  readonly inputSchema?: JsonObject | undefined
  /**
   * The schema of the structured content. Both sides validate the content with this schema: the server before it sends the content, and a
   * typed client after it has received the content. Therefore a schema that converts values must also accept a converted value, and leave
   * this value unchanged. Default: the tool returns content only.
   */
  readonly success?: Success | undefined
  /**
   * The JSON Schema of the structured content. Default: the JSON Schema of `success`. Required when `success` provides no JSON Schema.
   */
  readonly outputSchema?: JsonObject | undefined
}

/**
 * Declares a tool with Standard Schemas.
 *
 * The handler receives the output of `parameters`. A caller passes the input of `parameters`. When a validation throws, or its promise
 * rejects, the call dies.
 *
 * Throws when there is no JSON Schema to advertise, or when the JSON Schema of the arguments does not describe an object.
 *
 * @example
 * ```ts
 * import * as StandardTool from "@effect-mcp/core/StandardTool"
 * import { Schema } from "effect"
 *
 * export const Search = StandardTool.make("search", {
 *   parameters: Schema.standardSchemaV1(Schema.Struct({ q: Schema.String })),
 *   inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
 * })
 * ```
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
    return AdvertisedSchema.refuse(name, "outputSchema", "needs a success schema: pass `success` too")
  }
  const input = advertise(name, "parameters", "inputSchema", inputSchema ?? inputOf(name, parameters))
  const parseArguments = parserOf(parameters)
  const parseSuccess = success === undefined ? undefined : parserOf(success)
  return Tool.fromSchemas(name, options, {
    // The input of these schemas is already JSON, so a caller's arguments are validated and then sent as they are.
    parameters: ExternalSchema.make({ decode: parseArguments, encode: (u) => Effect.as(parseArguments(u), u) }),
    success: parseSuccess && ExternalSchema.make({ decode: parseSuccess, encode: parseSuccess }),
    failure: Schema.Never,
    input: AdvertisedSchema.input(name, "inputSchema", input),
    output: success === undefined
      ? undefined
      : advertise(name, "success", "outputSchema", outputSchema ?? generate(name, "success", success, "output"))
  })
}

/** Returns the JSON Schema that the library generates. Adds the type `object`, which some libraries leave out for a union. */
const inputOf = (name: string, parameters: Any): unknown => {
  const generated = generate(name, "parameters", parameters, "input")
  return generated !== undefined && generated.type === undefined ? { type: "object", ...generated } : generated
}

const generate = (name: string, part: string, { "~standard": schema }: Any, side: "input" | "output") =>
  AdvertisedSchema.attempt(
    name,
    part,
    `cannot be advertised as JSON Schema: pass one as \`${side}Schema\``,
    () => schema.jsonSchema?.[side]({ target: "draft-2020-12" })
  )

const advertise = (name: string, part: string, option: string, schema: unknown): JsonObject =>
  schema === undefined
    ? AdvertisedSchema.refuse(name, part, `provides no JSON Schema: pass one as \`${option}\``)
    : Either.getOrElse(
      ExternalSchema.copy(schema),
      (problem) => AdvertisedSchema.refuse(name, `the JSON Schema of ${part}`, problem)
    )

const parserOf = ({ "~standard": schema }: Any): ExternalSchema.Parse<any> => (u) => {
  const outcomeOf = (result: Result<any>): Effect.Effect<any, ParseIssue> =>
    EffectInternals.fromEither(
      result.issues === undefined
        ? Either.right(result.value)
        : Either.left(ExternalSchema.toIssue(result.issues.map(errorOf), u))
    )
  return Either.match(Either.try({ try: () => schema.validate(u), catch: (defect) => defect }), {
    onLeft: Effect.die,
    onRight: (result) =>
      Predicate.isPromiseLike(result) ? Effect.flatMap(Effect.promise(() => result), outcomeOf) : outcomeOf(result)
  })
}

const errorOf = (
  { message, path = [] }: Extract<Result<never>, { readonly issues: unknown }>["issues"][number]
): ExternalSchema.SchemaError => ({
  path: path.map((segment) => typeof segment === "object" ? segment.key : segment),
  message
})
