/**
 * The notifications that wait for one client to read, outside of its requests. The sender of a change never waits: one with
 * the key of another that still waits takes its place, and beyond a limit the oldest is dropped. They leave in order.
 *
 * A mutable map of what waits, and one fiber while something does.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Release from "./Release.js"

/** How many different notifications may wait for a client. */
export const MAX_WAITING = 1024

export class Announcements {
  private readonly waiting = new Map<string, Effect.Effect<void>>()
  private isSending = false
  private fiber: Fiber.RuntimeFiber<void> | undefined

  /** Runs `send` after those before it, on another fiber. */
  announce(key: string, send: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { waiting } = this
      if (!waiting.has(key) && waiting.size >= MAX_WAITING) this.takeOldest()
      waiting.set(key, send)
      if (this.isSending) return Effect.void
      this.isSending = true
      return Effect.map(Effect.forkDaemon(Effect.interruptible(this.sendAll)), (fiber) => {
        this.fiber = fiber
      })
    })
  }

  /** Drops what still waits, and waits for the end of what is being sent no longer than the limit. */
  stop(limit?: Duration.DurationInput): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { fiber } = this
      if (fiber === undefined) return Effect.void
      fiber.unsafeInterruptAsFork(FiberId.none)
      return Release.awaitWithin(fiber, limit)
    })
  }

  private get sendAll(): Effect.Effect<void> {
    return Effect.whileLoop({
      while: () => this.isSending = this.waiting.size > 0,
      body: () => this.takeOldest(),
      step: () => undefined
    })
  }

  private takeOldest(): Effect.Effect<void> {
    for (const [key, send] of this.waiting) {
      this.waiting.delete(key)
      return send
    }
    return Effect.void
  }
}
