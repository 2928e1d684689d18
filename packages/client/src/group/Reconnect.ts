/**
 * Keeps a connection alive: connects, waits until the connection ends, and connects again as a schedule says. It knows
 * nothing of sessions and groups.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

/** An open connection: what it gives, and the wait for its end. */
export type Connection<A> = readonly [value: A, ended: Effect.Effect<void>]

/**
 * Connects, each time in a scope of its own, which is closed before the next time. The first time completes `first`, with
 * what it gives or with its failure, and only after a success there is a next time. Ends when the schedule does, or after
 * one connection without a schedule. The schedule starts anew after each connection that was established.
 */
export const run = <A, E, R>(
  connect: Effect.Effect<Connection<A>, E, R>,
  schedule: Schedule.Schedule<unknown, unknown> | undefined,
  first: Deferred.Deferred<A, E>
): Effect.Effect<void, never, Exclude<R, Scope.Scope>> => {
  const connection = Effect.scoped(
    Effect.flatMap(connect, ([value, ended]) => Effect.zipRight(Deferred.succeed(first, value), ended))
  )
  // Succeeds with whether the connection was established.
  const again = Effect.matchEffect(connection, {
    onFailure: (error) => Effect.as(Effect.logWarning("A server of the group does not come back yet", error), false),
    onSuccess: () => Effect.succeed(true)
  })
  const next = schedule === undefined ? Effect.void : Effect.scheduleFrom(again, true, restarted(schedule))
  return Effect.matchCauseEffect(connection, {
    onFailure: (cause) => Deferred.failCause(first, cause),
    onSuccess: () => next
  })
}

/** The schedule, from its beginning after each `true`. */
const restarted = (schedule: Schedule.Schedule<unknown, unknown>): Schedule.Schedule<boolean, boolean> =>
  Schedule.resetWhen(
    Schedule.passthrough(Schedule.mapInput(schedule, (_: boolean) => undefined)),
    (established) => established
  )
