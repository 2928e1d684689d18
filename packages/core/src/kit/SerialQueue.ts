/**
 * Runs tasks one after another, each on a fiber of its own; a task that does not wait has ended when `add` returns. So an event store
 * never gets two calls about one stream at the same time (`server/legacy/StreamStore`), progress is delivered in order
 * (`jsonrpc/runtime/Calls`), and a client that does not read gets two notifications of each kind at most. A task with a key replaces the
 * waiting task of the same key.
 *
 * Effect has no such queue at this cost: a task takes 2 µs here and 30 µs under a semaphore, a queue with a consumer costs a fiber for
 * each stream, and a sliding `Queue` replaces no element by its key. When Effect has such a queue, and test/kit/SerialQueue passes on that
 * queue, this module can be deleted. `waiting` holds the tasks in order, and `order` reads them; `isRunning` is true exactly while a task
 * runs, `key` is the key of that task until it begins; after `stop` no task waits or is added.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as EffectInternals from "./EffectInternals.js"
import { MAX_TEXT } from "./Outbox.js"
import * as Waking from "./Waking.js"

type Make = () => Effect.Effect<void> | undefined

interface Task {
  readonly make: Make
  readonly key: unknown
  readonly then: (() => void) | undefined
  readonly runtime: EffectInternals.Services
  readonly size: number
}

export interface Options {
  /** The runtime of the tasks that bring no runtime. Default: Effect's default. */
  readonly runtime?: EffectInternals.Services | undefined
  /** How many tasks may wait before the queue is full. Default: any number. */
  readonly capacity?: number | undefined
  /**
   * What happens when more tasks wait: `drop` drops the oldest task, also when the waiting tasks have too much text; an effect replaces all
   * waiting tasks. Default: all tasks are kept, and the code that adds tasks looks at `isFull`. A task that was dropped or replaced never
   * calls `then`.
   */
  readonly surplus?: "drop" | Effect.Effect<void> | undefined
  /** Called when the last task has ended. */
  readonly onIdle?: (() => void) | undefined
}

export class SerialQueue {
  isRunning = false
  private key: unknown
  private fiber: Fiber.RuntimeFiber<void> | undefined
  private isStopped = false
  private waiting: Map<unknown, Task> | undefined
  private order: Iterator<Task> | undefined
  private notFull: EffectInternals.Latch | undefined
  private onIdle: (() => void) | undefined
  private readonly runtime: EffectInternals.Services
  private readonly capacity: number
  private readonly surplus: Options["surplus"]
  private text = 0

  constructor({ capacity = Infinity, onIdle, runtime = EffectInternals.defaultServices, surplus }: Options = {}) {
    this.runtime = EffectInternals.interruptible(runtime)
    this.capacity = Math.max(1, capacity)
    this.surplus = surplus
    this.onIdle = onIdle
  }

  get isFull(): boolean {
    return this.waiting !== undefined && this.waiting.size >= this.capacity
  }

  /** Suspends while the queue is full. */
  get space(): Effect.Effect<void> {
    return Effect.whileLoop({
      while: () => this.isFull,
      body: () => (this.notFull ??= EffectInternals.latch()).await,
      step: () => {}
    })
  }

  /** Whether a task of this key waits, or is about to begin. A task that has begun may have done its work. */
  has(key: unknown): boolean {
    return this.isRunning && (this.key === key || this.waiting?.has(key) === true)
  }

  /**
   * Makes and runs the effect when all tasks before it have ended, then calls `then`, also when the effect has failed. Without an effect
   * there is no fiber. Neither `make` nor `then` may throw. A task without a key may have a `size`, in characters.
   */
  add(make: Make, then?: () => void, key?: unknown, size = 0): void {
    this.push({ make, key, then, runtime: this.runtime, size }, EffectInternals.runFork)
  }

  /** Adds a task for the context of the caller, who does not wait: the task begins when other fibers have had their turn. */
  fork(effect: Effect.Effect<void>, key?: unknown): Effect.Effect<void> {
    const beginning = Effect.suspend(() => {
      this.key = undefined
      return effect
    })
    return Effect.map(
      EffectInternals.services,
      (runtime) =>
        this.push({ make: () => beginning, key, then: undefined, runtime, size: 0 }, EffectInternals.runForkLater)
    )
  }

  /** Calls back when no task is left: at once, if there is no task. The function replaces an earlier one. */
  whenIdle(onIdle: () => void): void {
    if (this.isRunning) this.onIdle = onIdle
    else onIdle()
  }

  /** Drops the tasks that wait, calls no function again, and interrupts the task that runs. Returns the fiber of that task. */
  stop(): Fiber.RuntimeFiber<void> | undefined {
    const { fiber } = this
    this.isStopped = true
    this.onIdle = undefined
    this.clear()
    this.wake()
    if (fiber !== undefined) EffectInternals.interrupt(fiber)
    return fiber
  }

  private push(task: Task, runFork: typeof EffectInternals.runFork): void {
    if (this.isStopped) return
    const waiting = this.waiting ??= new Map()
    waiting.set(task.key ?? task, task)
    this.text += task.size
    if (!this.isRunning) return this.run(runFork)
    const { surplus } = this
    if (surplus === "drop") {
      while (waiting.size > this.capacity || (this.text > MAX_TEXT && waiting.size > 1)) this.take()
      this.wake()
    } else if (surplus !== undefined && waiting.size > this.capacity) {
      this.clear()
      this.push({ make: () => surplus, key: "surplus", then: undefined, runtime: task.runtime, size: 0 }, runFork)
      this.wake()
    }
  }

  private run(runFork: typeof EffectInternals.runFork): void {
    this.isRunning = true
    for (let task = this.take(); task !== undefined; task = this.take()) {
      const { make, runtime, then } = task
      this.key = task.key
      const effect = make()
      const fiber = effect && runFork(runtime, effect)
      if (fiber !== undefined && EffectInternals.exitOf(fiber) === undefined) {
        this.fiber = fiber
        fiber.addObserver(() => {
          this.fiber = undefined
          if (!this.isStopped) then?.()
          this.run(EffectInternals.runFork)
        })
        this.wake()
        // Its first steps have stopped the queue.
        if (this.isStopped) EffectInternals.interrupt(fiber)
        return
      }
      if (!this.isStopped) then?.()
    }
    this.isRunning = false
    this.key = undefined
    this.onIdle?.()
    this.wake()
  }

  private take(): Task | undefined {
    const { waiting } = this
    if (waiting === undefined || waiting.size === 0) return undefined
    // One iterator for all tasks: a new iterator would pass the removed tasks each time.
    const task = (this.order ??= waiting.values()).next().value as Task
    waiting.delete(task.key ?? task)
    this.text -= task.size
    if (waiting.size === 0) this.order = undefined
    return task
  }

  private clear(): void {
    this.waiting?.clear()
    this.text = 0
    this.order = undefined
  }

  /** Wakes all that wait for space, when there is some. */
  private wake(): void {
    const { notFull } = this
    if (notFull === undefined || this.isFull) return
    this.notFull = undefined
    Waking.wake(() => EffectInternals.open(notFull))
  }
}
