/**
 * What completes the arguments of a prompt, or the parameters of a resource template: functions by the argument's name.
 * Arguments that can only be one of a few strings need none: those strings complete them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import * as Effect from "effect/Effect"
import type { Fails } from "./Feature.js"
import { among } from "./features/Completion.js"
import type * as Registry from "./Registry.js"

/**
 * Completes one argument: given what is there of it, and the other arguments as they are. The strings are as they stand on
 * the wire; of more than 100, the first 100 are said.
 *
 * @since 0.1.0
 * @category models
 */
export type Completer<out R> = (
  value: string,
  others: Readonly<Record<string, string>>
) => Effect.Effect<ReadonlyArray<string> | Suggestions, Fails, R>

/**
 * Completers by the name of the argument.
 *
 * @since 0.1.0
 * @category models
 */
export type Completers<Name extends PropertyKey> = { readonly [N in Name]?: Completer<any> }

/**
 * What they need.
 *
 * @since 0.1.0
 * @category models
 */
export type Context<C> = {
  readonly [K in keyof C]: C[K] extends (...args: any) => never ? never
    : C[K] extends (...args: any) => Effect.Effect<any, any, infer R> ? R
    : never
}[keyof C]

/**
 * The completers of a promise: those that are given, and for the rest the strings that an argument may be.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toRegistered = (
  given: Completers<string>,
  choices: ReadonlyMap<string, ReadonlyArray<string>>
): Registry.Completers =>
  new Map([
    ...[...choices].map(([name, values]) => [name, among(values)] as const),
    ...Object.entries(given).flatMap(([name, complete]) =>
      complete === undefined ? [] : [[name, suggesting(complete)] as const]
    )
  ])

const suggesting =
  (complete: Completer<any>) =>
  (value: string, others: Readonly<Record<string, string>>): Effect.Effect<Suggestions, unknown, any> =>
    Effect.map(
      complete(value, others),
      (given) => isList(given) ? { values: given, total: given.length, hasMore: false } : given
    )

const isList = (given: ReadonlyArray<string> | Suggestions): given is ReadonlyArray<string> => Array.isArray(given)
