/**
 * A tool as a value: its name, the schemas of its parameters, its success and its failure, and a description. The server implements the
 * tool, the client calls the tool, and the compiler checks server and client against this value.
 *
 * The declaration prepares two things once: the entry of the tool in `tools/list` (`tool/AdvertisedSchema`), and the functions of `codec`
 * (`tool/ToolCodec`). `RawTool` declares a tool with JSON Schemas, and `StandardTool` declares a tool with the schemas of another library.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import type { Icon } from "../protocol/Implementation.js"
import type { JsonObject } from "../protocol/Json.js"
import type { ParseIssue } from "../protocol/McpError.js"
import type * as Tools from "../protocol/Tools.js"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as SchemaShape from "./schema/SchemaShape.js"
import * as AdvertisedSchema from "./tool/AdvertisedSchema.js"
import * as ToolCodec from "./tool/ToolCodec.js"
import type { ToolResult } from "./ToolResult.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Tool")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export interface Tool<Name extends string, Parameters, Arguments, Success, Failure> {
  readonly [TypeId]: TypeId
  readonly _tag: "Tool"
  readonly name: Name
  /**
   * The entry of `tools/list` for the latest revision. For clients of earlier revisions, the server leaves out the members that their
   * revision does not have.
   */
  readonly advertised: Tools.Tool
  readonly parameters: Schema.Schema.All
  /** The schema of the success; `undefined` for a tool that returns content only. */
  readonly success: Schema.Schema.All | undefined
  readonly failure: Schema.Schema.All
  readonly codec: Codec<Parameters, Arguments, Success, Failure>
  /** The scopes that a user needs for each use. The user needs all of them. Clients do not get the scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
  /** See `mendArguments` of `Description`. */
  readonly mendArguments?: boolean | undefined
}

/**
 * Converts between the typed values of a tool and the JSON of `tools/call`.
 *
 * @category models
 */
export interface Codec<Parameters, Arguments, Success, Failure> {
  /**
   * Decodes the arguments for the handler. An issue names every wrong argument. If the arguments are large, it names only the first wrong
   * argument.
   */
  decodeArguments(args: unknown): Effect.Effect<Parameters, ParseIssue>
  encodeArguments(args: Arguments): Effect.Effect<JsonObject, ParseIssue>
  /** Makes the result of a successful call. Dies when the value does not conform to `success`, which is a bug of the handler. */
  encodeSuccess(value: Returns<Success>): Effect.Effect<Tools.CallToolResult>
  /** Makes a result with `isError`. Dies when the value does not conform to `failure`. */
  encodeFailure(failure: Failure): Effect.Effect<Tools.CallToolResult>
  /**
   * Decodes the structured content, or, if there is none, the text of the result. For a tool without `success`, returns the result itself.
   */
  decodeSuccess(result: Tools.CallToolResult): Effect.Effect<Success, ParseIssue>
  decodeFailure(result: Tools.CallToolResult): Effect.Effect<Failure, ParseIssue>
}

/**
 * What a handler may return: the success value, or a `ToolResult` with this value and with content that the handler chooses. The handler of
 * a tool without `success` returns a text, a `ToolResult` or nothing.
 *
 * @category models
 */
export type Returns<Success> = 0 extends 1 & Success ? any // `any` itself
  : [Success] extends [void] ? void | string | ToolResult<unknown>
  : Success | ToolResult<Success>

/** @category constants */
export declare namespace Tool {
  export type Any = Tool<string, any, any, any, any>

  /** What a handler receives: the decoded arguments, with defaults filled in. */
  export type Parameters<T> = T extends Tool<any, infer P, any, any, any> ? P : never

  /** What a caller passes: the arguments. An argument that has a default is optional. */
  export type Arguments<T> = T extends Tool<any, any, infer A, any, any> ? A : never

  export type Success<T> = T extends Tool<any, any, any, infer S, any> ? S : never

  export type Failure<T> = T extends Tool<any, any, any, any, infer F> ? F : never
}

/**
 * The description of a tool that clients get in addition to its schemas, and settings for how the server runs its calls.
 *
 * @category models
 */
export interface Description {
  /** What the tool does. It helps the model to choose a tool. */
  readonly description?: string | undefined
  /** The name to show to people. Default: the `name`. */
  readonly title?: string | undefined
  readonly annotations?: Tools.ToolAnnotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  /**
   * Whether calls may run as tasks, on servers with tasks. With revision 2025-11-25, a call runs as a task when the client requests a task.
   * With revision 2026-07-28 or later, a call runs as a task whenever the client supports tasks. `required`: with these revisions, clients
   * without tasks cannot call the tool. Default: calls never run as tasks.
   */
  readonly task?: "optional" | "required" | undefined
  /** The scopes that a user needs to call the tool. The user needs all of them; see `Feature.requires` of the server. Default: none. */
  readonly requires?: ReadonlyArray<string> | undefined
  /**
   * Whether the server may repair arguments that the tool does not accept: see the option `mendArguments` of `McpServer.layer`. Default:
   * `true`.
   */
  readonly mendArguments?: boolean | undefined
  /** The `_meta` of the advertised tool. */
  readonly meta?: JsonObject | undefined
}

/** @category models */
export interface Options<Parameters, Success, Failure> extends Description {
  /** The fields of the arguments, or a schema of an object. Default: the tool has no parameters. */
  readonly parameters?: Parameters | undefined
  /**
   * The schema of the value of a successful call. Clients get this schema as the output schema, and the value as `structuredContent`. With
   * revision 2025-11-25 or earlier, structured content must be an object. Therefore clients of these revisions get a value that is not an
   * object as `{ result }`. If the schema allows values that are not objects, these clients get every value as `{ result }`.
   *
   * Default, and for `Schema.Void`: the tool has content only. The handler then returns a text, a `ToolResult` or nothing, and a typed call
   * gives the whole `CallToolResult` with the content. With `Schema.String`, the handler returns a text, and the typed call gives a text.
   */
  readonly success?: Success | undefined
  /** The schema of the failures of the tool, which the server sends to the model with `isError`. Default: the tool cannot fail. */
  readonly failure?: Failure | undefined
}

// The schemas of these fields require no services, because encoding and decoding happen outside of the application's layers.
type Fields = {
  readonly [name: PropertyKey]:
    | AnySchema
    | Schema.Schema<never, any>
    | Schema.Schema<any, never>
    | Schema.Schema<never, never>
    | Property<any, any>
    | Property<never, any>
    | Property<any, never>
    | Property<never, never>
}
type Property<A, I> = Schema.PropertySignature<
  Schema.PropertySignature.Token,
  A,
  any,
  Schema.PropertySignature.Token,
  I,
  boolean,
  never
>
type AnySchema = Schema.Schema<any, any>
// `Simplify` lets an editor show one object instead of an intersection.
type ParametersOf<P> = P extends AnySchema ? Schema.Schema.Type<P>
  : P extends Fields ? Schema.Simplify<Schema.Struct.Type<P>>
  : never
type ArgumentsOf<P> = P extends { readonly fields: infer F extends Fields } ?
  Schema.Simplify<Schema.Struct.Constructor<F>>
  : P extends AnySchema ? Schema.Schema.Type<P>
  : P extends Fields ? Schema.Simplify<Schema.Struct.Constructor<P>>
  : never

/** Accepts parameters that are an object in JSON. For any other parameters, the type is a sentence that the compiler shows as the error. */
type AnObject<P> = P extends Schema.Schema<any, infer Encoded> ? [Encoded] extends [object] ? unknown
  : "The parameters of a tool are an object in JSON: pass fields, as in { name: Schema.String }, or a Schema.Struct"
  : unknown

/**
 * Declares a tool.
 *
 * Throws when clients cannot get a schema as JSON Schema: the parameters are not an object, a type has no JSON Schema, or a recursive type
 * has no `identifier` annotation.
 *
 * @example
 * ```ts
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Schema } from "effect"
 *
 * class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}
 *
 * export const Search = Tool.make("search", {
 *   description: "Full-text search over the notes.",
 *   parameters: { q: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
 *   success: Schema.Struct({ hits: Schema.Array(Schema.String) }),
 *   failure: NotFound,
 *   annotations: { readOnlyHint: true }
 * })
 * ```
 * @category constructors
 */
export const make = <
  const Name extends string,
  Parameters extends Fields | AnySchema = {},
  Success extends AnySchema = Schema.Schema<void>,
  Failure extends AnySchema | typeof Schema.Never = typeof Schema.Never
>(
  name: Name,
  options: Options<Parameters, Success, Failure> & { readonly parameters?: AnObject<NoInfer<Parameters>> } = {}
): Tool<
  Name,
  ParametersOf<Parameters>,
  ArgumentsOf<Parameters>,
  Schema.Schema.Type<Success>,
  Schema.Schema.Type<Failure>
> => {
  const parameters: AnySchema = Schema.isSchema(options.parameters)
    ? options.parameters as AnySchema
    : Schema.Struct((options.parameters ?? {}) as Fields) as unknown as AnySchema
  const success: AnySchema | undefined = options.success === undefined || SchemaShape.isVoid(options.success)
    ? undefined
    : options.success
  const advertised = AdvertisedSchema.make(name, "parameters", parameters)
  return fromSchemas(name, options, {
    parameters,
    success,
    failure: options.failure ?? Schema.Never,
    input: AdvertisedSchema.input(
      name,
      "parameters",
      SchemaShape.isEmpty(parameters) ? { ...advertised, ...JsonSchema.noParameters } : advertised,
      "must be an object: pass fields, or a schema that encodes to an object"
    ),
    output: success === undefined ? undefined : AdvertisedSchema.make(name, "success", success)
  })
}

/**
 * The schemas of a tool, and the JSON Schemas to advertise for them.
 *
 * @category models
 */
export interface Schemas {
  readonly parameters: Schema.Schema<any, any>
  /** The schema of the success; `undefined` for a tool that returns content only. */
  readonly success: Schema.Schema<any, any> | undefined
  readonly failure: Schema.Schema<any, any> | typeof Schema.Never
  /** The JSON Schema of the encoded parameters. */
  readonly input: Tools.Tool["inputSchema"]
  /** The JSON Schema of the encoded success. */
  readonly output: JsonObject | undefined
}

/**
 * Declares a tool from schemas and from the JSON Schemas that clients get for them, as `RawTool` and `StandardTool` do. The caller states
 * the types, and the compiler does not check them against the schemas. Throws when Effect's parser cannot use a schema.
 *
 * @category constructors
 */
export const fromSchemas = <const Name extends string, Parameters, Arguments, Success, Failure>(
  name: Name,
  { annotations, description, icons, mendArguments, meta, requires, task, title }: Description,
  schemas: Schemas
): Tool<Name, Parameters, Arguments, Success, Failure> => ({
  [TypeId]: TypeId,
  _tag: "Tool",
  name,
  advertised: JsonText.defined({
    name,
    title,
    description,
    inputSchema: schemas.input,
    outputSchema: schemas.output,
    annotations,
    icons,
    execution: task === undefined ? undefined : { taskSupport: task },
    _meta: meta
  }),
  parameters: schemas.parameters,
  success: schemas.success,
  failure: schemas.failure,
  requires,
  mendArguments,
  codec: AdvertisedSchema.attempt(
    name,
    "its schemas",
    "cannot be used by Effect's parser",
    () => ToolCodec.make(schemas)
  )
})

/** @category guards */
export const isTool = (u: unknown): u is Tool.Any => Predicate.hasProperty(u, TypeId)
