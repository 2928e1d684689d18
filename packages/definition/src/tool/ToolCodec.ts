/**
 * Between the values of a tool and the wire: arguments in and out, results and failures out and in. Every function of it is
 * built once, when the tool is made.
 *
 * What a tool advertises is worked out in `Tool`, and what a value of plain data costs in `Plain`.
 *
 * @since 0.1.0
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type * as Content from "@effect-mcp/protocol/Content"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Extent from "../schema/Extent.js"
import * as JsonSchema from "../schema/JsonSchema.js"
import * as PlainCodec from "../schema/PlainCodec.js"
import type { Returns } from "../Tool.js"
import type { ToolResult } from "../ToolResult.js"
import { isToolResult } from "../ToolResult.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolCodec<Parameters, Arguments, Success, Failure> {
  /** An issue names all arguments that are wrong, where they are few enough to look at each. */
  decodeArguments(args: unknown): Effect.Effect<Parameters, ParseResult.ParseIssue>
  encodeArguments(args: Arguments): Effect.Effect<JsonObject, ParseResult.ParseIssue>
  /** Dies when the value is not one of `success`: that is a bug of the handler. */
  encodeSuccess(value: Returns<Success>): Effect.Effect<Tools.CallToolResult>
  encodeFailure(failure: Failure): Effect.Effect<Tools.CallToolResult>
  decodeSuccess(result: Tools.CallToolResult): Effect.Effect<Success, ParseResult.ParseIssue>
  decodeFailure(result: Tools.CallToolResult): Effect.Effect<Failure, ParseResult.ParseIssue>
}

type AnySchema = Schema.Schema<any, any>

/**
 * The schemas of a tool, and what its success advertises; `success` is `undefined` for a tool that gives content only.
 *
 * @since 0.1.0
 * @category models
 */
export interface Schemas {
  readonly parameters: AnySchema
  readonly success: AnySchema | undefined
  readonly failure: AnySchema | typeof Schema.Never
  readonly output: JsonObject | undefined
}

/**
 * Throws what Effect's parser throws of schemas that it cannot use.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  { failure: failures, output, parameters, success }: Schemas
): ToolCodec<any, any, any, any> => {
  const failure = failures as AnySchema
  const verbatim = output !== undefined && JsonSchema.isString(output)
  const encodeParameters = quickly(parameters, thoroughly(ParseResult.encodeUnknown(parameters)))
  const encode = success === undefined ? undefined : quickly(success, ParseResult.encodeUnknown(success))
  const encodeFailure = ParseResult.encodeUnknown(failure)
  const decode = success === undefined ? undefined : quickly(success, ParseResult.decodeUnknown(success))
  const decodeFailure = ParseResult.decodeUnknown(failure)
  const complete = constructor(parameters)
  const failsVerbatim = isString(failure)
  return {
    decodeArguments: quickly(parameters, thoroughly(ParseResult.decodeUnknown(parameters))),
    encodeArguments: (args) => Effect.suspend(() => encodeParameters(complete(args ?? {}))),
    encodeSuccess: (value) =>
      isToolResult(value)
        ? value.isError
          ? Effect.succeed(failing(value))
          : encode === undefined
          ? Effect.succeed(withMeta({ content: value.content }, value.meta))
          : bug(encode(value.structured), (structured) => rich(value, structured, verbatim))
        : encode === undefined
        ? Effect.succeed({ content: typeof value === "string" ? [text(value)] : [] })
        : bug(encode(value), (structuredContent) => ({
          content: [text(inWords(structuredContent, verbatim))],
          structuredContent
        })),
    encodeFailure: (value) =>
      bug(encodeFailure(value), (encoded) => ({ content: [text(inWords(encoded, failsVerbatim))], isError: true })),
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

// What it holds beside is not the tool's success, and not checked to be.
const failing = ({ content, meta, structured }: ToolResult<unknown>): Tools.CallToolResult =>
  withMeta(
    { content, ...(structured === undefined ? undefined : { structuredContent: structured }), isError: true },
    meta
  )

type Parse = (u: unknown) => Effect.Effect<any, ParseResult.ParseIssue>

const all: AST.ParseOptions = { errors: "all" }

const thoroughly =
  (parse: (u: unknown, options?: AST.ParseOptions) => Effect.Effect<any, ParseResult.ParseIssue>): Parse => (u) =>
    Extent.isSmall(u) ? parse(u, all) : parse(u)

/** The same function, without the parser for what conforms to a schema of plain data. */
const quickly = (schema: AnySchema, parse: Parse): Parse => {
  const copy = PlainCodec.compile(schema)
  if (copy === undefined) return parse
  return (u) => {
    const copied = copy(u)
    return copied === PlainCodec.refused ? parse(u) : Either.right(copied)
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
    ? (args) =>
      (schema as unknown as Schema.Struct<Schema.Struct.Fields>).make(args as never, { disableValidation: true })
    : (args) => args

const bug = <A, B>(encoded: Effect.Effect<A, ParseResult.ParseIssue>, f: (encoded: A) => B): Effect.Effect<B> =>
  Either.isEither(encoded) && Either.isRight(encoded)
    ? Effect.succeed(f(encoded.right as A))
    : Effect.map(Effect.orDieWith(encoded, (issue) => new ParseResult.ParseError({ issue })), f)

/**
 * Content as the handler put it, and the structured value; in words too when there are none.
 *
 * SHOULD return the serialized JSON of structured content in a text block.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#structured-content
 */
const rich = (
  { content, meta }: ToolResult<unknown>,
  structuredContent: unknown,
  verbatim: boolean
): Tools.CallToolResult =>
  withMeta({
    content: content.some(({ type }) => type === "text")
      ? content
      : [...content, text(inWords(structuredContent, verbatim))],
    structuredContent
  }, meta)

const text = (text: string): Content.ContentBlock => ({ type: "text", text })

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
