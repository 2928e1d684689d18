/**
 * A tool as a value: its name, what it takes, what it gives, how it may fail. Declared once; the server keeps it, the
 * client calls it, and both are type-checked against it.
 *
 * What a value of it says on the wire is worked out here, once, when it is made. Who keeps it is in
 * `@effect-mcp/server/McpServer`; the words of the wire are in `@effect-mcp/protocol/Tools`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { Icon } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as ToolCodec from "./tool/ToolCodec.js"
import type { ToolResult } from "./ToolResult.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/Tool")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export interface Tool<Name extends string, Parameters, Arguments, Success, Failure> {
  readonly [TypeId]: TypeId
  readonly _tag: "Tool"
  readonly name: Name
  /** What `tools/list` says of it, in the widest words; older peers are told less. */
  readonly advertised: Tools.Tool
  readonly parameters: Schema.Schema.All
  /** What it gives; without one it gives content only. */
  readonly success: Schema.Schema.All | undefined
  readonly failure: Schema.Schema.All
  /** @internal */
  readonly codec: ToolCodec.ToolCodec<Parameters, Arguments, Success, Failure>
}

/**
 * What a handler may return: the success value or, with it, richer content; a tool without `success` gives text, content
 * or nothing.
 *
 * @since 0.1.0
 * @category models
 */
export type Returns<Success> = 0 extends 1 & Success ? any // `any` itself
  : [Success] extends [void] ? void | string | ToolResult<unknown>
  : Success | ToolResult<Success>

/**
 * Helper types of tools.
 *
 * @since 0.1.0
 */
export declare namespace Tool {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = Tool<string, any, any, any, any>

  /**
   * What a handler is given: decoded, with defaults.
   *
   * @since 0.1.0
   * @category models
   */
  export type Parameters<T> = T extends Tool<any, infer P, any, any, any> ? P : never

  /**
   * What a caller gives: as a handler gets it, but what has a default may be left out.
   *
   * @since 0.1.0
   * @category models
   */
  export type Arguments<T> = T extends Tool<any, any, infer A, any, any> ? A : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Success<T> = T extends Tool<any, any, any, infer S, any> ? S : never

  /**
   * @since 0.1.0
   * @category models
   */
  export type Failure<T> = T extends Tool<any, any, any, any, infer F> ? F : never
}

/**
 * What is said of a tool beside its schemas.
 *
 * @since 0.1.0
 * @category models
 */
export interface Description {
  /** What it does, for the model that has to choose. */
  readonly description?: string | undefined
  /** What people read in place of its name. */
  readonly title?: string | undefined
  readonly annotations?: Tools.ToolAnnotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Parameters, Success, Failure> extends Description {
  /** The fields of its arguments, or a schema of an object. Default: none. */
  readonly parameters?: Parameters | undefined
  /**
   * What it gives: advertised as output schema, and the `structuredContent` of its results. Peers up to 2025-11-25 have
   * structured content of objects only; they get any other value as text. Default, and for `Schema.Void`: content only.
   */
  readonly success?: Success | undefined
  /** How it may fail: the model is told, with `isError`. Default: it cannot. */
  readonly failure?: Failure | undefined
}

// Fields whose schemas need no services: nobody could provide them.
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
type ParametersOf<P> = P extends AnySchema ? Schema.Schema.Type<P> : P extends Fields ? Schema.Struct.Type<P> : never
type ArgumentsOf<P> = P extends { readonly fields: infer F extends Fields } ? Schema.Struct.Constructor<F>
  : P extends AnySchema ? Schema.Schema.Type<P>
  : P extends Fields ? Schema.Struct.Constructor<P>
  : never

/**
 * Declares a tool.
 *
 * Throws when its schemas cannot be advertised: parameters that are no object, or a type that refers to itself without an
 * `identifier`.
 *
 * @example
 * ```ts
 * import * as Tool from "@effect-mcp/definition/Tool"
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
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Name extends string,
  Parameters extends Fields | AnySchema = {},
  Success extends AnySchema = Schema.Schema<void>,
  Failure extends AnySchema | typeof Schema.Never = typeof Schema.Never
>(
  name: Name,
  options: Options<Parameters, Success, Failure> = {}
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
  const success: AnySchema | undefined = options.success === undefined || isNothing(options.success.ast)
    ? undefined
    : options.success
  const failure: AnySchema | typeof Schema.Never = options.failure ?? Schema.Never
  const input = isEmpty(parameters.ast)
    ? { ...advertise(name, "parameters", parameters), ...JsonSchema.noParameters }
    : advertise(name, "parameters", parameters)
  if (!JsonSchema.isObject(input)) {
    throw new Error(`Tool "${name}": its parameters must be an object with fields`)
  }
  const output = success === undefined ? undefined : advertise(name, "success", success)
  return fromSchemas(name, options, { parameters, success, failure, input, output })
}

/**
 * The schemas of a tool, and what is advertised of them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Schemas extends ToolCodec.Schemas {
  readonly input: Tools.Tool["inputSchema"]
}

/**
 * A tool of schemas of any make, which advertises what it is told to: see `RawTool` and `StandardTool`. What the schemas
 * take and give is not known to the compiler: whoever calls it says so.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromSchemas = <const Name extends string, Parameters, Arguments, Success, Failure>(
  name: Name,
  { annotations, description, icons, meta, title }: Description,
  schemas: Schemas
): Tool<Name, Parameters, Arguments, Success, Failure> => {
  const { failure, input, output, parameters, success } = schemas
  return {
    [TypeId]: TypeId,
    _tag: "Tool",
    name,
    advertised: {
      name,
      ...(title === undefined ? undefined : { title }),
      ...(description === undefined ? undefined : { description }),
      inputSchema: input,
      ...(output === undefined ? undefined : { outputSchema: output }),
      ...(annotations === undefined ? undefined : { annotations }),
      ...(icons === undefined ? undefined : { icons }),
      ...(meta === undefined ? undefined : { _meta: meta })
    },
    parameters,
    success,
    failure,
    codec: Either.getOrThrowWith(
      Either.try(() => ToolCodec.make(schemas)),
      (cause) => new Error(`Tool "${name}": its schemas cannot be used\n${String(cause)}`, { cause })
    )
  }
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isTool = (u: unknown): u is Tool.Any => Predicate.hasProperty(u, TypeId)

const isNothing = (ast: AST.AST): boolean => AST.isVoidKeyword(ast) || AST.isUndefinedKeyword(ast)

const isEmpty = (ast: AST.AST): boolean =>
  AST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0

const advertise = (name: string, part: string, schema: AnySchema): JsonObject => {
  const problem = JsonSchema.problem(schema)
  if (problem !== undefined) throw new Error(`Tool "${name}": its ${part} cannot be ${problem}`)
  const advertised = Either.getOrThrowWith(
    Either.try(() => JsonSchema.make(schema)),
    (cause) => new Error(`Tool "${name}": its ${part} cannot be advertised as JSON Schema\n${String(cause)}`, { cause })
  )
  // An annotation may hold anything, and one tool that cannot be listed would hide all.
  if (Json.stringify(advertised) === undefined) {
    throw new Error(`Tool "${name}": the JSON Schema of its ${part} is not JSON`)
  }
  return advertised
}
