/**
 * How a request ended: with a result or an error, but without an id. A `Side` maps the exit of a handler to an `Outcome`. The conversation
 * decides whether to send the outcome, and adds the id of the request.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as JsonRpcError from "./JsonRpcError.js"
import type * as Message from "./Message.js"

/** @category models */
export type Outcome =
  | Reported & { readonly result: Message.Params; readonly error?: undefined }
  | Reported & { readonly result?: undefined; readonly error: JsonRpcError.ErrorObject }

interface Reported {
  /** The rule that the result of a handler breaks; `undefined` when it breaks none. The result was corrected, or it is sent as it is. */
  readonly flaw?: string | undefined
  /** The cause, if the outcome hides a bug of this side from the peer. */
  readonly died?: Cause.Cause<unknown> | undefined
  /** What the handler serves, in words for the operator: `tool "search"`. Default: the method. */
  readonly subject?: string | undefined
  /**
   * Whether the handler of the request did not run, because there was no place for the request or because the conversation closes. Default:
   * `false`.
   */
  readonly isUnserved?: boolean | undefined
  /**
   * What a caller of the conversation (`client`, `server`) tells the channel about the answer. The conversation does not read these notes.
   */
  readonly notes?: unknown
}

/**
 * The outcome of a handler: its result, or its `JsonRpcError`, or "Internal error" for any other failure.
 *
 * @category constructors
 */
export const fromExit = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return { result: exit.value as Message.Params }
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return failure instanceof JsonRpcError.JsonRpcError ? { error: failure } : died(exit.cause)
}

/**
 * The outcome of a handler that died: "Internal error" for the peer, and the cause for the operator.
 *
 * @category utils
 */
export const died = (cause: Cause.Cause<unknown>): Outcome => ({ error: JsonRpcError.internal, died: cause })

/**
 * The outcome of a request that was in flight when the conversation closed.
 *
 * @category constants
 */
export const closing: Outcome = { error: { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" } }
