/**
 * Holds the lease of a node at a store, for `RedisSessionDirectory`, `SqlSessionDirectory`, `RedisInbox` and `SqlInbox`: renews it until
 * the scope closes, and notices in time that it is lost, also when the store does not answer.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"

export interface Lease<E> {
  /** How long the store keeps it without a renewal. */
  readonly length: Duration.DurationInput
  /** Default: a quarter of the length, so that three renewals may fail. */
  readonly renewal?: Duration.DurationInput | undefined
  readonly take: Effect.Effect<unknown, E>
  /** `false` when the store has no such lease any more. */
  readonly renew: Effect.Effect<boolean, unknown>
  readonly release: Effect.Effect<unknown, unknown>
}

/** How long a release may take. After it the store lets the lease expire. */
const RELEASE = Duration.millis(400)

/** How often a renewal that the store has refused is tried again before the next renewal is due. */
const AGAIN = 4

/** Gives an effect that waits until the lease is lost: the store has ended the lease, or was not reached for the length of the lease. */
export const hold = <E>(
  { length, release, renew, renewal, take }: Lease<E>
): Effect.Effect<Effect.Effect<void>, E, Scope.Scope> =>
  Effect.gen(function*() {
    const millis = Duration.toMillis(length)
    const lost = yield* Deferred.make<void>()
    // The clock of the process: the clock of the machine may be set meanwhile.
    const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))
    let renewed = yield* now
    yield* Effect.acquireRelease(take, () => Effect.ignore(TimeLimit.end(release, RELEASE)))
    const period = Duration.toMillis(renewal ?? millis / 4)
    const renewing = Effect.gen(function*() {
      const began = yield* now
      if (yield* renew) renewed = Math.max(renewed, began)
      else yield* Deferred.succeed(lost, undefined)
      // A store may take writes for less than a period between two times in which it takes none.
    }).pipe(Effect.retry({ times: AGAIN, schedule: Schedule.spaced(period / (AGAIN + 1)) }), Effect.ignore)
    // By this clock, so that the lease ends for this node before another node takes over.
    const expired: Effect.Effect<unknown> = Effect.flatMap(now, (at) => {
      const left = renewed + millis - at
      return left > 0 ? Effect.zipRight(Effect.sleep(left), expired) : Deferred.succeed(lost, undefined)
    })
    // At fixed times, also while the store has not answered the renewal before: it may answer this one.
    const attempt = Effect.fork(TimeLimit.end(renewing, millis))
    yield* Effect.forkScoped(Effect.repeat(attempt, Schedule.fixed(period)))
    yield* Effect.forkScoped(expired)
    return Deferred.await(lost)
  })
