/**
 * Decodes the arguments of a tool for its handler, and converts the success or the failure of the handler to a `CallToolResult`. For a
 * caller it does the reverse: it encodes arguments, and reads a success or a failure from a result. A `Tool` prepares these functions once,
 * when it is declared.
 *
 * `ToolResult` is the content that a handler may return in place of its success.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#structured-content
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type * as Content from "../../protocol/Content.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { ParseIssue } from "../../protocol/McpError.js"
import * as WrappedOutput from "../../protocol/rules/WrappedOutput.js"
import type * as Tools from "../../protocol/Tools.js"
import * as JsonSchema from "../schema/JsonSchema.js"
import * as SchemaParser from "../schema/SchemaParser.js"
import * as SchemaShape from "../schema/SchemaShape.js"
import { isToolResult, type ToolResult } from "../ToolResult.js"
import * as OwnMessage from "./OwnMessage.js"

export interface ToolCodec {
  /**
   * Decodes the arguments for the handler. An issue names every wrong argument. If the arguments are large, it names only the first wrong
   * argument.
   */
  readonly decodeArguments: (args: unknown) => Effect.Effect<any, ParseIssue>
  readonly encodeArguments: (args: unknown) => Effect.Effect<JsonObject, ParseIssue>
  readonly encodeSuccess: (value: unknown) => Effect.Effect<Tools.CallToolResult>
  readonly encodeFailure: (failure: unknown) => Effect.Effect<Tools.CallToolResult>
  readonly decodeSuccess: (result: Tools.CallToolResult) => Effect.Effect<any, ParseIssue>
  readonly decodeFailure: (result: Tools.CallToolResult) => Effect.Effect<any, ParseIssue>
}

type AnySchema = Schema.Schema<any, any>

/** Makes the functions. When Effect's parser cannot use a schema, throws the error of the parser. */
export const make = ({ failure, output, parameters, success }: {
  readonly parameters: AnySchema
  readonly success: AnySchema | undefined
  readonly failure: AnySchema | typeof Schema.Never
  /** The output schema that clients get for the tool; `undefined` for a tool that returns content only. */
  readonly output: JsonObject | undefined
}): ToolCodec => ({ ...argumentsOf(parameters), ...successOf(success, output), ...failureOf(failure as AnySchema) })

const argumentsOf = (parameters: AnySchema): Pick<ToolCodec, "decodeArguments" | "encodeArguments"> => {
  const encode = SchemaParser.encoder(parameters, "all")
  const withDefaults = constructorOf(parameters)
  return {
    decodeArguments: SchemaParser.decoder(parameters, "all"),
    encodeArguments: (args) => Effect.suspend(() => encode(withDefaults(args ?? {})))
  }
}

// A caller may leave out a parameter that has a default, but encoding needs the value.
const constructorOf = (schema: Schema.Schema<any, any>): (args: unknown) => unknown =>
  Predicate.hasProperty(schema, "fields") && Predicate.hasProperty(schema, "make")
    ? SchemaParser.withDefaults(schema)
    : (args) => args

const successOf = (
  success: AnySchema | undefined,
  output: JsonObject | undefined
): Pick<ToolCodec, "decodeSuccess" | "encodeSuccess"> => {
  if (success === undefined) {
    return {
      encodeSuccess: (value) =>
        isToolResult(value)
          ? Effect.sync(() => value.isError ? errorOf(value) : withMeta({ content: value.content }, value.meta))
          : typeof value === "string" || value === undefined || value === null
          ? Effect.succeed({ content: typeof value === "string" ? [text(value)] : [] })
          : Effect.dieMessage(
            `A tool without a "success" schema returns a text, a ToolResult or nothing, and this tool returned ${
              Array.isArray(value) ? "an array" : `a value of type ${typeof value}`
            }: declare a "success" schema, or return a text`
          ),
      decodeSuccess: Effect.succeed
    }
  }
  const isText = output !== undefined && JsonSchema.isString(output)
  const mayBeWrapped = output === undefined || WrappedOutput.allowsOthers(output)
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
    decodeSuccess: (result) => {
      const { structuredContent } = result
      if (structuredContent !== undefined) {
        return mayBeWrapped && WrappedOutput.isValue(structuredContent)
          ? Effect.orElse(decode(WrappedOutput.read(structuredContent)), () => decode(structuredContent))
          : decode(structuredContent)
      }
      const decodeText = (value: string | undefined) => decode(isText ? value : parse(value))
      // The text of a structured value is the last text. Another server may write more texts after it.
      return Effect.orElse(decodeText(texts(result).at(-1)), () => decodeText(firstText(result)))
    }
  }
}

const failureOf = (failure: AnySchema): Pick<ToolCodec, "decodeFailure" | "encodeFailure"> => {
  const isText = encodesToString(failure)
  const encode = SchemaParser.encodeUnknown(failure)
  const decode = SchemaParser.decodeUnknown(failure)
  return {
    encodeFailure: (value) =>
      orDie(encode(value), (encoded) => {
        const words = isText ? undefined : OwnMessage.of(value)
        const json = text(isText ? encoded as string : toJson(encoded))
        return { content: words === undefined ? [json] : [text(words), json], isError: true }
      }),
    // Another server may send a failure that is a string without the quotes of JSON.
    decodeFailure: (result) =>
      isText ? decode(firstText(result)) : Effect.firstSuccessOf([
        decode(parse(texts(result).at(-1))),
        Effect.suspend(() => decode(parse(firstText(result)))),
        Effect.suspend(() => decode(firstText(result)))
      ])
  }
}

// Clients get no schema of a tool's failure, so this schema need not have a JSON Schema.
const encodesToString = (schema: AnySchema): boolean =>
  !SchemaShape.isNever(schema) && Either.match(Either.try(() => JsonSchema.make(schema)), {
    onLeft: () => false,
    onRight: JsonSchema.isString
  })

/** Dies when a value does not encode, which is a bug of the handler. */
const orDie = <A, B>(encoded: Effect.Effect<A, ParseIssue>, f: (encoded: A) => B): Effect.Effect<B> => {
  const outcome = EffectInternals.outcome(encoded)
  return outcome !== undefined && Either.isRight(outcome)
    ? Effect.succeed(f(outcome.right))
    : Effect.map(Effect.orDieWith(encoded, (issue) => new Error(Issue.sentence(issue))), f)
}

// The structured value of an error is not a success of the tool, so it is not checked against the schema.
const errorOf = ({ content, meta, structured }: ToolResult<unknown>): Tools.CallToolResult => {
  if (structured === undefined) return withMeta({ content, isError: true }, meta)
  const json = toJson(structured)
  const said = Predicate.isRecord(structured) ? content : withText(content, structured, json)
  return withMeta({ content: said, structuredContent: structured, isError: true }, meta)
}

/**
 * Returns the content, with the JSON of the structured content as a text. For an object, a tool SHOULD return its JSON in a text block, so
 * texts of the handler are enough. For any other value, the tool MUST return the JSON (2026-07-28 server/tools#structured-content).
 */
const withText = (
  content: ReadonlyArray<Content.ContentBlock>,
  structured: unknown,
  json: string
): ReadonlyArray<Content.ContentBlock> =>
  content.some((block) => block.type === "text" && (block.text === json || Predicate.isRecord(structured)))
    ? content
    : [...content, text(json)]

const resultOf = (
  { content, meta }: ToolResult<unknown>,
  structuredContent: unknown,
  /** Whether every encoded value is a string. The text is then the value itself. */
  isText: boolean
): Tools.CallToolResult => {
  const json = isText ? structuredContent as string : toJson(structuredContent)
  return withMeta({ content: withText(content, structuredContent, json), structuredContent }, meta)
}

const text = (text: string): Content.ContentBlock => ({ type: "text", text })

const withMeta = (result: Tools.CallToolResult, meta: JsonObject | undefined): Tools.CallToolResult => {
  if (meta === undefined) return result
  toJson(meta)
  return { ...result, _meta: meta }
}

const toJson = (value: unknown): string =>
  Either.getOrThrowWith(
    JsonText.strictText(value),
    (fault) => new Error(`The tool returned a value that is not JSON: ${fault}`)
  )

const texts = ({ content }: Tools.CallToolResult): ReadonlyArray<string> =>
  content.flatMap((block) => block.type === "text" ? [block.text] : [])

const firstText = (result: Tools.CallToolResult): string | undefined => texts(result)[0]

const parse = (text: string | undefined): unknown => {
  const value = text === undefined || JsonText.holdsMoreThan(text, JsonText.MAX_RESPONSE_NODES)
    ? undefined
    : JsonText.parse(text)
  return value instanceof JsonText.Refused ? undefined : value
}
