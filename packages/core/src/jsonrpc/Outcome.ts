/**
 * The outcome of a request: a result or an error, without the id of the request. A `Side` makes an `Outcome` from the exit of a handler.
 * The conversation decides whether to send the outcome, and adds the id of the request.
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
  /**
   * The rule that the result of a handler breaks; `undefined` when the result breaks no rule. The result was corrected, or is sent without
   * a change.
   */
  readonly flaw?: string | undefined
  /** The cause of a bug on this side. The outcome does not show the cause to the peer. */
  readonly died?: Cause.Cause<unknown> | undefined
  /** What the handler serves, as text for the log, such as `tool "search"`. Default: the method. */
  readonly subject?: string | undefined
  /** Whether the handler of the request did not run, because too many requests run or because the conversation closes. Default: `false`. */
  readonly isUnserved?: boolean | undefined
  /** Data about the answer that a module of `client` or `server` passes to the channel. The conversation does not read this data. */
  readonly notes?: unknown
}

/**
 * Makes the outcome of a handler from its exit: its result, or its `JsonRpcError`, or "Internal error" for any other failure.
 *
 * @category constructors
 */
export const fromExit = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return { result: exit.value as Message.Params }
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return failure instanceof JsonRpcError.JsonRpcError ? { error: failure } : died(exit.cause)
}

/**
 * Makes the outcome of a handler that died. The peer gets "Internal error", and the log gets the cause.
 *
 * @category utils
 */
export const died = (cause: Cause.Cause<unknown>): Outcome => ({ error: JsonRpcError.internal, died: cause })

/**
 * The outcome of a request that had no answer yet when the conversation closed.
 *
 * @category constants
 */
export const closing: Outcome = { error: { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" } }
