/**
 * Passes the progress of one call to its callback, one notification at a time, on a fiber that exists only while
 * notifications wait. `Calls` decides which call a notification belongs to, and ends the call after the delivery.
 *
 * A class with mutable fields, because notifications arrive in the read loop, where no Effect can run, and because a
 * call without progress must not have a fiber. While `running`, one fiber takes from `waiting`, in order; after `stop`,
 * nothing more is delivered and `onDrained` is never called.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import type { Progress } from "../Progress.js"

/** How many notifications may wait for a slow callback; the oldest are dropped. */
export const MAX_WAITING = 256

export class ProgressDelivery {
  private waiting: Array<Progress> = []
  private running = false
  private stopped = false
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private onDrained: (() => void) | undefined
  private readonly runtime: Runtime.Runtime<never>

  constructor(
    runtime: Runtime.Runtime<never>,
    private readonly onProgress: (progress: Progress) => Effect.Effect<void>
  ) {
    this.runtime = Runtime.enableRuntimeFlag(runtime, RuntimeFlags.Interruption)
  }

  offer(progress: Progress): void {
    if (this.waiting.length === MAX_WAITING) this.waiting.shift()
    this.waiting.push(progress)
    if (this.running) return
    // Set first: the callback runs before `runFork` returns, and may cause more progress.
    this.running = true
    const fiber = Runtime.runFork(this.runtime, this.deliver)
    this.fiber = fiber
    fiber.addObserver(() => {
      this.running = false
      this.fiber = undefined
      this.onDrained?.()
    })
    // The callback ended its own call before it first suspended.
    if (this.stopped) fiber.unsafeInterruptAsFork(fiber.id())
  }

  /** Calls `onDrained` once everything that was offered has been delivered: at once, if nothing waits. */
  whenDrained(onDrained: () => void): void {
    if (!this.running) onDrained()
    else this.onDrained = onDrained
  }

  /** Stops delivering and drops what waits. Returns the fiber that is being interrupted. */
  stop(): Fiber.RuntimeFiber<void> | undefined {
    const { fiber } = this
    this.stopped = true
    this.waiting = []
    this.onDrained = undefined
    fiber?.unsafeInterruptAsFork(fiber.id())
    return fiber
  }

  private readonly deliver: Effect.Effect<void> = Effect.whileLoop({
    while: () => this.waiting.length > 0,
    body: () => {
      const next = this.waiting.shift()!
      return Effect.catchAllCause(
        Effect.suspend(() => this.onProgress(next)),
        (cause) => Effect.logWarning("A progress callback failed", cause)
      )
    },
    step: () => undefined
  })
}
