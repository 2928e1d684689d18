/**
 * The notifications that wait for one client to read, outside of its requests. The sender of a change never waits: an equal
 * notification that still waits is not repeated, and beyond a limit the oldest is dropped.
 *
 * A mutable map, made when the first notification is sent. It is no `FiberMap` of Effect, which needs a scope for each client and
 * waits without limit for its fibers when it ends.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Release from "./Release.js"

/** How many different notifications may wait for a client. */
export const MAX_WAITING = 1024

export class Announcements {
  private waiting: Map<string, Fiber.RuntimeFiber<void>> | undefined

  /** Runs `send` on a fiber of its own, unless one with an equal key still runs. */
  announce(key: string, send: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const waiting = this.waiting ??= new Map()
      if (waiting.has(key)) return Effect.void
      if (waiting.size >= MAX_WAITING) this.dropOldest(waiting)
      return Effect.map(Effect.forkDaemon(Effect.interruptible(send)), (fiber) => {
        if (fiber.unsafePoll() !== null) return
        waiting.set(key, fiber)
        fiber.addObserver(() => {
          if (waiting.get(key) === fiber) waiting.delete(key)
        })
      })
    })
  }

  /** Interrupts the notifications that still wait, and waits for their end no longer than the limit. */
  stop(limit?: Duration.DurationInput): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.waiting === undefined
        ? Effect.void
        : Effect.forEach([...this.waiting.values()], (fiber) => {
          fiber.unsafeInterruptAsFork(FiberId.none)
          return Release.awaitWithin(fiber, limit)
        }, { concurrency: "unbounded", discard: true })
    )
  }

  private dropOldest(waiting: Map<string, Fiber.RuntimeFiber<void>>): void {
    for (const [key, fiber] of waiting) {
      waiting.delete(key)
      return fiber.unsafeInterruptAsFork(fiber.id())
    }
  }
}
