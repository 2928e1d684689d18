/**
 * A law is a check that every implementation of a service must pass. The check is an effect, so it runs with any test runner. Each module
 * whose name ends in "Laws" has the laws of one service. Run these laws in the tests of your implementation.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** @category errors */
export class LawBroken extends Data.TaggedError("LawBroken")<{ readonly law: string; readonly message: string }> {}

/** @category models */
export interface Law<in Subject> {
  /** A sentence that can be the name of a test. */
  readonly name: string
  /** Checks the implementation that `make` makes. Fails when the implementation breaks the law, and when an operation fails or dies. */
  readonly check: <E, R>(
    make: Effect.Effect<Subject, E, R | Scope.Scope>
  ) => Effect.Effect<void, E | LawBroken, Exclude<R, Scope.Scope>>
}

/**
 * A function that fails with `message` when `isKept` is false.
 *
 * @category models
 */
export type Expect = (isKept: boolean, message: string) => Effect.Effect<void, LawBroken>

/**
 * Makes a law. `body` is the check. It gets the implementation under test (`subject`), a function that fails when a condition is false
 * (`expect`), and an effect that closes the scope of the implementation (`release`). A law about closing runs `release` and then checks the
 * result.
 *
 * @category constructors
 */
export const make = <Subject>(
  name: string,
  body: (subject: Subject, expect: Expect, release: Effect.Effect<void>) => Effect.Effect<void, unknown, Scope.Scope>
): Law<Subject> => {
  const broken = (message: string) => new LawBroken({ law: name, message })
  const expect: Expect = (isKept, message) => isKept ? Effect.void : Effect.fail(broken(message))
  return {
    name,
    check: (make) =>
      Effect.scoped(Effect.gen(function*() {
        const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
        const subject = yield* Scope.extend(make, scope)
        yield* Effect.catchAllCause(body(subject, expect, Scope.close(scope, Exit.void)), (cause) => {
          const [failure] = Cause.failures(cause)
          return failure instanceof LawBroken
            ? Effect.fail(failure)
            : Cause.isInterruptedOnly(cause)
            ? Effect.interrupt
            : Effect.fail(broken(Cause.pretty(cause)))
        })
      }))
  }
}
