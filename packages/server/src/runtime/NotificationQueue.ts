/**
 * The notifications with a content that wait for one client to read. They leave in order; one that has the key of another
 * which still waits replaces it, and beyond a limit the oldest is dropped, or all are replaced by one. `Announcements` is for
 * those that tell of a change only. The sender never waits. A sliding `Queue` of Effect replaces no element by its key.
 *
 * Mutable fields: what waits, and one fiber while something does.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Release from "./Release.js"

/** How many notifications may wait for a client. */
export const MAX_WAITING = 256

export interface Limit {
  readonly max: number
  /** What replaces all that wait, when they are too many. Default: the oldest is dropped. */
  readonly surplus?: Effect.Effect<void> | undefined
}

export class NotificationQueue {
  private readonly waiting = new Map<string, Effect.Effect<void>>()
  private isSending = false
  private unkeyed = 0
  private fiber: Fiber.RuntimeFiber<void> | undefined

  constructor(private readonly limit: Limit = { max: MAX_WAITING }) {}

  /** Runs `send` after those before it, on another fiber. Without a key it replaces none. One that dies is logged only. */
  add(key: string | undefined, send: Effect.Effect<void>): Effect.Effect<void> {
    // Uninterruptible, so that `isSending` is never set without the fiber.
    return Effect.uninterruptible(Effect.suspend(() => {
      this.waiting.set(key === undefined ? `#${this.unkeyed++}` : `=${key}`, send)
      if (this.waiting.size > this.limit.max) this.reduce()
      if (this.isSending) return Effect.void
      this.isSending = true
      return Effect.map(Effect.forkDaemon(Effect.interruptible(this.sendAll)), (fiber) => {
        this.fiber = fiber
      })
    }))
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
      // One step reads both, so that nothing that is added falls between them.
      while: () => this.isSending = this.waiting.size > 0,
      body: () => Effect.ignoreLogged(this.takeOldest()),
      step: () => undefined
    })
  }

  private reduce(): void {
    const { surplus } = this.limit
    if (surplus === undefined) return void this.takeOldest()
    this.waiting.clear()
    this.waiting.set("surplus", surplus)
  }

  private takeOldest(): Effect.Effect<void> {
    for (const [key, send] of this.waiting) {
      this.waiting.delete(key)
      return send
    }
    return Effect.void
  }
}
