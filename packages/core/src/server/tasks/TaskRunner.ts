/**
 * Runs tasks: creates tasks in the `TaskStore`, and supervises their fibers until the tasks end, are cancelled or expire. `TasksServer`
 * makes the runner, and registers it in the server (`dispatch/ServerTasks`). `TaskCall` creates a task for a call with the runner, and
 * passes the fiber of the call to the runner. `StoredTasks` reads and changes tasks for clients.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { internal } from "../../jsonrpc/JsonRpcError.js"
import type { OwnLimit } from "../../jsonrpc/Side.js"
import * as Race from "../../kit/Race.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import { InternalError } from "../../protocol/McpError.js"
import * as Tasks from "../../protocol/Tasks.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import type { TaskLimits } from "../Limits.js"
import type { StoredTask, TaskStoreService } from "../TaskStore.js"
import { type Ended, type Engine, errorOf, readAgain, StoredTasks, unavailable, untilStored } from "./StoredTasks.js"

/** The options of the tasks of a server, with their defaults. Durations are in milliseconds. */
export interface Settings {
  readonly maxRunning: number
  readonly ttl: number
  readonly maxTtl: number
  readonly pollInterval: number
}

/** The facts about a new task, from its call. */
export interface NewTask extends Pick<StoredTask, "owner" | "revision" | "detached"> {
  /** How long the client wants the server to store the task, in milliseconds; `undefined` when the client does not say this. */
  readonly ttl: number | undefined
  /** The authorization scopes that the call requires. */
  readonly requires: ReadonlyArray<string>
}

/**
 * Fields: `running` contains the tasks of this process, by owner, with the fiber that supervises each task. The fiber is `undefined` before
 * the store has the task. `running` contains no owner without tasks. When `closing` is true, the runner refuses new tasks.
 */
export class TaskRunner {
  readonly tasks: StoredTasks
  private readonly running = new Map<string | null, Map<string, Fiber.RuntimeFiber<void> | undefined>>()
  private closing = false

  constructor(
    private readonly store: TaskStoreService,
    private readonly settings: Settings,
    engines?: ReadonlyMap<string, Engine>
  ) {
    this.tasks = new StoredTasks(store, engines)
  }

  /** Creates a task that runs at this node. The effect ends when the task is in the store. */
  create(details: NewTask): Effect.Effect<StoredTask, HttpRefusal | InternalError> {
    return Effect.flatMap(this.made(details), (task) => {
      const running = this.running.get(task.owner)?.size ?? 0
      if (running >= this.settings.maxRunning) {
        return Effect.fail(
          new InternalError({
            message: `${running} tasks are running, which is the limit: wait for a task to end, or cancel a task`
          })
        )
      }
      if (this.closing) return shuttingDown
      this.add(task)
      return Effect.as(
        Effect.onError(
          Effect.catchAll(this.store.create(task), unavailable),
          () => Effect.sync(() => this.remove(task))
        ),
        task
      )
    })
  }

  /** Creates a detached task, which no node runs. Only the limits of the store limit the number of such tasks. */
  createDetached(
    details: NewTask & { readonly detached: string }
  ): Effect.Effect<StoredTask, HttpRefusal | InternalError> {
    return Effect.flatMap(
      this.made(details),
      (task) => this.closing ? shuttingDown : Effect.as(Effect.catchAll(this.store.create(task), unavailable), task)
    )
  }

  private made({ detached, owner, requires, revision, ttl }: NewTask): Effect.Effect<StoredTask> {
    return Effect.map(Clock.currentTimeMillis, (now) => ({
      taskId: globalThis.crypto.randomUUID().replaceAll("-", ""),
      owner,
      ...(detached === undefined ? undefined : { detached }),
      revision,
      ...(requires.length === 0 ? undefined : { requires }),
      version: 1,
      status: "working",
      createdAt: now,
      lastUpdatedAt: now,
      ttl: Math.max(1, Math.min(ttl ?? this.settings.ttl, this.settings.maxTtl)),
      pollInterval: this.settings.pollInterval,
      questions: {},
      answers: {}
    }))
  }

  /**
   * Supervises the fiber of a task: interrupts the fiber when the task is cancelled or its time to live has passed, and stores the end of
   * the task. Runs `changed` for the changes of the task, and always for its end, unless the server shuts down first.
   */
  supervise(
    task: StoredTask,
    work: Effect.Effect<Fiber.RuntimeFiber<Ended>>,
    changed: (task: StoredTask) => Effect.Effect<void> = () => Effect.void
  ): Effect.Effect<void> {
    const { owner, taskId } = task
    // The store reports the end, too, but a store may do so only after this fiber has ended.
    const telling = Semaphore.make()
    let told = task.version
    const tell = (changedTask: StoredTask) =>
      telling.run(
        Effect.suspend(() =>
          changedTask.version <= told ? Effect.void : Effect.map(changed(changedTask), () => {
            told = changedTask.version
          })
        )
      )
    // Ends when the task has ended, or when the store has removed the task.
    const over = this.store.changes(owner, taskId).pipe(
      Stream.tap(tell),
      Stream.takeUntil(({ status }) => Tasks.isTerminal(status)),
      Stream.runDrain,
      Effect.retry(readAgain),
      TimeLimit.end(task.ttl)
    )
    let result: Ended | undefined
    const finish = Effect.flatMap(
      Effect.flatMap(work, Fiber.join),
      // `over` interrupts this effect when the time to live of the task has passed.
      (ended) =>
        Effect.flatMap(
          this.tasks.end(task, result = ended, untilStored),
          Option.match({ onNone: () => Effect.void, onSome: tell })
        )
    )
    return Race.raceFirst(finish, over).pipe(
      Effect.interruptible,
      Effect.ensuring(Effect.flatMap(work, Fiber.interrupt)),
      Effect.onInterrupt(() => this.tasks.end(task, result ?? shutDown)),
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.void : this.tasks.end(task, { ...lost, died: cause })
      ),
      Effect.asVoid,
      Effect.forkDaemon,
      Effect.flatMap((fiber) => {
        this.add(task, fiber)
        fiber.addObserver(() => this.remove(task))
        // Closing may have begun while the store created the task.
        return this.closing ? Fiber.interruptFork(fiber) : Effect.void
      })
    )
  }

  /**
   * Makes the limit of how many requests of one client may wait for results of tasks. The number is the same as the limit of running tasks
   * of one user (`maxRunning`).
   */
  limitOfResults(): OwnLimit {
    return new Semaphore.Permits({ running: this.settings.maxRunning, waiting: 0, text: 0 })
  }

  private add({ owner, taskId }: StoredTask, fiber?: Fiber.RuntimeFiber<void>): void {
    const tasks = this.running.get(owner)
    if (tasks === undefined) this.running.set(owner, new Map([[taskId, fiber]]))
    else tasks.set(taskId, fiber)
  }

  private remove({ owner, taskId }: StoredTask): void {
    const tasks = this.running.get(owner)
    tasks?.delete(taskId)
    if (tasks?.size === 0) this.running.delete(owner)
  }

  /** Gives the owners and the ids of the tasks that run at this node. */
  ids(): Iterable<readonly [owner: string | null, taskId: string]> {
    return [...this.running].flatMap(([owner, tasks]) => [...tasks.keys()].map((taskId) => [owner, taskId] as const))
  }

  /** Ends all tasks. Their outcome says that the server was shut down. */
  get shutdown(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closing = true
      return Fiber.interruptAll(
        [...this.running.values()].flatMap((tasks) => [...tasks.values()].flatMap((fiber) => fiber ?? []))
      )
    })
  }
}

const shuttingDown = Effect.fail(new InternalError({ message: "The server is shutting down" }))

const shutDown: Ended = {
  status: "failed",
  statusMessage: "The server was shut down before the task ended",
  outcome: { error: errorOf("The server was shut down before the task ended") }
}

const lost: Ended = { status: "failed", outcome: { error: errorOf(internal.message) } }

/** Adds the defaults to the options. */
export const settings = (options: {
  readonly limits?: TaskLimits | undefined
  readonly ttl?: Duration.DurationInput | undefined
  readonly pollInterval?: Duration.DurationInput | undefined
}): Settings => {
  const { maxRunning = 64, maxTtl = "1 day" } = options.limits ?? {}
  return {
    maxRunning,
    maxTtl: Duration.toMillis(maxTtl),
    ttl: Duration.toMillis(options.ttl ?? "1 hour"),
    pollInterval: Duration.toMillis(options.pollInterval ?? "1 second")
  }
}
