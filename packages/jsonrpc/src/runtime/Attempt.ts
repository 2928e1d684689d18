/**
 * Calls functions of the application outside of any fiber: in the read loop and in the observers of fibers, where an
 * exception would end the process. What they throw becomes a defect. It knows no message.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Outcome from "../Outcome.js"

/** Calls `run`; passes what it throws to `onThrow`, as a defect. */
export const attempt = <A>(run: () => A, onThrow: (defect: Cause.Cause<never>) => A): A => {
  try {
    return run()
  } catch (error) {
    return onThrow(Cause.die(error))
  }
}

/** Calls `reply`. The outcome is "Internal error" if it throws or returns no valid outcome. */
export const outcomeOf = (
  exit: Exit.Exit<unknown, unknown>,
  reply: (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome
): Outcome.Outcome => {
  try {
    const outcome = reply(exit)
    return isValid(outcome)
      ? outcome
      : Outcome.died(Cause.die(new TypeError("A handler returned neither a result nor an error")))
  } catch (error) {
    return Outcome.died(Cause.die(error))
  }
}

const isValid = ({ error, result }: Outcome.Outcome): boolean =>
  error === undefined
    ? typeof result === "object" && result !== null && !Array.isArray(result)
    : Number.isInteger(error.code) && typeof error.message === "string"
