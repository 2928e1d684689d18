/**
 * What is to be done one after another, each when the one before has ended: at once, as long as nothing takes its time. So
 * a store is never asked two things about one stream at the same time.
 *
 * @since 0.1.0
 */
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import type * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"

interface Step {
  readonly effect: Effect.Effect<void>
  readonly then: () => void
}

/**
 * @since 0.1.0
 * @category models
 */
export class SerialQueue {
  private readonly steps: Outbox.Outbox<Step>
  private running = false

  constructor(
    private readonly runtime: Runtime.Runtime<never>,
    /** How many may wait before `room` is waited for. */
    capacity: number,
    /** Hears that nothing is left to do. */
    private readonly onRest: () => void
  ) {
    this.steps = Outbox.make(capacity)
  }

  get isFull(): boolean {
    return this.steps.isFull
  }

  /** Suspends while as much waits as may. */
  get room(): Effect.Effect<void> {
    return this.steps.awaitSpace
  }

  /** Whether something is being done. */
  get isRunning(): boolean {
    return this.running
  }

  /** Does one more thing, whatever waits, then the other: also when the first one failed. */
  add(effect: Effect.Effect<void>, then: () => void = () => {}): void {
    this.steps.unsafeOffer({ effect, then })
    if (!this.running) this.run([])
  }

  private run(steps: ReadonlyArray<Step>, from = 0): void {
    this.running = true
    for (let taken = steps, at = from;; at++) {
      if (at >= taken.length) {
        taken = this.steps.unsafeTakeAll()
        at = 0
        if (taken.length === 0) break
      }
      const step = taken[at]!
      const fiber = Runtime.runFork(this.runtime, step.effect)
      if (fiber.unsafePoll() === null) {
        const rest = taken
        const next = at + 1
        fiber.addObserver(() => {
          step.then()
          this.run(rest, next)
        })
        return
      }
      step.then()
    }
    this.running = false
    this.onRest()
  }
}
