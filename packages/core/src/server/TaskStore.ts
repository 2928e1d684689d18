/**
 * Stores the tasks of a server. A task is work that goes on after its first request has ended. The store contains the status of a task, its
 * open questions to the client, and its outcome. A server reads this store for every request about a task.
 *
 * This module contains the interface of a store, and a store in memory. `TasksServer` runs the tasks. `tasks/StoredTasks` reads and changes
 * the tasks in the store.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ErrorObject } from "../jsonrpc/JsonRpcError.js"
import * as Deadlines from "../kit/Deadlines.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as Outbox from "../kit/Outbox.js"
import type { JsonObject } from "../protocol/Json.js"
import * as Tasks from "../protocol/Tasks.js"
import type { Version } from "../protocol/Version.js"
import * as StoreText from "./nodes/StoreText.js"

/**
 * A question of a task, in the form in which the client gets the question.
 *
 * @category models
 */
export interface TaskQuestion {
  readonly method: string
  readonly params: JsonObject
}

/**
 * How a request ended: with a result or with an error. There are two kinds of these requests: the call that began a task, and a question of
 * the task to the client.
 *
 * @category models
 */
export type TaskOutcome = { readonly result: JsonObject } | { readonly error: ErrorObject }

/**
 * A task at one moment. All members are JSON values.
 *
 * @category models
 */
export interface StoredTask {
  /** The id of the task. Nobody can guess the id: it contains at least 122 random bits. */
  readonly taskId: string
  /** The id of the principal that the task belongs to; `null` for an anonymous client, and on a server without an authenticator. */
  readonly owner: string | null
  /** The name of the node that runs the task, on a server with several nodes (with a `SessionDirectory`); otherwise `undefined`. */
  readonly node?: string | undefined
  /**
   * The name of the engine that runs the task outside of the nodes (`DetachedTask`); `undefined` where a node runs the task. A detached
   * task has no `node`, so it does not end when a node ends.
   */
  readonly detached?: string | undefined
  /**
   * The revision of the request that began the task. Revision 2025-11-25 and revision 2026-07-28 have different methods for tasks, so a
   * client of one of them cannot use a task of the other.
   */
  readonly revision: Version
  /**
   * The authorization scopes that the call required when the task began. Each request about the task requires these scopes. `undefined`
   * where the call required no scope, and in tasks that earlier versions of this library have stored.
   */
  readonly requires?: ReadonlyArray<string> | undefined
  /** The version of the stored task: 1 after the creation. Each change adds 1. */
  readonly version: number
  readonly status: Tasks.TaskStatus
  readonly statusMessage?: string | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly lastUpdatedAt: number
  /** How long after `createdAt` the store keeps the task, whatever its status, in milliseconds. */
  readonly ttl: number
  /** How long a client should wait between two requests about the task, in milliseconds. */
  readonly pollInterval: number
  /** The questions that have no answer yet, by their keys. A task never uses the same key twice. */
  readonly questions: Readonly<Record<string, TaskQuestion>>
  /** The answers of the client that the task has not read yet, by the keys of their questions. */
  readonly answers: Readonly<Record<string, TaskOutcome>>
  /** The outcome of the call, for a task that has ended; `undefined` for a task that was cancelled or still runs. */
  readonly outcome?: TaskOutcome | undefined
}

/** @category errors */
export class TaskStoreError extends Data.TaggedError("TaskStoreError")<{
  /**
   * Why the operation failed. `Full`: a limit of the store is reached. `UnknownPage`: `after` is not the `next` of a page. `Refused`: the
   * store has refused the operation, or has not received the operation, so nothing has changed. `Unavailable`: the store did not answer, or
   * has lost its data. Only for the reason `Full`, the client gets the `message` of this error.
   */
  readonly reason: "Full" | "UnknownPage" | "Refused" | "Unavailable"
  readonly message: string
}> {}

/**
 * One page of tasks, in the order of their creation.
 *
 * @category models
 */
export interface TaskPage {
  readonly tasks: ReadonlyArray<StoredTask>
  /** The beginning of the next page: pass this text to `list` as `after`. `undefined` after the last task. */
  readonly next: string | undefined
}

/**
 * The operations of a store. An operation does not find a task when the id is unknown, when the task belongs to another owner, or when the
 * task's time to live has passed.
 *
 * @category models
 */
export interface TaskStoreService {
  /**
   * Stores a new task. When this effect has ended, every operation finds the task, also after a restart if the store survives restarts.
   * Fails with `Unavailable` when a task with this id already exists.
   */
  readonly create: (task: StoredTask) => Effect.Effect<void, TaskStoreError>
  readonly get: (owner: string | null, taskId: string) => Effect.Effect<Option.Option<StoredTask>, TaskStoreError>
  /**
   * Replaces the stored version of a task by the next version, `task`. When the store does not have the version `task.version - 1` of the
   * task, this effect gives `false` and changes nothing. So when two callers replace the same version, only one of them succeeds. When
   * `task` has ended and has at most 4,096 characters as JSON, this effect never fails with `Full`.
   */
  readonly replace: (task: StoredTask) => Effect.Effect<boolean, TaskStoreError>
  /** Gives a page of tasks of an owner. `after` is the `next` of the previous page, and stays valid when tasks are created or removed. */
  readonly list: (
    owner: string | null,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Effect.Effect<TaskPage, TaskStoreError>
  /**
   * The task now, and then the task after each change. A slow reader of the stream may miss versions, but always gets the newest version.
   * The stream ends when the store removes the task.
   */
  readonly changes: (owner: string | null, taskId: string) => Stream.Stream<StoredTask, TaskStoreError>
}

/** @category tags */
export class TaskStore extends Context.Tag("@effect-mcp/core/TaskStore")<TaskStore, TaskStoreService>() {}

/** @category models */
export interface MemoryOptions {
  /** How many tasks one owner may have, including ended tasks. Default: 1,000. */
  readonly maxTasks?: number | undefined
  /**
   * How many characters all tasks together may have, as JSON. Each owner may use an equal share of this size. At the limit, when an owner
   * below its share needs room, the store removes ended tasks of owners above their share, the oldest tasks first. In all other cases, the
   * store fails with the reason `Full`. Default: 64 Mi (67,108,864).
   */
  readonly maxSize?: number | undefined
  /**
   * How many characters the tasks of one owner may have, as JSON. The owner `null` has the tasks of all clients of a server without an
   * authenticator, and of all anonymous clients. Default: a quarter of `maxSize`.
   */
  readonly maxOwnerSize?: number | undefined
}

/** The least time between two searches for tasks whose time to live has passed, in milliseconds. */
const SWEEP = 1000

/**
 * Makes a store in memory. When the process ends, the tasks are lost. A timer removes the tasks whose time to live has passed. The timer
 * ends with the scope.
 *
 * @category constructors
 */
export const memory = (options: MemoryOptions = {}): Effect.Effect<TaskStoreService, never, Scope.Scope> =>
  Effect.zipWith(Deadlines.make(SWEEP), Effect.clock, (deadlines, clock) => new Memory(options, deadlines, clock))

/**
 * Makes the same layer as `layerMemory`, with options.
 *
 * @category layers
 */
export const layerMemoryWith = (options: MemoryOptions = {}): Layer.Layer<TaskStore> =>
  Layer.scoped(TaskStore, memory(options))

/**
 * The layer of `memory`.
 *
 * @category layers
 */
export const layerMemory: Layer.Layer<TaskStore> = layerMemoryWith()

interface Entry {
  task: StoredTask
  size: number
  /** A number that grows with each new entry. */
  readonly order: number
  readonly watchers: Set<(task: StoredTask | undefined) => void>
}

/** The tasks of one owner, in the order of their creation. `size` is the sum of the sizes of the entries. */
interface Owned {
  readonly entries: Array<Entry>
  size: number
}

/**
 * The maps are mutable. `size` is the sum of the sizes of `tasks`. `owners` contains the same entries by their owners. An owner without
 * entries is not in `owners`.
 */
class Memory implements TaskStoreService, Deadlines.Expirable {
  private readonly tasks = new Map<string, Entry>()
  private readonly owners = new Map<string | null, Owned>()
  private readonly maxTasks: number
  private readonly maxSize: number
  private readonly maxOwnerSize: number
  private size = 0
  private created = 0
  private swept = 0

  constructor(
    options: MemoryOptions,
    private readonly deadlines: Deadlines.Deadlines,
    private readonly clock: Clock.Clock
  ) {
    deadlines.watch(this, Infinity)
    this.maxTasks = options.maxTasks ?? 1000
    this.maxSize = options.maxSize ?? 64 * 1024 * 1024
    this.maxOwnerSize = options.maxOwnerSize ?? this.maxSize / 4
  }

  readonly create = (task: StoredTask): Effect.Effect<void, TaskStoreError> =>
    this.now(() => {
      if (this.tasks.has(task.taskId)) return failed("Unavailable", StoreText.taken(task.taskId))
      const size = sizeOf(task)
      const owned = this.owners.get(task.owner) ?? { entries: [], size: 0 }
      if (owned.entries.length >= this.maxTasks) {
        return failed("Full", `This owner has ${this.maxTasks} tasks, and this is the limit`)
      }
      const full = this.full(owned, size)
      if (full !== undefined) return full
      const entry: Entry = { task, size, order: ++this.created, watchers: new Set() }
      this.tasks.set(task.taskId, entry)
      this.owners.set(task.owner, owned)
      owned.entries.push(entry)
      owned.size += size
      this.size += size
      // The last step, because this call removes a task whose time to live has already passed.
      this.expires(task)
      return Effect.void
    })

  readonly get = (owner: string | null, taskId: string): Effect.Effect<Option.Option<StoredTask>> =>
    this.now((now) => Effect.succeed(Option.map(this.find(owner, taskId, now), ({ task }) => task)))

  readonly replace = (task: StoredTask): Effect.Effect<boolean, TaskStoreError> =>
    this.now((now) => {
      const found = this.find(task.owner, task.taskId, now)
      if (Option.isNone(found) || found.value.task.version !== task.version - 1) return Effect.succeed(false)
      const entry = found.value
      const owned = this.owners.get(task.owner)!
      const size = sizeOf(task)
      const more = size - entry.size
      const full = more > 0 && !StoreText.isSmallEnd(task.status, size) ? this.full(owned, more) : undefined
      if (full !== undefined) return full
      this.size += more
      owned.size += more
      entry.task = task
      entry.size = size
      for (const watcher of entry.watchers) watcher(task)
      this.expires(task)
      return Effect.succeed(true)
    })

  readonly list = (
    owner: string | null,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number }
  ): Effect.Effect<TaskPage, TaskStoreError> =>
    this.now((now): Effect.Effect<TaskPage, TaskStoreError> => {
      const begin = Number(after ?? 0)
      if (!Number.isSafeInteger(begin)) return failed("UnknownPage", StoreText.noPage(String(after)))
      const entries = this.owners.get(owner)?.entries ?? []
      const page: Array<Entry> = []
      for (let at = indexAfter(entries, begin); at < entries.length; at++) {
        const entry = entries[at]!
        if (isExpired(entry.task, now)) continue
        if (page.length === limit) {
          return Effect.succeed({ tasks: page.map(({ task }) => task), next: String(page.at(-1)?.order ?? begin) })
        }
        page.push(entry)
      }
      return Effect.succeed({ tasks: page.map(({ task }) => task), next: undefined })
    })

  readonly changes = (owner: string | null, taskId: string): Stream.Stream<StoredTask> =>
    Stream.unwrapScoped(Effect.suspend(() => {
      // Not `Stream.asyncPush`: its reader waits forever when a change comes directly before the reader begins to wait.
      const newest = Outbox.make<StoredTask>()
      const watching = Effect.acquireRelease(
        this.now((now) => {
          const watcher = (task: StoredTask | undefined) => {
            if (task === undefined) return newest.end(Exit.void)
            newest.unsafeTakeAll()
            newest.unsafeOffer(task)
          }
          const found = Option.getOrUndefined(this.find(owner, taskId, now))
          found?.watchers.add(watcher)
          watcher(found?.task)
          const left = found === undefined ? 0 : found.task.createdAt + found.task.ttl - now
          return Effect.succeed({ left, stop: () => found?.watchers.delete(watcher) })
        }),
        ({ stop }) => Effect.sync(stop)
      )
      const end = Effect.sync(() => newest.end(Exit.void))
      const expiring = Effect.flatMap(
        watching,
        ({ left }) => Effect.forkScoped(Effect.interruptible(Effect.delay(end, left)))
      )
      // When a task changes several times in one turn of the event loop, the reader gets only the last change.
      const last = Effect.flatMap(
        newest.takeAll,
        ([task]) => Effect.map(Effect.yieldNow(), () => newest.unsafeTakeAll()[0] ?? task!)
      )
      return Effect.as(expiring, Stream.repeatEffectOption(last))
    }))

  /** Removes the tasks whose time to live has passed. Gives the time of the next check. */
  sweep(now: number): number {
    const wall = EffectInternals.millis(this.clock)
    this.swept = wall
    let left = Infinity
    for (const entry of this.tasks.values()) {
      if (isExpired(entry.task, wall)) this.remove(entry)
      else left = Math.min(left, entry.task.createdAt + entry.task.ttl - wall)
    }
    return now + left
  }

  private expires({ createdAt, ttl }: StoredTask): void {
    this.deadlines.set(this.deadlines.now() + createdAt + ttl - EffectInternals.millis(this.clock))
  }

  private now<A, E>(f: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      this.removeExpired(now)
      return f(now)
    })
  }

  /** Fails when the store has no room for `more` further characters of an owner. */
  private full(owned: Owned, more: number): Effect.Effect<never, TaskStoreError> | undefined {
    if (owned.size + more > this.maxOwnerSize) return failed("Full", StoreText.ownerSize(this.maxOwnerSize))
    this.makeRoom(owned, more)
    return this.size + more > this.maxSize
      ? failed("Full", `The tasks have ${this.maxSize} characters, and this is the limit`)
      : undefined
  }

  /** Removes ended tasks of owners that have more than their equal share, if this owner has less than its share. */
  private makeRoom(owned: Owned, more: number): void {
    const share = this.maxSize / (this.owners.size + (owned.entries.length === 0 ? 1 : 0))
    if (this.size + more <= this.maxSize || owned.size + more > share) return
    for (const other of this.owners.values()) {
      if (other.size <= share) continue
      for (const entry of [...other.entries]) {
        if (this.size + more <= this.maxSize || other.size <= share) break
        if (Tasks.isTerminal(entry.task.status)) this.remove(entry)
      }
    }
  }

  private find(owner: string | null, taskId: string, now: number): Option.Option<Entry> {
    const entry = this.tasks.get(taskId)
    if (entry !== undefined && isExpired(entry.task, now)) this.remove(entry)
    return entry === undefined || entry.task.owner !== owner || isExpired(entry.task, now)
      ? Option.none()
      : Option.some(entry)
  }

  // At most once a second, because this function visits all tasks.
  private removeExpired(now: number): void {
    if (Math.abs(now - this.swept) < 1000) return
    this.swept = now
    for (const entry of this.tasks.values()) {
      if (isExpired(entry.task, now)) this.remove(entry)
    }
  }

  private remove(entry: Entry): void {
    const { owner, taskId } = entry.task
    this.tasks.delete(taskId)
    this.size -= entry.size
    const owned = this.owners.get(owner)!
    owned.entries.splice(indexAfter(owned.entries, entry.order) - 1, 1)
    owned.size -= entry.size
    if (owned.entries.length === 0) this.owners.delete(owner)
    for (const watcher of entry.watchers) watcher(undefined)
  }
}

/** Finds the index of the first entry whose number is greater than `order`. */
const indexAfter = (entries: ReadonlyArray<Entry>, order: number): number => {
  let from = 0
  let to = entries.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (entries[middle]!.order > order) to = middle
    else from = middle + 1
  }
  return from
}

const isExpired = ({ createdAt, ttl }: StoredTask, now: number): boolean => now >= createdAt + ttl

const sizeOf = (task: StoredTask): number => JSON.stringify(task).length

const failed = (reason: TaskStoreError["reason"], message: string) =>
  Effect.fail(new TaskStoreError({ reason, message }))
