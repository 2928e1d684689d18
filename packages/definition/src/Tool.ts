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
import * as Json from "@effect-mcp/jsonrpc/Json"
import type { Icon } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonSchema from "./JsonSchema.js"
import * as Plain from "./Plain.js"
import type { ToolResult } from "./ToolResult.js"
import { isToolResult } from "./ToolResult.js"

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
  readonly codec: Codec<Parameters, Arguments, Success, Failure>
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
 * Between the tool's values and the wire. Every function is built once, when the tool is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Codec<Parameters, Arguments, Success, Failure> {
  decodeArguments(args: unknown): Effect.Effect<Parameters, ParseResult.ParseIssue>
  encodeArguments(args: Arguments): Effect.Effect<JsonObject, ParseResult.ParseIssue>
  /** Dies when the value is not one of `success`: that is a bug of the handler. */
  encodeSuccess(value: Returns<Success>): Effect.Effect<Tools.CallToolResult>
  encodeFailure(failure: Failure): Effect.Effect<Tools.CallToolResult>
  decodeSuccess(result: Tools.CallToolResult): Effect.Effect<Success, ParseResult.ParseIssue>
  decodeFailure(result: Tools.CallToolResult): Effect.Effect<Failure, ParseResult.ParseIssue>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Parameters, Success, Failure> {
  /** What it does, for the model that has to choose. */
  readonly description?: string | undefined
  /** What people read in place of its name. */
  readonly title?: string | undefined
  /** The fields of its arguments, or a schema of an object. Default: none. */
  readonly parameters?: Parameters | undefined
  /**
   * What it gives: advertised as output schema, and the `structuredContent` of its results. Peers up to 2025-11-25 have
   * structured content of objects only; they get any other value as text. Default, and for `Schema.Void`: content only.
   */
  readonly success?: Success | undefined
  /** How it may fail: the model is told, with `isError`. Default: it cannot. */
  readonly failure?: Failure | undefined
  readonly annotations?: Tools.ToolAnnotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
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
  const failure = (options.failure ?? Schema.Never) as AnySchema
  const input = isEmpty(parameters.ast)
    ? { ...advertise(name, "parameters", parameters), ...JsonSchema.noParameters }
    : advertise(name, "parameters", parameters)
  if (!JsonSchema.isObject(input)) {
    throw new Error(`Tool "${name}": its parameters must be an object with fields`)
  }
  const output = success === undefined ? undefined : advertise(name, "success", success)
  const made = Either.getOrThrowWith(
    Either.try(() => codec(parameters, success, failure, output !== undefined && JsonSchema.isString(output))),
    (cause) => new Error(`Tool "${name}": its schemas cannot be used\n${String(cause)}`, { cause })
  )
  return {
    [TypeId]: TypeId,
    _tag: "Tool",
    name,
    advertised: {
      name,
      ...(options.title === undefined ? undefined : { title: options.title }),
      ...(options.description === undefined ? undefined : { description: options.description }),
      inputSchema: input,
      ...(output === undefined ? undefined : { outputSchema: output }),
      ...(options.annotations === undefined ? undefined : { annotations: options.annotations }),
      ...(options.icons === undefined ? undefined : { icons: options.icons }),
      ...(options.meta === undefined ? undefined : { _meta: options.meta })
    },
    parameters,
    success,
    failure,
    codec: made
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

const codec = (
  parameters: AnySchema,
  success: AnySchema | undefined,
  failure: AnySchema,
  verbatim: boolean
): Codec<any, any, any, any> => {
  const encodeParameters = quickly(parameters, ParseResult.encodeUnknown(parameters))
  const encode = success === undefined ? undefined : quickly(success, ParseResult.encodeUnknown(success))
  const encodeFailure = ParseResult.encodeUnknown(failure)
  const decode = success === undefined ? undefined : quickly(success, ParseResult.decodeUnknown(success))
  const decodeFailure = ParseResult.decodeUnknown(failure)
  const complete = constructor(parameters)
  const failsVerbatim = isString(failure)
  return {
    decodeArguments: quickly(parameters, ParseResult.decodeUnknown(parameters)),
    encodeArguments: (args) => Effect.suspend(() => encodeParameters(complete(args ?? {}))),
    encodeSuccess: (value) =>
      isToolResult(value)
        ? encode === undefined || value.structured === undefined
          ? Effect.succeed(withMeta({ content: value.content }, value.meta))
          : bug(encode(value.structured), (structuredContent) =>
            withMeta({ content: value.content, structuredContent }, value.meta))
        : encode === undefined
        ? Effect.succeed({ content: typeof value === "string" ? [{ type: "text", text: value }] : [] })
        : bug(encode(value), (structuredContent) => ({
          content: [{ type: "text", text: inWords(structuredContent, verbatim) }],
          structuredContent
        })),
    encodeFailure: (value) =>
      bug(encodeFailure(value), (encoded) => ({
        content: [{ type: "text", text: inWords(encoded, failsVerbatim) }],
        isError: true
      })),
    decodeSuccess: (result) =>
      decode === undefined
        ? Effect.succeed(result)
        : result.structuredContent !== undefined
        ? decode(result.structuredContent)
        : decode(verbatim ? firstText(result) : fromWords(result)),
    decodeFailure: (result) =>
      failsVerbatim
        ? decodeFailure(firstText(result))
        : Effect.orElse(decodeFailure(fromWords(result)), () => decodeFailure(firstText(result)))
  }
}

type Parse = (u: unknown) => Effect.Effect<any, ParseResult.ParseIssue>

/** The same function, without the parser for what conforms to a schema of plain data. */
const quickly = (schema: AnySchema, parse: Parse): Parse => {
  const copy = Plain.compile(schema)
  if (copy === undefined) return parse
  return (u) => {
    const copied = copy(u)
    return copied === Plain.refused ? parse(u) : Either.right(copied)
  }
}

// What a failure says is not advertised, and need not have a JSON Schema.
const isString = (schema: AnySchema): boolean =>
  !AST.isNeverKeyword(schema.ast) && Either.match(Either.try(() => JsonSchema.make(schema)), {
    onLeft: () => false,
    onRight: JsonSchema.isString
  })

// What has a default may be left out, and is filled in before encoding.
const constructor = (schema: AnySchema): (args: unknown) => unknown =>
  Predicate.hasProperty(schema, "fields") && Predicate.hasProperty(schema, "make")
    ? (args) => (schema as unknown as Schema.Struct<Fields>).make(args as never, { disableValidation: true })
    : (args) => args

const bug = <A, B>(encoded: Effect.Effect<A, ParseResult.ParseIssue>, f: (encoded: A) => B): Effect.Effect<B> =>
  Either.isEither(encoded) && Either.isRight(encoded)
    ? Effect.succeed(f(encoded.right as A))
    : Effect.map(Effect.orDieWith(encoded, (issue) => new ParseResult.ParseError({ issue })), f)

const withMeta = (result: Tools.CallToolResult, meta: JsonObject | undefined): Tools.CallToolResult =>
  meta === undefined ? result : { ...result, _meta: meta }

/** What the model reads: JSON, but for values that are always strings, which stay as they are. */
const inWords = (encoded: unknown, verbatim: boolean): string => {
  if (verbatim) return encoded as string
  const json = Json.stringify(encoded)
  if (json === undefined) throw new Error("The value of a tool has no JSON form")
  return json
}

const firstText = (result: Tools.CallToolResult): string | undefined => {
  const block = result.content.find((content) => content.type === "text")
  return block?.type === "text" ? block.text : undefined
}

const fromWords = (result: Tools.CallToolResult): unknown => {
  const text = firstText(result)
  const value = text === undefined ? undefined : Json.parse(text)
  return value instanceof Json.Refused ? undefined : value
}
