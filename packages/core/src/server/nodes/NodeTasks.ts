/**
 * Wraps the `TaskStore` that several nodes share, for `TasksServer`. Each task contains the name of the node that runs the task. When the
 * node of a task has ended, this module ends the task as `failed`. Otherwise the task would keep its status until its time to live has
 * passed. A detached task (`DetachedTask`) contains no name of a node, so the end of a node does not end this task.
 *
 * Mutable fields: `name` is the name of this node, and changes when the node has lost its lease. `names` contains all names that this node
 * has had. `missing` contains the nodes that were not alive, each with the time at which this node first noticed this. `doubted` is the
 * last time at which this node had no lease, or could not read the lease of another node.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { INTERNAL_ERROR } from "../../jsonrpc/JsonRpcError.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import * as Tasks from "../../protocol/Tasks.js"
import { type Membership, SessionDirectory, type SessionDirectoryService } from "../SessionDirectory.js"
import { untilStored, writeAgain } from "../tasks/StoredTasks.js"
import type { StoredTask, TaskStoreError, TaskStoreService } from "../TaskStore.js"
import * as NodeServices from "./NodeServices.js"

/** How long a node may have no lease before its tasks fail. A node that has lost its lease takes another lease within this time. */
export const GRACE = Duration.seconds(2)

/**
 * The value of `GRACE` after this node has lost its own lease, or could not read the lease of another node. This time is longer, because
 * all nodes lose their leases when a store restarts.
 */
export const DOUBT = Duration.seconds(10)

/** How often this node checks whether the node of a task is alive, while a reader waits for changes of the task. */
const WATCH = Duration.millis(500)

/** How long a node that could not join waits before it tries again. */
const JOIN = Duration.seconds(1)

/** In how many tasks this node writes its new name at the same time. */
const RENAMES = 16

/** How many nodes that are not alive this module stores. */
const MAX_MISSING = 1000

const MESSAGE = "The node that ran this task has ended"

/** Gives the owners and the ids of the tasks that run at this node. */
export type Running = () => Iterable<readonly [owner: string | null, taskId: string]>

/** Makes a store for the tasks of several nodes, until the scope closes. Without a `SessionDirectory`, gives `store` unchanged. */
export const make = (
  store: TaskStoreService,
  running: Running
): Effect.Effect<TaskStoreService, never, Scope.Scope> =>
  Effect.flatMap(
    Effect.serviceOption(SessionDirectory),
    Option.match({
      onNone: () => Effect.succeed(store),
      onSome: (directory) =>
        Effect.gen(function*() {
          const tasks = new NodeTasks(store, running)
          const joined = yield* Deferred.make<void, unknown>()
          yield* Effect.forkScoped(Effect.interruptible(tasks.keep(NodeServices.directory(directory), joined)))
          yield* Effect.orDie(Deferred.await(joined))
          return tasks
        })
    })
  )

class NodeTasks implements TaskStoreService {
  private name = ""
  private membership: Membership | undefined
  private readonly names = new Set<string>()
  private readonly missing = new Map<string, number>()
  private doubted = -Infinity

  constructor(private readonly store: TaskStoreService, private readonly running: Running) {}

  readonly create = (task: StoredTask): Effect.Effect<void, TaskStoreError> =>
    Effect.suspend(() => {
      // An engine outside of this node runs a detached task.
      if (task.detached !== undefined) return this.store.create(task)
      const { name } = this
      return Effect.zipRight(
        this.store.create({ ...task, node: name }),
        // The node may have taken another lease while the store was creating the task.
        Effect.suspend(() =>
          this.name === name
            ? Effect.void
            : Effect.ignore(Effect.retry(this.rename(task.owner, task.taskId), writeAgain))
        )
      )
    })

  readonly get = (owner: string | null, taskId: string): Effect.Effect<Option.Option<StoredTask>, TaskStoreError> =>
    Effect.flatMap(
      this.store.get(owner, taskId),
      Option.match({ onNone: () => Effect.succeedNone, onSome: (task) => Effect.asSome(this.look(task)) })
    )

  readonly replace = (task: StoredTask): Effect.Effect<boolean, TaskStoreError> => this.store.replace(task)

  readonly list: TaskStoreService["list"] = (owner, options) =>
    Effect.flatMap(this.store.list(owner, options), ({ next, tasks }) =>
      // Reads the directory once for each node, however many tasks the node has.
      Effect.flatMap(Effect.cachedFunction(this.isAlive), (isAlive) =>
        Effect.map(Effect.forEach(tasks, (task) => this.look(task, isAlive)), (tasks) => ({ tasks, next }))))

  readonly changes = (owner: string | null, taskId: string): Stream.Stream<StoredTask, TaskStoreError> =>
    Stream.unwrapScoped(Effect.gen(this, function*() {
      const found = yield* this.store.get(owner, taskId)
      if (Option.exists(found, (task) => this.mayHaveEnded(task))) {
        // `get` changes the task in the store, so the stream of changes also contains the change.
        yield* Effect.forkScoped(Effect.repeat(Effect.ignore(this.get(owner, taskId)), Schedule.spaced(WATCH)))
      }
      return this.store.changes(owner, taskId)
    }))

  /** Keeps this node a member, until this effect is interrupted. After the lease was lost, the node joins again with another name. */
  keep(directory: SessionDirectoryService, joined: Deferred.Deferred<void, unknown>): Effect.Effect<void> {
    const member = ScopeEnd.scoped(Effect.gen(this, function*() {
      const name = globalThis.crypto.randomUUID().replaceAll("-", "")
      this.membership = yield* directory.join(name)
      this.names.add(name)
      this.name = name
      // This code tries again and again, because the store may be restarting, too. A task that keeps the old name would fail.
      const renamed = Effect.forEach(
        [...this.running()],
        ([owner, taskId]) => Effect.ignore(Effect.retry(this.rename(owner, taskId), untilStored)),
        { concurrency: RENAMES, discard: true }
      )
      if (this.names.size > 1) yield* Effect.forkScoped(renamed)
      yield* Deferred.succeed(joined, undefined)
      yield* this.membership.lost
      yield* this.doubt
    }))
    return member.pipe(
      // Does not run when this fiber is interrupted.
      Effect.catchAllCause((cause) =>
        Effect.zipRight(Deferred.failCause(joined, cause), Effect.logDebug("Cannot join the nodes", cause)).pipe(
          Effect.zipRight(Effect.delay(this.doubt, JOIN))
        )
      ),
      Effect.forever
    )
  }

  private readonly doubt: Effect.Effect<void> = Effect.map(Clock.currentTimeMillis, (now) => {
    this.doubted = now
  })

  /** Writes the new name of this node into a task of this node. */
  private rename(owner: string | null, taskId: string): Effect.Effect<unknown, TaskStoreError> {
    return Effect.flatMap(
      this.store.get(owner, taskId),
      Option.match({
        onNone: () => Effect.void,
        onSome: (task) =>
          Tasks.isTerminal(task.status) || task.detached !== undefined || task.node === this.name ?
            Effect.void :
            Effect.flatMap(
              this.store.replace({ ...task, node: this.name, version: task.version + 1 }),
              (isReplaced) => isReplaced ? Effect.void : this.rename(owner, taskId)
            )
      })
    )
  }

  /** Whether another node is alive. Also gives `true` when this node cannot find out whether the other node is alive. */
  private readonly isAlive = (node: string): Effect.Effect<boolean> =>
    Effect.suspend(() =>
      this.membership === undefined
        ? Effect.succeed(true)
        : Effect.catchAll(this.membership.isAlive(node), () => Effect.as(this.doubt, true))
    )

  private mayHaveEnded({ node, status }: StoredTask): boolean {
    return node !== undefined && !Tasks.isTerminal(status) && !this.names.has(node)
  }

  /** Checks whether the node of a task is alive. When that node has ended, ends the task as `failed`. Gives the task. */
  private look(task: StoredTask, isAlive = this.isAlive): Effect.Effect<StoredTask, TaskStoreError> {
    if (!this.mayHaveEnded(task)) return Effect.succeed(task)
    const node = task.node!
    return Effect.gen(this, function*() {
      const lives = yield* isAlive(node)
      const now = yield* Clock.currentTimeMillis
      if (lives) {
        this.missing.delete(node)
        return task
      }
      const since = this.missing.get(node) ?? now
      this.missing.set(node, since)
      if (this.missing.size > MAX_MISSING) this.missing.delete(this.missing.keys().next().value!)
      const grace = now - this.doubted < Duration.toMillis(DOUBT) ? DOUBT : GRACE
      if (now - since < Duration.toMillis(grace)) return task
      const failed: StoredTask = {
        ...task,
        version: task.version + 1,
        status: "failed",
        statusMessage: MESSAGE,
        lastUpdatedAt: now,
        questions: {},
        answers: {},
        outcome: { error: { code: INTERNAL_ERROR, message: MESSAGE } }
      }
      if (yield* this.store.replace(failed)) return failed
      return Option.getOrElse(yield* this.get(task.owner, task.taskId), () => task)
    })
  }
}
