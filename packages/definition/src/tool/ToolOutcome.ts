/**
 * Converts what a tool ends with, its success or its failure, to and from a `CallToolResult`. A tool prepares these
 * functions once, when it is declared.
 *
 * `ToolResult` is the rich content that a handler may return in place of its success.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#structured-content
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type * as Content from "@effect-mcp/protocol/Content"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonSchema from "../schema/JsonSchema.js"
import * as SchemaParser from "../schema/SchemaParser.js"
import type { ToolResult } from "../ToolResult.js"
import { isToolResult } from "../ToolResult.js"

export interface ToolOutcome {
  readonly encodeSuccess: (value: unknown) => Effect.Effect<Tools.CallToolResult>
  readonly encodeFailure: (failure: unknown) => Effect.Effect<Tools.CallToolResult>
  readonly decodeSuccess: (result: Tools.CallToolResult) => Effect.Effect<any, ParseResult.ParseIssue>
  readonly decodeFailure: (result: Tools.CallToolResult) => Effect.Effect<any, ParseResult.ParseIssue>
}

type AnySchema = Schema.Schema<any, any>

/** Throws the error of Effect's parser for a schema that it cannot use. */
export const make = (schemas: {
  readonly success: AnySchema | undefined
  readonly failure: AnySchema | typeof Schema.Never
  /** The output schema that the tool advertises. */
  readonly output: JsonObject | undefined
}): ToolOutcome => ({ ...successOf(schemas.success, schemas.output), ...failureOf(schemas.failure as AnySchema) })

const successOf = (
  success: AnySchema | undefined,
  output: JsonObject | undefined
): Pick<ToolOutcome, "decodeSuccess" | "encodeSuccess"> => {
  if (success === undefined) {
    return {
      encodeSuccess: (value) =>
        isToolResult(value)
          ? Effect.sync(() => value.isError ? errorOf(value) : withMeta({ content: value.content }, value.meta))
          : typeof value === "string" || value === undefined || value === null
          ? Effect.succeed({ content: typeof value === "string" ? [text(value)] : [] })
          : Effect.dieMessage(
            `A tool without a "success" schema returns a text, a ToolResult or nothing, and this one returned ${
              Array.isArray(value) ? "an array" : `a value of type ${typeof value}`
            }: declare a "success" schema, or return a text`
          ),
      decodeSuccess: Effect.succeed
    }
  }
  const isText = output !== undefined && JsonSchema.isString(output)
  const encode = SchemaParser.encoder(success, "first")
  const decode = SchemaParser.decoder(success, "first")
  return {
    encodeSuccess: (value) =>
      !isToolResult(value)
        ? orDie(encode(value), (structuredContent) => ({
          content: [text(isText ? structuredContent as string : toJson(structuredContent))],
          structuredContent
        }))
        : value.isError
        ? Effect.sync(() => errorOf(value))
        : orDie(encode(value.structured), (structuredContent) => resultOf(value, structuredContent, isText)),
    decodeSuccess: (result) =>
      decode(
        result.structuredContent !== undefined
          ? result.structuredContent
          : isText
          ? firstText(result)
          : parse(firstText(result))
      )
  }
}

const failureOf = (failure: AnySchema): Pick<ToolOutcome, "decodeFailure" | "encodeFailure"> => {
  const isText = encodesToString(failure)
  const encode = ParseResult.encodeUnknown(failure)
  const decode = SchemaParser.decodeUnknown(failure)
  return {
    encodeFailure: (value) =>
      orDie(encode(value), (encoded) => {
        const words = isText ? undefined : ownMessage(value)
        const json = text(isText ? encoded as string : toJson(encoded))
        return { content: words === undefined ? [json] : [text(words), json], isError: true }
      }),
    // Another server may write a failure that is a string without JSON quotes.
    decodeFailure: (result) =>
      isText ? decode(firstText(result)) : Effect.firstSuccessOf([
        decode(parse(texts(result).at(-1))),
        Effect.suspend(() => decode(parse(firstText(result)))),
        Effect.suspend(() => decode(firstText(result)))
      ])
  }
}

/** The message that the author of an error gave it. Effect writes `{ "field": value }` where there is none. */
const ownMessage = (failure: unknown): string | undefined =>
  failure instanceof Error && failure.message.trim() !== "" && !/^\{ .* \}$/s.test(failure.message)
    ? failure.message
    : undefined

// A tool does not advertise its failure, so the schema need not have a JSON Schema.
const encodesToString = (schema: AnySchema): boolean =>
  !AST.isNeverKeyword(schema.ast) && Either.match(Either.try(() => JsonSchema.make(schema)), {
    onLeft: () => false,
    onRight: JsonSchema.isString
  })

/** A value that does not encode is a bug of the handler. */
const orDie = <A, B>(encoded: Effect.Effect<A, ParseResult.ParseIssue>, f: (encoded: A) => B): Effect.Effect<B> =>
  Either.isEither(encoded) && Either.isRight(encoded)
    ? Effect.succeed(f(encoded.right as A))
    : Effect.map(Effect.orDieWith(encoded, (issue) => new Error(Issue.sentence(issue))), f)

// The structured value of an error is not a success of the tool: it is not checked against the schema.
const errorOf = ({ content, meta, structured }: ToolResult<unknown>): Tools.CallToolResult => {
  if (structured !== undefined) toJson(structured)
  return withMeta(
    { content, ...(structured === undefined ? undefined : { structuredContent: structured }), isError: true },
    meta
  )
}

/** A tool that returns structured content SHOULD also return its JSON in a text block. */
const resultOf = (
  { content, meta }: ToolResult<unknown>,
  structuredContent: unknown,
  /** Whether every encoded value is a string, which is its own text. */
  isText: boolean
): Tools.CallToolResult => {
  const json = isText ? structuredContent as string : toJson(structuredContent)
  return withMeta({
    content: content.some(({ type }) => type === "text") ? content : [...content, text(json)],
    structuredContent
  }, meta)
}

const text = (text: string): Content.ContentBlock => ({ type: "text", text })

const withMeta = (result: Tools.CallToolResult, meta: JsonObject | undefined): Tools.CallToolResult => {
  if (meta === undefined) return result
  toJson(meta)
  return { ...result, _meta: meta }
}

const toJson = (value: unknown): string =>
  Either.getOrThrowWith(
    Json.strictText(value),
    (fault) => new Error(`The tool returned a value that is not JSON: ${fault}`)
  )

const texts = ({ content }: Tools.CallToolResult): ReadonlyArray<string> =>
  content.flatMap((block) => block.type === "text" ? [block.text] : [])

const firstText = (result: Tools.CallToolResult): string | undefined => texts(result)[0]

const parse = (text: string | undefined): unknown => {
  const value = text === undefined || Json.holdsMoreThan(text, Json.MAX_RESPONSE_NODES) ? undefined : Json.parse(text)
  return value instanceof Json.Refused ? undefined : value
}
