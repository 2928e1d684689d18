/**
 * Keeps a connection of a `ClientSessionGroup` alive: connects, waits until the connection ends, and connects again according to a
 * schedule. This module does not depend on sessions or groups.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as ScopeEnd from "../../kit/ScopeEnd.js"

/** An open connection: its value, and an effect that waits for its end. */
export type Connection<A> = readonly [value: A, ended: Effect.Effect<void>]

export interface Options {
  /** What is connected, in words for the log. */
  readonly name: string
  readonly schedule: Schedule.Schedule<unknown, unknown>
}

/**
 * Connects again and again. Each connection has its own scope, which is closed before the next connection. The first connection completes
 * `first` with its value or its failure. Further connections follow only after a success of the first. The effect ends when the schedule
 * ends; without options it ends after one connection.
 */
export const run = <A, E, R>(
  connect: Effect.Effect<Connection<A>, E, R>,
  options: Options | undefined,
  first: Deferred.Deferred<A, E>
): Effect.Effect<void, never, Exclude<R, Scope.Scope>> => {
  // Succeeds with the time for which the connection lasted.
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
    // The schedule starts at its beginning.
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

/** How long a connection must last so that the schedule starts again at its beginning. */
const RESET_AFTER = "1 minute"

/** Makes the schedule start again at its beginning after each connection that lasted long enough. */
const restarted = ({ schedule }: Options): Schedule.Schedule<Duration.Duration, Duration.Duration> =>
  Schedule.resetWhen(
    Schedule.passthrough(Schedule.mapInput(schedule, (_: Duration.Duration) => undefined)),
    Duration.greaterThanOrEqualTo(RESET_AFTER)
  )
