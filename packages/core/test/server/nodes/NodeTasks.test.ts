import { assert, describe, it } from "@effect/vitest"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import type { StoredTask } from "@effect-mcp/core/TaskStore"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import { Deferred, Duration, Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import * as NodeTasks from "../../../src/server/nodes/NodeTasks.js"

const task = (taskId: string): StoredTask => ({
  taskId,
  owner: "ada",
  revision: "2026-07-28",
  version: 1,
  status: "working",
  createdAt: 0,
  lastUpdatedAt: 0,
  ttl: 3_600_000,
  pollInterval: 1000,
  questions: {},
  answers: {}
})

/** Nodes that share a store of tasks. */
const cluster = Effect.gen(function*() {
  const tasks = yield* TaskStore.memory()
  const directory = yield* SessionDirectory.memory()
  let isAway = false
  let isHidden = false
  let failures = 0
  let looks = 0
  let replacing: (task: StoredTask) => Effect.Effect<void> = () => Effect.void
  let creating: Effect.Effect<void> = Effect.void
  const failing: TaskStore.TaskStoreService = {
    create: (task) => Effect.zipRight(Effect.suspend(() => creating), tasks.create(task)),
    get: (owner, taskId) => tasks.get(owner, taskId),
    list: (owner, options) => tasks.list(owner, options),
    changes: (owner, taskId) => tasks.changes(owner, taskId),
    replace: (task) =>
      Effect.suspend(() =>
        failures-- > 0
          ? new TaskStore.TaskStoreError({ reason: "Unavailable", message: "away" })
          : Effect.zipRight(replacing(task), tasks.replace(task))
      )
  }
  /** `lose` ends the lease of the node at the store; `stop` does, and the node does not know of it and joins no more. */
  const node = Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    let lost = yield* Deferred.make<void>()
    let lease = yield* Scope.make()
    const own: SessionDirectory.SessionDirectoryService = {
      join: (name) =>
        Effect.gen(function*() {
          lost = yield* Deferred.make<void>()
          lease = yield* Scope.make()
          const membership = yield* Scope.extend(directory.join(name), lease)
          return {
            ...membership,
            isAlive: (other) =>
              Effect.suspend(() => {
                looks++
                return isAway
                  ? new SessionDirectory.SessionDirectoryError({ message: "away" })
                  : Effect.map(membership.isAlive(other), (isAlive) => isAlive && !isHidden)
              }),
            lost: Deferred.await(lost)
          }
        })
    }
    const ids = ["t", "u"].map((taskId) => ["ada", taskId] as const)
    const store = yield* NodeTasks.make(failing, () => ids).pipe(
      Effect.provideService(SessionDirectory.SessionDirectory, own),
      Scope.extend(scope)
    )
    const stop = Effect.suspend(() => Scope.close(lease, Exit.void))
    return { store, stop, lose: Effect.zipRight(stop, Effect.suspend(() => Deferred.succeed(lost, undefined))) }
  })
  return {
    node,
    tasks,
    away: (away: boolean) => {
      isAway = away
    },
    /** While it is hidden, no node is alive for the directory. */
    hide: (hidden: boolean) => {
      isHidden = hidden
    },
    /** The next replacements in the store fail. */
    fail: (times: number) => {
      failures = times
    },
    /** What comes before a replacement and a creation in the store. */
    before: (steps: { readonly replacing?: typeof replacing; readonly creating?: typeof creating }) => {
      replacing = steps.replacing ?? (() => Effect.void)
      creating = steps.creating ?? Effect.void
    },
    /** How often the directory was read for a node. */
    looks: () => looks
  }
})

const statusOf = (store: TaskStore.TaskStoreService, taskId: string) =>
  Effect.map(store.get("ada", taskId), (found) => Option.getOrThrow(found).status)

describe("a detached task", () => {
  it.scoped("names no node: no node fails it, and none gives it a name", () =>
    Effect.gen(function*() {
      const { node, tasks } = yield* cluster
      const [first, second] = [yield* node, yield* node]
      yield* first.store.create({ ...task("t"), detached: "jobs" })
      assert.strictEqual(Option.getOrThrow(yield* tasks.get("ada", "t")).node, undefined)
      // The node joins again under another name, and gives that to the tasks that it runs.
      yield* first.lose
      yield* TestClock.adjust("2 seconds")
      yield* first.stop
      yield* second.store.get("ada", "t")
      yield* TestClock.adjust(Duration.times(NodeTasks.GRACE, 2))
      const { node: name, status } = Option.getOrThrow(yield* second.store.get("ada", "t"))
      assert.deepStrictEqual([name, status], [undefined, "working"])
    }))
})

describe("tasks of several nodes", () => {
  it.scoped("fail for the readers of another node some time after theirs has ended, with the reason", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      yield* one.stop
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
      yield* TestClock.adjust(NodeTasks.GRACE)
      const failed = Option.getOrThrow(yield* other.store.get("ada", "t"))
      assert.deepInclude(failed, {
        status: "failed",
        version: 2,
        statusMessage: "The node that ran this task has ended"
      })
      assert.deepNestedInclude(failed, { "outcome.error.code": -32603 })
      assert.deepStrictEqual(yield* other.store.get("ada", "t"), Option.some(failed))
    }))

  it.scoped("fail within 3 seconds after the lease for a reader that looks each second", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      yield* one.stop
      for (let second = 1; second <= 3; second++) {
        yield* TestClock.adjust("1 second")
        yield* statusOf(other.store, "t")
      }
      assert.strictEqual(yield* statusOf(other.store, "t"), "failed")
    }))

  it.scoped("have more time when the directory was away a moment ago: the store may have started again", () =>
    Effect.gen(function*() {
      const { away, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      away(true)
      yield* statusOf(other.store, "t")
      away(false)
      yield* one.stop
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust(NodeTasks.GRACE)
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
      yield* TestClock.adjust(NodeTasks.DOUBT)
      assert.strictEqual(yield* statusOf(other.store, "t"), "failed")
    }))

  it.scoped("fail in the list, too", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      yield* one.stop
      const statuses = Effect.map(other.store.list("ada", { limit: 10 }), ({ tasks }) =>
        tasks.map(({ status }) => status))
      assert.deepStrictEqual(yield* statuses, ["working"])
      yield* TestClock.adjust(NodeTasks.GRACE)
      assert.deepStrictEqual(yield* statuses, ["failed"])
    }))

  it.scoped("end for a reader that waits for them", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      const waiting = yield* other.store.changes("ada", "t").pipe(
        Stream.takeUntil(({ status }) => status === "failed"),
        Stream.runCollect,
        Effect.fork
      )
      yield* TestClock.adjust("1 minute")
      yield* one.stop
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual([...yield* Fiber.join(waiting)].map(({ status }) => status), ["working", "failed"])
    }))

  it.scoped("go on while their node lives, and while it cannot be known whether it does", () =>
    Effect.gen(function*() {
      const { away, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust("30 minutes")
      yield* one.store.create(task("u"))
      yield* one.stop
      away(true)
      yield* statusOf(other.store, "u")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "u"), "working")
    }))

  it.scoped("go on when their node has lost its lease and has taken another one", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      yield* one.lose
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
      assert.strictEqual(yield* statusOf(one.store, "t"), "working")
      // The new one counts.
      yield* one.stop
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust(NodeTasks.GRACE)
      assert.strictEqual(yield* statusOf(other.store, "t"), "failed")
    }))

  it.scoped("go on when the store was away while their node took another lease", () =>
    Effect.gen(function*() {
      const { fail, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      fail(2)
      yield* one.lose
      yield* TestClock.adjust("5 seconds")
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
    }))

  it.scoped("go on when the store was away for long after their node had taken another lease", () =>
    Effect.gen(function*() {
      const { fail, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      fail(20)
      yield* one.lose
      yield* TestClock.adjust("1 minute")
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
    }))

  it.scoped("go on when the store takes them while their node takes another lease", () =>
    Effect.gen(function*() {
      const { before, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      const stored = yield* Effect.makeLatch()
      before({ creating: stored.await })
      const creating = yield* Effect.fork(one.store.create(task("t")))
      yield* Effect.yieldNow()
      yield* one.lose
      yield* TestClock.adjust("1 minute")
      yield* stored.open
      yield* Fiber.join(creating)
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
    }))

  it.scoped("go on while the store does not answer for another one, also when their node loses the next lease meanwhile", () =>
    Effect.gen(function*() {
      const { before, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      for (const taskId of ["t", "u"]) yield* one.store.create(task(taskId))
      before({ replacing: ({ taskId }) => taskId === "t" ? Effect.never : Effect.void })
      for (const _ of ["first", "second"]) {
        yield* one.lose
        yield* TestClock.adjust("5 seconds")
      }
      yield* statusOf(other.store, "u")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusOf(other.store, "u"), "working")
    }))

  it.scoped("have the whole time again when their node is missing once more, after it was there", () =>
    Effect.gen(function*() {
      const { hide, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      for (const isHidden of [true, false, true]) {
        hide(isHidden)
        assert.strictEqual(yield* statusOf(other.store, "t"), "working")
        yield* TestClock.adjust(Duration.times(NodeTasks.GRACE, 0.6))
      }
      assert.strictEqual(yield* statusOf(other.store, "t"), "working")
      yield* TestClock.adjust(Duration.times(NodeTasks.GRACE, 0.4))
      assert.strictEqual(yield* statusOf(other.store, "t"), "failed")
    }))

  it.scoped("go on for their own node, also when the directory does not know that the node lives", () =>
    Effect.gen(function*() {
      const { hide, node } = yield* cluster
      const one = yield* node
      yield* one.store.create(task("t"))
      hide(true)
      for (const _ of ["at once", "after the time"]) {
        assert.strictEqual(yield* statusOf(one.store, "t"), "working")
        yield* TestClock.adjust(NodeTasks.GRACE)
      }
    }))

  it.scoped("have the whole time again when a thousand other nodes have ended since theirs did", () =>
    Effect.gen(function*() {
      const { node, tasks } = yield* cluster
      const other = yield* node
      for (let n = 0; n < 1000; n++) yield* tasks.create({ ...task(`${n}`), node: `gone-${n}` })
      yield* tasks.create({ ...task("one more"), owner: "bob", node: "gone-1000" })
      yield* other.store.list("ada", { limit: 1000 })
      yield* other.store.get("bob", "one more")
      yield* TestClock.adjust(NodeTasks.GRACE)
      assert.strictEqual(yield* statusOf(other.store, "2"), "failed")
      assert.strictEqual(yield* statusOf(other.store, "0"), "working")
    }))

  it.scoped("are listed with one look at the directory for each node", () =>
    Effect.gen(function*() {
      const { looks, node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      for (const taskId of ["a", "b", "c"]) yield* one.store.create(task(taskId))
      yield* other.store.list("ada", { limit: 10 })
      assert.strictEqual(looks(), 1)
    }))

  it.scoped("keep the end that their node has stored", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [one, other] = [yield* node, yield* node]
      yield* one.store.create(task("t"))
      const created = Option.getOrThrow(yield* one.store.get("ada", "t"))
      assert.isTrue(yield* one.store.replace({ ...created, version: 2, status: "completed" }))
      yield* one.stop
      yield* statusOf(other.store, "t")
      yield* TestClock.adjust(NodeTasks.GRACE)
      assert.strictEqual(yield* statusOf(other.store, "t"), "completed")
    }))

  it.scoped("are as in the store where there is no directory of nodes", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      assert.strictEqual(yield* NodeTasks.make(store, () => []), store)
    }))
})
