/**
 * A prompt as a value: its name and the arguments that make messages of it. Arguments are strings on the wire; schemas say
 * what the strings mean.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
import type { Icon } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as PromptArguments from "./prompt/PromptArguments.js"
import * as EnumValues from "./schema/EnumValues.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/Prompt")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export interface Prompt<Name extends string, Parameters, Arguments> {
  readonly [TypeId]: TypeId
  readonly _tag: "Prompt"
  readonly name: Name
  /** What `prompts/list` says of it. */
  readonly advertised: Prompts.Prompt
  /** What each argument may be that can only be one of some strings. */
  readonly choices: EnumValues.EnumValues
  /** @internal */
  readonly codec: Codec<Parameters, Arguments>
}

/**
 * Between arguments and the strings of the wire.
 *
 * @since 0.1.0
 * @category models
 */
export interface Codec<Parameters, Arguments> {
  decode(args: unknown): Effect.Effect<Parameters, ParseResult.ParseIssue>
  encode(args: Arguments): Effect.Effect<Readonly<Record<string, string>>, ParseResult.ParseIssue>
}

/**
 * Helper types of prompts.
 *
 * @since 0.1.0
 */
export declare namespace Prompt {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = Prompt<string, any, any>

  /**
   * What a handler is given: decoded, with defaults.
   *
   * @since 0.1.0
   * @category models
   */
  export type Parameters<P> = P extends Prompt<any, infer A, any> ? A : never

  /**
   * What a caller gives: what has a default may be left out.
   *
   * @since 0.1.0
   * @category models
   */
  export type Arguments<P> = P extends Prompt<any, any, infer A> ? A : never
}

/**
 * What a handler may return: one message of the user's, messages, or the whole result.
 *
 * @since 0.1.0
 * @category models
 */
export type Messages = string | ReadonlyArray<Prompts.PromptMessage> | Prompts.GetPromptResult

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<Fields> {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** What it takes: each a string on the wire. Their `description` and `title` annotations are advertised. Default: nothing. */
  readonly arguments?: Fields | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * Declares a prompt. Throws when it or an argument has no name, or an argument is not a string on the wire.
 *
 * @example
 * ```ts
 * import { Prompt } from "@effect-mcp/definition"
 * import { Schema } from "effect"
 *
 * export const Review = Prompt.make("review", {
 *   description: "Asks for a review of some code.",
 *   arguments: { code: Schema.String, language: Schema.optionalWith(Schema.String, { default: () => "TypeScript" }) }
 * })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Name extends string, Fields extends Schema.Struct.Fields = {}>(
  name: Name,
  options: Options<Fields> = {}
): Prompt<Name, Schema.Simplify<Schema.Struct.Type<Fields>>, Schema.Simplify<Schema.Struct.Constructor<Fields>>> => {
  if (name.trim() === "") throw new Error("Prompt: it needs a name")
  const schema = Either.getOrThrowWith(
    Either.try(() => Schema.Struct((options.arguments ?? {}) as Schema.Struct.Fields)),
    (cause) => new Error(`Prompt "${name}": its arguments cannot be used\n${String(cause)}`, { cause })
  )
  const plain = schema as unknown as Schema.Schema<any, any>
  const args = PromptArguments.make(name, plain)
  const encode = ParseResult.encodeUnknown(plain)
  return {
    [TypeId]: TypeId,
    _tag: "Prompt",
    name,
    advertised: {
      name,
      ...(options.title === undefined ? undefined : { title: options.title }),
      ...(options.description === undefined ? undefined : { description: options.description }),
      ...(args.length === 0 ? undefined : { arguments: args }),
      ...(options.icons === undefined ? undefined : { icons: options.icons }),
      ...(options.meta === undefined ? undefined : { _meta: options.meta })
    },
    choices: EnumValues.make(plain),
    codec: {
      decode: ParseResult.decodeUnknown(plain),
      encode: (given) =>
        Effect.suspend(() => encode(schema.make((given ?? {}) as never, { disableValidation: true }))) as Effect.Effect<
          Readonly<Record<string, string>>,
          ParseResult.ParseIssue
        >
    }
  }
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isPrompt = (u: unknown): u is Prompt.Any => Predicate.hasProperty(u, TypeId)

/**
 * A message of the user's.
 *
 * @since 0.1.0
 * @category messages
 */
export const user = (content: string | Prompts.PromptMessage["content"]): Prompts.PromptMessage =>
  message("user", content)

/**
 * A message of the model's.
 *
 * @since 0.1.0
 * @category messages
 */
export const assistant = (content: string | Prompts.PromptMessage["content"]): Prompts.PromptMessage =>
  message("assistant", content)

/**
 * What a handler's messages say on the wire.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toResult = (messages: Messages, description: string | undefined): Prompts.GetPromptResult => {
  if (typeof messages !== "string" && "messages" in messages) return messages
  return {
    ...(description === undefined ? undefined : { description }),
    messages: typeof messages === "string" ? [user(messages)] : messages
  }
}

const message = (
  role: "assistant" | "user",
  content: string | Prompts.PromptMessage["content"]
): Prompts.PromptMessage => ({ role, content: typeof content === "string" ? { type: "text", text: content } : content })
