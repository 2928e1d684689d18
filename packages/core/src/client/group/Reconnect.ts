/**
 * Keeps a connection of a `ClientSessionGroup` alive: connects, waits until the connection ends, and connects again as a schedule says.
 * This module knows nothing of sessions and groups.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as ScopeEnd from "../../kit/ScopeEnd.js"

/** An open connection: what it gives, and the wait for its end. */
export type Connection<A> = readonly [value: A, ended: Effect.Effect<void>]

export interface Options {
  /** What is connected, for the log. */
  readonly name: string
  readonly schedule: Schedule.Schedule<unknown, unknown>
}

/**
 * Connects, each time in a scope of its own, which is closed before the next time. The first connection completes `first`
 * with its value or its failure; others follow only after a success. Ends with the schedule; without options, after one
 * connection.
 */
export const run = <A, E, R>(
  connect: Effect.Effect<Connection<A>, E, R>,
  options: Options | undefined,
  first: Deferred.Deferred<A, E>
): Effect.Effect<void, never, Exclude<R, Scope.Scope>> => {
  // Succeeds with how long the connection lasted.
  const connection = ScopeEnd.scoped(
    Effect.flatMap(
      connect,
      ([value, ended]) =>
        Effect.zipRight(Deferred.succeed(first, value), Effect.map(Effect.timed(ended), ([lasted]) => lasted))
    )
  )
  const next = options === undefined ? Effect.void : Effect.scheduleFrom(
    Effect.catchAll(
      connection,
      (error) => Effect.as(Effect.logWarning(`${options.name} does not come back yet`, error), Duration.zero)
    ),
    // The schedule is at its beginning.
    Duration.zero,
    restarted(options)
  ).pipe(
    Effect.catchAllDefect((defect) => Effect.logError(`${options.name} does not come back: connecting died`, defect))
  )
  return Effect.matchCauseEffect(connection, {
    onFailure: (cause) => Deferred.failCause(first, cause),
    onSuccess: () => next
  })
}

/** How long a connection must last for the schedule to start anew after its end. */
const RESET_AFTER = "1 minute"

/** The schedule, from its beginning after each connection that lasted long enough. */
const restarted = ({ schedule }: Options): Schedule.Schedule<Duration.Duration, Duration.Duration> =>
  Schedule.resetWhen(
    Schedule.passthrough(Schedule.mapInput(schedule, (_: Duration.Duration) => undefined)),
    Duration.greaterThanOrEqualTo(RESET_AFTER)
  )
