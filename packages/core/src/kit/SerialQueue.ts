/**
 * Runs tasks one after another, each on its own fiber. A task without asynchronous steps has ended when `add` returns.
 * `server/legacy/StreamStore` uses these queues so that an event store never gets two calls about one stream at the same time.
 * `jsonrpc/runtime/Calls` uses them to deliver progress in order. A task with a key replaces the waiting task that has the same key.
 * Therefore a client that does not read gets at most two notifications of each kind.
 *
 * Effect has no queue with these properties at this cost. A task takes 2 µs here and 30 µs under a semaphore. A queue with a consumer costs
 * one fiber for each stream. A sliding `Queue` cannot replace an element by its key. When Effect has such a queue, and test/kit/SerialQueue
 * passes with that queue, this module can be deleted. `waiting` holds the tasks in order, `order` is its iterator. `isRunning` is true
 * exactly while a task runs. `key` is the key of that task until the task begins. After `stop` no task waits, and none can be added.
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
  /** The services with which a task of `add` runs. Default: `EffectInternals.defaultServices`. */
  readonly runtime?: EffectInternals.Services | undefined
  /** How many tasks may wait before `isFull` is true. Default: any number. */
  readonly capacity?: number | undefined
  /**
   * What happens when more tasks wait than `capacity`. With `drop`, the oldest tasks are dropped, also when the waiting tasks have more
   * than `MAX_TEXT` characters together. An effect replaces all waiting tasks. Default: all tasks are kept, and the code that adds tasks
   * reads `isFull`. `then` of a dropped or replaced task is never called.
   */
  readonly surplus?: "drop" | Effect.Effect<void> | undefined
  /** Called each time that the last task has ended and no task waits. */
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

  /** Whether at least `capacity` tasks wait. */
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

  /** Whether a task with this key has not begun yet. A task that has begun does not count, because it may already have done its work. */
  has(key: unknown): boolean {
    return this.isRunning && (this.key === key || this.waiting?.has(key) === true)
  }

  /**
   * Calls `make` when all earlier tasks have ended, runs the effect that `make` returns, and then calls `then`, also when the effect has
   * failed. When `make` returns `undefined`, no fiber is started. Neither `make` nor `then` may throw. A task without a key may have a
   * `size` in characters.
   */
  add(make: Make, then?: () => void, key?: unknown, size = 0): void {
    this.push({ make, key, then, runtime: this.runtime, size }, EffectInternals.runFork)
  }

  /**
   * Adds a task that runs with the services of the caller. The caller does not wait. The task begins after the fibers that are ready have
   * had their turn.
   */
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

  /** Calls `onIdle` when no task is left; at once, if there is no task now. This `onIdle` replaces the `onIdle` that was set before. */
  whenIdle(onIdle: () => void): void {
    if (this.isRunning) this.onIdle = onIdle
    else onIdle()
  }

  /**
   * Drops the tasks that wait, calls no `then` and no `onIdle` any more, and interrupts the task that runs. Returns the fiber of that task;
   * `undefined` when no task runs.
   */
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
        // The first steps of the task have called `stop`.
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
    // All calls share one iterator. A new iterator would step over all removed tasks each time.
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

  /** Wakes all fibers that wait in `space`, if the queue has space. */
  private wake(): void {
    const { notFull } = this
    if (notFull === undefined || this.isFull) return
    this.notFull = undefined
    Waking.wake(() => EffectInternals.open(notFull))
  }
}
