/**
 * Renews the lease of a node in a store, for `RedisSessionDirectory`, `SqlSessionDirectory`, `RedisInbox` and `SqlInbox`. A lease is an
 * entry that expires when the node does not renew it. When the entry has expired, the other nodes treat the node as ended. This module
 * renews the lease until the scope closes. It notices when the lease is lost, even when the store does not answer.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"

export interface Lease<E> {
  /** How long the store keeps the lease without a renewal. */
  readonly length: Duration.DurationInput
  /** The time between two renewals. Default: a quarter of `length`, so that three renewals may fail. */
  readonly renewal?: Duration.DurationInput | undefined
  readonly take: Effect.Effect<unknown, E>
  /** Renews the lease. Gives `false` when the store does not have the lease any more. */
  readonly renew: Effect.Effect<boolean, unknown>
  readonly release: Effect.Effect<unknown, unknown>
}

/** How long the release of the lease may take. If the release does not succeed, the lease expires in the store. */
const RELEASE = Duration.millis(400)

/** How many times a failed renewal is tried again before the next renewal begins. */
const AGAIN = 4

/**
 * Takes the lease and renews it. Gives an effect that ends when the lease is lost: the store no longer has the lease, or the store did not
 * answer for the length of the lease.
 */
export const hold = <E>(
  { length, release, renew, renewal, take }: Lease<E>
): Effect.Effect<Effect.Effect<void>, E, Scope.Scope> =>
  Effect.gen(function*() {
    const millis = Duration.toMillis(length)
    const lost = yield* Deferred.make<void>()
    // The monotonic clock of the process, because somebody may change the clock of the machine.
    const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))
    let renewed = yield* now
    yield* Effect.acquireRelease(take, () => Effect.ignore(TimeLimit.end(release, RELEASE)))
    const period = Duration.toMillis(renewal ?? millis / 4)
    const renewing = Effect.gen(function*() {
      const began = yield* now
      if (yield* renew) renewed = Math.max(renewed, began)
      else yield* Deferred.succeed(lost, undefined)
      // This code tries again, because a failing store may accept writes only for short times.
    }).pipe(Effect.retry({ times: AGAIN, schedule: Schedule.spaced(period / (AGAIN + 1)) }), Effect.ignore)
    // Measured with the clock of this process, so that the lease ends at this node before another node takes over.
    const expired: Effect.Effect<unknown> = Effect.flatMap(now, (at) => {
      const left = renewed + millis - at
      return left > 0 ? Effect.zipRight(Effect.sleep(left), expired) : Deferred.succeed(lost, undefined)
    })
    // Renewals begin at fixed times, even when the store has not answered the previous renewal.
    const attempt = Effect.fork(TimeLimit.end(renewing, millis))
    yield* Effect.forkScoped(Effect.repeat(attempt, Schedule.fixed(period)))
    yield* Effect.forkScoped(expired)
    return Deferred.await(lost)
  })
