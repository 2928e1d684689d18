/**
 * Completers: functions that complete the arguments of a prompt, or the parameters of a resource template. The application passes
 * completers in an object, whose keys are the names of the arguments. An argument whose schema accepts only certain strings needs no
 * completer, because the server completes the argument with these strings.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Suggestions } from "../protocol/Completion.js"
import type { Allowed, Fails } from "./Feature.js"

/**
 * Completes one argument. A completer gets two values: the text that the user has typed, and the other arguments in their encoded form. A
 * completer returns encoded values. The client receives the first 100 values.
 *
 * @category models
 */
export type Completer<out R, out E = Fails> = (
  value: string,
  others: Readonly<Record<string, string>>
) => Effect.Effect<ReadonlyArray<string> | Suggestions, E, R>

/**
 * The completers of a prompt or of a resource template. The keys are the names of the arguments.
 *
 * @category models
 */
export type Completers<Name extends PropertyKey> = { readonly [N in Name]?: Completer<any, any> }

/**
 * Checks the types of completers: each completer may fail only with `Fails`. For any other completer this type is a sentence, which the
 * compiler shows as an error.
 *
 * @category models
 */
export type Checked<C> = {
  readonly [K in keyof C]: C[K] extends (...args: any) => never ? unknown
    : C[K] extends (...args: any) => Effect.Effect<any, infer E, any> ? Allowed<E>
    : unknown
}

/**
 * The services that these completers require.
 *
 * @category models
 */
export type Context<C> = {
  readonly [K in keyof C]-?: C[K] extends (...args: any) => never ? never
    : C[K] extends (...args: any) => Effect.Effect<any, any, infer R> ? R
    : never
}[keyof C]
