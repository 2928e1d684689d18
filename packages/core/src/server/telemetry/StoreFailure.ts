/**
 * Handles the failures of a store, such as `TaskStore` (`StoredTasks`) or `SessionDirectory` (`NodeServices`). Only the operator gets the
 * error message of the store, because this message may contain addresses and commands. The client gets the text `sentence` instead, from
 * `Refusal`, `StoredTasks` and `modern/RequestState`. While a store does not answer, any client can cause many failures. So `once` logs an
 * error only when the failures begin. `RateLimit`, `EventDatabase`, `HttpContext` and the package `auth` also use `once`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ClientLogger from "../ClientLogger.js"

/**
 * Makes a function that logs the failures of a store. The function logs the first failure, and the first failure after a success, as
 * errors. It logs all other failures at level Debug. All uses of one store must share this function. `what` is the name of the store in the
 * log. An error for which `isFailure` gives `false`, such as an error about a limit, counts as a success.
 */
export const once = <F extends { readonly message: string }>(
  what: string,
  isFailure: (error: F) => boolean = () => true
) => {
  let isAway = false
  const failed = (error: F) =>
    Effect.suspend(() => {
      const begins = !isAway
      isAway = true
      const message = `${what} failed: ${error.message}`
      return ClientLogger.forOperator(begins ? Effect.logError(message) : Effect.logDebug(message))
    })
  const answered = Effect.sync(() => {
    isAway = false
  })
  return <A, E extends F, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tapBoth(effect, {
      onFailure: (error) => isFailure(error) ? failed(error) : answered,
      onSuccess: () => answered
    })
}

/**
 * Makes a function like `once`, for a store that an application may have written itself. Turns a defect of the store into a failure, so
 * that the server answers the request that waits for the store. The log contains the defect.
 */
export const total = <F extends { readonly message: string }>(
  what: string,
  failure: (message: string) => F,
  isFailure?: (error: F) => boolean
) => {
  const logged = once(what, isFailure)
  return <A, E extends F, R>(run: () => Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
    logged(Effect.catchAllDefect(Effect.suspend(run), (defect) => Effect.fail(failure(messageOf(defect)))))
}

/** Makes the text of a defect for the log, with its stack. */
export const messageOf = (defect: unknown): string => Cause.pretty(Cause.die(defect))

/** Makes the error message for the client. `isRefused` is true when the store has refused the operation, or has not received it. */
export const sentence = (what: string, isRefused = false): string =>
  isRefused
    ? `${what} accepts nothing at the moment, and the request has not run; try again`
    : `${what} cannot be reached at the moment; try again`
