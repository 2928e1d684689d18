/**
 * Waits for what an application releases, such as its session layer (`server/runtime/SessionLayer`), and for a limited time only. A
 * release cannot be interrupted: when the time is over, a release that hangs goes on, nobody waits for the release any more, and the
 * release is reported. The server's parts that end sessions, queues and features call this module, such as `server/dispatch/Conversations` and `server/dispatch/Build`, and so does
 * `client/Client`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { SerialQueue } from "./SerialQueue.js"
import * as TimeLimit from "./TimeLimit.js"

/** Runs a release and waits for its end, no longer than the limit. `what` names it in the report. */
export const within = (
  release: Effect.Effect<void>,
  what: string,
  limit: Duration.DurationInput = TimeLimit.CLOSE
): Effect.Effect<void> =>
  Effect.uninterruptible(Effect.flatMap(
    Effect.forkDaemon(release),
    (fiber) =>
      Effect.flatMap(TimeLimit.exit(fiber, limit), (exit) =>
        exit ??
          Effect.logWarning(
            `${what} took longer than ${Duration.format(limit)} to release, and still runs: ` +
              `closing no longer waits for it`
          ))
  ))

/** Stops a queue, and waits for the task that runs, no longer than the limit. */
export const stop = (queue: SerialQueue | undefined, limit?: Duration.DurationInput): Effect.Effect<void> =>
  Effect.suspend(() => {
    const fiber = queue?.stop()
    return fiber === undefined ? Effect.void : Effect.asVoid(TimeLimit.exit(fiber, limit))
  })

/** A scope that closes with the current one, within the limit. */
export const scope = (
  what: string,
  limit?: Duration.DurationInput
): Effect.Effect<Scope.CloseableScope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (own, exit) => within(Scope.close(own, exit), what, limit))

/** A fiber that the end of the current scope interrupts, and waits for within the limit. */
export const fork = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  what: string,
  limit?: Duration.DurationInput
): Effect.Effect<unknown, never, R | Scope.Scope> =>
  Effect.acquireRelease(
    Effect.forkDaemon(Effect.interruptible(effect)),
    (fiber) => within(Effect.asVoid(Fiber.interrupt(fiber)), what, limit)
  )
