/**
 * From the way a handler ended to what the peer is told. Total: whatever the handler's own mapping does, there is an
 * answer, because it is given from a fiber's observer, and an observer that throws ends the process. So this is the room
 * that catches what the application throws.
 *
 * Whether there is an answer at all is decided in `InFlight`, from the reason that whoever interrupted has recorded; never
 * here, from the shape of the exit.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"

/**
 * An answer without its id. `died` carries the cause when the answer hides a bug of ours from the peer.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome =
  | { readonly result: Message.Params; readonly error?: undefined; readonly died?: undefined }
  | {
    readonly result?: undefined
    readonly error: JsonRpcError.ErrorObject
    readonly died?: Cause.Cause<unknown> | undefined
  }

/**
 * The answer to a handler of the plain kind: its result, its `JsonRpcError`, or "Internal error".
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromExit = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return { result: exit.value as Message.Params }
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return failure instanceof JsonRpcError.JsonRpcError ? { error: failure } : died(exit.cause)
}

/**
 * Says "Internal error" to the peer and the cause to the operator.
 *
 * @since 0.1.0
 * @category constructors
 */
export const died = (cause: Cause.Cause<unknown>): Outcome => ({ error: JsonRpcError.internal, died: cause })

/**
 * The answer to a request that was in flight when the conversation closed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const closing: Outcome = { error: { code: JsonRpcError.UNAVAILABLE, message: "Connection closed" } }

/**
 * Runs code of the application that stands outside of any fiber; what it throws is a defect, and `onThrow` goes on from
 * it.
 *
 * @since 0.1.0
 * @category running
 */
export const attempt = <A>(run: () => A, onThrow: (defect: Cause.Cause<never>) => A): A => {
  try {
    return run()
  } catch (error) {
    return onThrow(Cause.die(error))
  }
}

/**
 * Asks `reply` for the answer, and answers "Internal error" if it throws or gives none.
 *
 * @since 0.1.0
 * @category conversions
 */
export const total = (
  exit: Exit.Exit<unknown, unknown>,
  reply: (exit: Exit.Exit<unknown, unknown>) => Outcome
): Outcome => {
  try {
    const given = reply(exit)
    return isAnswer(given) ? given : died(Cause.die(new TypeError("A handler gave neither a result nor an error")))
  } catch (error) {
    return died(Cause.die(error))
  }
}

const isAnswer = ({ error, result }: Outcome): boolean =>
  error === undefined
    ? typeof result === "object" && result !== null && !Array.isArray(result)
    : Number.isInteger(error.code) && typeof error.message === "string"

/**
 * @since 0.1.0
 * @category conversions
 */
export const toMessage = (id: Message.RequestId, reply: Outcome): Message.Response =>
  reply.error === undefined ? Message.success(id, reply.result) : Message.failure(id, reply.error)
