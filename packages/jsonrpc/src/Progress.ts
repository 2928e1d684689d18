/**
 * How far a request is: the notification that carries it, and its delivery to whoever waits, in order and before the
 * answer. `Pending` decides which call it belongs to.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import type * as Message from "./Message.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  /** Rises with every notification, even when the total is not known. */
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * @since 0.1.0
 * @category constants
 */
export const METHOD = "notifications/progress"

/**
 * How many notifications may wait for a callback that is slower than the peer; the oldest are dropped.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_WAITING = 256

/**
 * The token of a notification's parameters, if they have one.
 *
 * @since 0.1.0
 * @category decoding
 */
export const token = (params: Message.Params | undefined): unknown => params?.progressToken

/**
 * The progress in a notification's parameters; `undefined` when there is none to read. A total or a message of a wrong
 * type is left out.
 *
 * @since 0.1.0
 * @category decoding
 */
export const fromParams = (params: Message.Params | undefined): Progress | undefined => {
  if (typeof params?.progress !== "number") return undefined
  return {
    progress: params.progress,
    ...(typeof params.total === "number" ? { total: params.total } : undefined),
    ...(typeof params.message === "string" ? { message: params.message } : undefined)
  }
}

/**
 * Hands progress to a callback, one at a time, on a fiber that lives while there is some.
 *
 * @since 0.1.0
 * @category models
 */
export class Delivery {
  private waiting: Array<Progress> = []
  private running = false
  private stopped = false
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private whenDone: (() => void) | undefined
  private readonly runtime: Runtime.Runtime<never>

  constructor(
    runtime: Runtime.Runtime<never>,
    private readonly callback: (progress: Progress) => Effect.Effect<void>
  ) {
    this.runtime = Runtime.enableRuntimeFlag(runtime, RuntimeFlags.Interruption)
  }

  /** Takes one more in and sees to it that it is delivered. */
  offer(progress: Progress): void {
    if (this.waiting.length === MAX_WAITING) this.waiting.shift()
    this.waiting.push(progress)
    if (this.running) return
    // The callback may bring about more progress before `runFork` returns.
    this.running = true
    const fiber = Runtime.runFork(this.runtime, this.drain)
    this.fiber = fiber
    fiber.addObserver(() => {
      this.running = false
      this.fiber = undefined
      this.whenDone?.()
    })
    // The callback ended its own call in its first steps.
    if (this.stopped) fiber.unsafeInterruptAsFork(fiber.id())
  }

  /** Calls back when everything that came in has been delivered: at once, if it has. */
  drained(done: () => void): void {
    if (!this.running) done()
    else this.whenDone = done
  }

  /** Stops delivering; what waits is lost. Gives the fiber that is being interrupted, to be waited for. */
  stop(): Fiber.RuntimeFiber<void> | undefined {
    const { fiber } = this
    this.stopped = true
    this.waiting = []
    this.whenDone = undefined
    fiber?.unsafeInterruptAsFork(fiber.id())
    return fiber
  }

  private readonly drain: Effect.Effect<void> = Effect.whileLoop({
    while: () => this.waiting.length > 0,
    body: () => {
      const next = this.waiting.shift()!
      return Effect.catchAllCause(
        Effect.suspend(() => this.callback(next)),
        (cause) => Effect.logWarning("A progress callback failed", cause)
      )
    },
    step: () => undefined
  })
}
