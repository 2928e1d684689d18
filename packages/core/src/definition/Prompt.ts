/**
 * A prompt as a value: its name, and the schemas of its arguments. Clients send every argument as a string.
 *
 * `McpServer.prompt` takes the prompt, and the handler that makes its messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import type { Icon } from "../protocol/Implementation.js"
import type { JsonObject } from "../protocol/Json.js"
import type { ParseIssue } from "../protocol/McpError.js"
import type * as Prompts from "../protocol/Prompts.js"
import * as JsonSchema from "./schema/JsonSchema.js"
import * as SchemaParser from "./schema/SchemaParser.js"
import * as SchemaShape from "./schema/SchemaShape.js"
import { quoted } from "./text/Quoted.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/Prompt")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export interface Prompt<Name extends string, Parameters, Arguments> {
  readonly [TypeId]: TypeId
  readonly _tag: "Prompt"
  readonly name: Name
  /** The entry of `prompts/list`. */
  readonly advertised: Prompts.Prompt
  /**
   * The allowed strings of an argument, by the name of the argument. The map has only the arguments whose schema allows only certain
   * strings.
   */
  readonly enumValues: ReadonlyMap<string, ReadonlyArray<string>>
  readonly codec: Codec<Parameters, Arguments>
  /** The scopes that a user needs for each use. The user needs all of them. Clients do not get the scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
}

/**
 * Converts between typed arguments and the strings that MCP sends.
 *
 * @category models
 */
export interface Codec<Parameters, Arguments> {
  decode(args: unknown): Effect.Effect<Parameters, ParseIssue>
  encode(args: Arguments): Effect.Effect<Readonly<Record<string, string>>, ParseIssue>
}

/** @category constants */
export declare namespace Prompt {
  export type Any = Prompt<string, any, any>

  /** What a handler receives: the decoded arguments, with defaults filled in. */
  export type Parameters<P> = P extends Prompt<any, infer A, any> ? A : never

  /** What a caller passes: the arguments. An argument that has a default is optional. */
  export type Arguments<P> = P extends Prompt<any, any, infer A> ? A : never
}

/**
 * What a handler may return: the text of one user message, a list of messages, or the whole result.
 *
 * @category models
 */
export type Messages = string | ReadonlyArray<Prompts.PromptMessage> | Prompts.GetPromptResult

/**
 * Accepts fields that are encoded as strings, because clients send every argument of a prompt as a string. For any other field, the type is
 * a sentence that the compiler shows as the error.
 *
 * @category models
 */
export type StringFields<Fields extends Schema.Struct.Fields> = {
  readonly [Name in keyof Fields]: Schema.Struct.Encoded<{ readonly field: Fields[Name] }> extends
    { readonly [key: string]: string | undefined } ? Fields[Name]
    : `The argument "${Name & string}" must be encoded as a string: use a schema such as Schema.NumberFromString`
}

/** @category models */
export interface Options<Fields> {
  /** The name to show to people. Default: the `name`. */
  readonly title?: string | undefined
  /** What the prompt is for. It helps the user to choose a prompt. */
  readonly description?: string | undefined
  /**
   * The arguments: schemas that encode to strings. Clients get their `title` and `description` annotations. Default: none.
   */
  readonly arguments?: Fields | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** The scopes that a user needs to get the prompt. The user needs all of them; see `Feature.requires` of the server. Default: none. */
  readonly requires?: ReadonlyArray<string> | undefined
  /** The `_meta` of the advertised prompt. */
  readonly meta?: JsonObject | undefined
}

/**
 * Declares a prompt. Throws when the prompt or an argument has no name, when two arguments share a name, or when an
 * argument does not encode to a string.
 *
 * @example
 * ```ts
 * import * as Prompt from "@effect-mcp/core/Prompt"
 * import { Schema } from "effect"
 *
 * export const Review = Prompt.make("review", {
 *   description: "Asks for a review of some code.",
 *   arguments: { code: Schema.String, language: Schema.optionalWith(Schema.String, { default: () => "TypeScript" }) }
 * })
 * ```
 * @category constructors
 */
export const make = <const Name extends string, Fields extends Schema.Struct.Fields = {}>(
  name: Name,
  options: Options<Fields & StringFields<Fields>> = {}
): Prompt<Name, Schema.Simplify<Schema.Struct.Type<Fields>>, Schema.Simplify<Schema.Struct.Constructor<Fields>>> => {
  if (name.trim() === "") throw new Error("Prompt: give the prompt a name that is not empty")
  const schema = Either.getOrThrowWith(
    Either.try(() => Schema.Struct((options.arguments ?? {}) as Schema.Struct.Fields)),
    (cause) => new Error(`Prompt ${quoted(name)}: Effect refuses its arguments\n${String(cause)}`, { cause })
  )
  const codec = schema as unknown as Schema.Schema<any, any>
  const advertised = argumentsOf(name, codec)
  const encode = SchemaParser.encodeUnknown(codec)
  const withDefaults = SchemaParser.withDefaults(codec)
  return {
    [TypeId]: TypeId,
    _tag: "Prompt",
    name,
    advertised: JsonText.defined({
      name,
      title: options.title,
      description: options.description,
      arguments: advertised.length === 0 ? undefined : advertised,
      icons: options.icons,
      _meta: options.meta
    }),
    enumValues: SchemaShape.enumValues(codec),
    requires: options.requires,
    codec: {
      decode: SchemaParser.decodeUnknown(codec),
      encode: (args) =>
        Effect.suspend(() => encode(withDefaults(args ?? {}))) as Effect.Effect<
          Readonly<Record<string, string>>,
          ParseIssue
        >
    }
  }
}

/** @category guards */
export const isPrompt = (u: unknown): u is Prompt.Any => Predicate.hasProperty(u, TypeId)

/**
 * Makes a message of the user.
 *
 * @category utils
 */
export const user = (content: string | Prompts.PromptMessage["content"]): Prompts.PromptMessage =>
  message("user", content)

/**
 * Makes a message of the model.
 *
 * @category utils
 */
export const assistant = (content: string | Prompts.PromptMessage["content"]): Prompts.PromptMessage =>
  message("assistant", content)

/**
 * Makes the result of `prompts/get` from what a handler returned.
 *
 * @category utils
 */
export const toResult = (messages: Messages, description: string | undefined): Prompts.GetPromptResult => {
  if (Predicate.hasProperty(messages, "messages")) return messages
  return JsonText.defined({ description, messages: typeof messages === "string" ? [user(messages)] : messages })
}

const message = (
  role: "assistant" | "user",
  content: string | Prompts.PromptMessage["content"]
): Prompts.PromptMessage => ({ role, content: typeof content === "string" ? { type: "text", text: content } : content })

/** Returns the arguments of a prompt, as clients get them. Throws when a field has no usable name, or is not encoded as a string. */
const argumentsOf = (prompt: string, schema: Schema.Schema<any, any>): ReadonlyArray<Prompts.PromptArgument> => {
  const fields = SchemaShape.encodedFields(schema)
  for (const { isString, name } of fields) {
    if (typeof name !== "string" || name.trim() === "" || name === "__proto__") {
      throw new Error(
        `Prompt ${quoted(prompt)}: rename the argument ${quoted(String(name))}: ` +
          `a name is a string, not empty, and not "__proto__"`
      )
    }
    if (!isString) {
      throw new Error(
        `Prompt ${quoted(prompt)}: the argument ${quoted(name)} must be encoded as a string: ` +
          "use a schema that decodes strings, such as Schema.NumberFromString"
      )
    }
  }
  const { properties } = JsonSchema.make(schema) as { readonly properties?: Properties }
  return fields.map(({ isOptional, name: key }) => {
    const name = String(key)
    const { description, title } = properties?.[name] ?? {}
    return JsonText.defined({ name, title, description, required: !isOptional })
  })
}

type Properties = { readonly [name: string]: { readonly description?: string; readonly title?: string } }
