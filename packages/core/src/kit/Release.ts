/**
 * Waits for a limited time until a part of an application is released, such as its session layer (`server/runtime/SessionLayer`). A release
 * cannot be interrupted. When the time is over, the caller stops waiting, the release goes on, and a warning is logged. The modules of a
 * server that end sessions, queues and features call this module, such as `server/dispatch/Conversations` and `server/dispatch/Build`.
 * `client/Client` calls it, too.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { SerialQueue } from "./SerialQueue.js"
import * as TimeLimit from "./TimeLimit.js"

/**
 * Runs a release and waits for its end, at most for `limit`. The warning names the release with `what`. Default limit: `TimeLimit.CLOSE`, 5
 * seconds.
 */
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

/** Stops a queue, and waits for the end of the task that runs, at most for `limit`. Default limit: `TimeLimit.CLOSE`, 5 seconds. */
export const stop = (queue: SerialQueue | undefined, limit?: Duration.DurationInput): Effect.Effect<void> =>
  Effect.suspend(() => {
    const fiber = queue?.stop()
    return fiber === undefined ? Effect.void : Effect.asVoid(TimeLimit.exit(fiber, limit))
  })

/**
 * Makes a scope that closes with the current scope. The closing of the current scope waits for it at most for `limit`. Default limit:
 * `TimeLimit.CLOSE`, 5 seconds.
 */
export const scope = (
  what: string,
  limit?: Duration.DurationInput
): Effect.Effect<Scope.CloseableScope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (own, exit) => within(Scope.close(own, exit), what, limit))

/**
 * Starts a fiber. When the current scope closes, the fiber is interrupted, and closing waits for its end at most for `limit`. Default
 * limit: `TimeLimit.CLOSE`, 5 seconds.
 */
export const fork = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  what: string,
  limit?: Duration.DurationInput
): Effect.Effect<unknown, never, R | Scope.Scope> =>
  Effect.acquireRelease(
    Effect.forkDaemon(Effect.interruptible(effect)),
    (fiber) => within(Effect.asVoid(Fiber.interrupt(fiber)), what, limit)
  )
