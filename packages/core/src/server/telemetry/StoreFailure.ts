/**
 * What happens when a store fails, such as `TaskStore` (`StoredTasks`) or `SessionDirectory` (`NodeServices`). The message of the store is
 * for the operator, because it may name addresses and commands. The client reads `sentence` instead; `Refusal`, `StoredTasks` and
 * `modern/RequestState` send it. Any client can cause many failures while a store does not answer. So `once` logs an error only when the
 * failures begin, for these modules and for `RateLimit`, `EventDatabase`, `HttpContext` and package `auth`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ClientLogger from "../ClientLogger.js"

/**
 * Makes a function that logs the failures of a store. The first failure, and the first failure after a success, are logged as errors. Every
 * other failure is logged at level Debug. All uses of one store must share this function. `what` names the store, also for the client. An
 * error for which `isFailure` gives `false`, such as an error about a limit, counts as a success.
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
 * `once` for a store that an application has written. A defect of the store becomes a failure, so the request that waits for the store is
 * answered, and the log has the defect.
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

/** The text of a defect for the log, with its stack. */
export const messageOf = (defect: unknown): string => Cause.pretty(Cause.die(defect))

/** The sentence for the client. `isRefused`: the store has refused the operation, or has not received it. */
export const sentence = (what: string, isRefused = false): string =>
  isRefused
    ? `${what} takes nothing at the moment, and nothing has run; try again`
    : `${what} cannot be reached at the moment; try again`
