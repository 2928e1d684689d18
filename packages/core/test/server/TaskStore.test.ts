import { assert, describe, it } from "@effect/vitest"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as TaskStoreLaws from "@effect-mcp/testing/TaskStoreLaws"
import { Clock, Context, Effect, Exit, Fiber, Layer, Option, Scope, Stream, TestClock } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { until } from "./Serving.js"

const task = (taskId: string, changes: Partial<TaskStore.StoredTask> = {}): TaskStore.StoredTask => ({
  taskId,
  owner: "ada",
  revision: "2026-07-28",
  version: 1,
  status: "working",
  createdAt: 0,
  lastUpdatedAt: 0,
  ttl: 60_000,
  pollInterval: 1000,
  questions: {},
  answers: {},
  ...changes
})

const large = (characters: number) => ({ outcome: { result: { text: "x".repeat(characters) } } })

describe("a store of tasks in memory", () => {
  for (const { check, name } of TaskStoreLaws.laws) {
    it.scoped(name, () => check(Effect.map(TaskStore.memory(), (one) => [one, one] as const)))
  }

  it.scopedLive("gives the newest version to a reader that follows a task, wherever a fiber stops between two steps", () =>
    preempted(Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const now = yield* Clock.currentTimeMillis
      yield* store.create(task("a", { createdAt: now }))
      const last = Stream.runHead(Stream.filter(store.changes("ada", "a"), ({ version }) => version === 3))
      const follower = yield* Effect.fork(last)
      for (const version of [2, 3]) {
        yield* Effect.yieldNow()
        yield* store.replace(task("a", { createdAt: now, version }))
      }
      assert.isTrue(Option.isSome(yield* Fiber.join(follower)))
    })))

  it.scoped("ends with its layer, also when a fiber has built the layer that cannot be interrupted", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Effect.uninterruptible(Layer.buildWithScope(TaskStore.layerMemory, scope))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* until(() => closing.unsafePoll() !== null)
    }))

  it.scoped("refuses an owner more tasks than its limit, and no other owner", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxTasks: 2 })
      yield* store.create(task("a"))
      yield* store.create(task("b"))
      const { message, reason } = yield* Effect.flip(store.create(task("c")))
      assert.deepStrictEqual([reason, message], ["Full", "This owner has 2 tasks, and this is the limit"])
      yield* store.create(task("d", { owner: "bob" }))
      yield* store.create(task("e", { owner: null }))
    }))

  it.scoped("refuses what would make it larger than its limit, and goes on accepting what fits", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxSize: 10_000, maxOwnerSize: 10_000 })
      yield* store.create(task("a"))
      const { reason } = yield* Effect.flip(store.replace(task("a", { version: 2, ...large(10_000) })))
      assert.strictEqual(reason, "Full")
      assert.deepStrictEqual(yield* store.get("ada", "a"), Option.some(task("a")))
      assert.isTrue(yield* store.replace(task("a", { version: 2, ...large(9000) })))
      assert.strictEqual((yield* Effect.flip(store.create(task("b", large(1000))))).reason, "Full")
      assert.isTrue(yield* store.replace(task("a", { version: 3 })))
      yield* store.create(task("b", large(1000)))
    }))

  it.scoped("gives no owner more than its share, however the tasks grow, and keeps room for the others", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxSize: 40_000 })
      for (const owner of ["ada", null]) {
        const mine = (changes: Partial<TaskStore.StoredTask>) => task(`${owner}-1`, { owner, ...changes })
        yield* store.create(mine(large(4000)))
        const second = yield* Effect.flip(store.create(task(`${owner}-2`, { owner, ...large(6000) })))
        const grown = yield* Effect.flip(store.replace(mine({ version: 2, ...large(10_000) })))
        const message = "The tasks of this owner have 10000 characters, and this is the limit"
        assert.deepStrictEqual([second.reason, second.message, grown.message], ["Full", message, message])
        assert.isTrue(yield* store.replace(mine({ version: 2, ...large(9000) })))
      }
      for (const owner of ["bob", "eve"]) yield* store.create(task(owner, { owner, ...large(9000) }))
      const all = yield* Effect.flip(store.create(task("last", { owner: "zoe", ...large(9000) })))
      assert.strictEqual(all.message, "The tasks have 40000 characters, and this is the limit")
      yield* TestClock.adjust("1 minute")
      yield* store.create(task("ada-3", { createdAt: 60_000, ...large(9000) }))
    }))

  it.scoped("has room for an owner that has little, whatever several others have filled it with", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxSize: 50_000, maxTasks: 1000 })
      for (const owner of ["a", "b", "c", "d", "e"]) {
        let n = 0
        const more = Effect.suspend(() =>
          store.create(task(`${owner}-${++n}`, { owner, status: "completed", ...large(500) }))
        )
        yield* Effect.flip(Effect.forever(more))
      }
      for (const owner of ["ada", "bob", null]) {
        const own = task(`${owner}`, { owner })
        yield* store.create(own)
        assert.isTrue(yield* store.replace({ ...own, version: 2, ...large(5000) }), `${owner}`)
      }
      // The owners that have most have lost their oldest results, and no more than what is above their share.
      for (const owner of ["a", "b", "c", "d", "e"]) {
        const { tasks } = yield* store.list(owner, { limit: 1000 })
        const size = tasks.reduce((sum, one) => sum + JSON.stringify(one).length, 0)
        assert.isTrue(size === 0 || tasks.at(-1)!.taskId !== `${owner}-1`, owner)
        if (owner !== "e") assert.isAbove(size, 50_000 / 8 - 1500, owner)
      }
      // Who has more than its share gets no room.
      assert.strictEqual(
        (yield* Effect.flip(store.create(task("a-last", { owner: "a", ...large(6000) })))).reason,
        "Full"
      )
    }))

  it.scoped("forgets results whose time has passed, without a creation and without a use", () =>
    Effect.gen(function*() {
      const removed: Array<string> = []
      const watched = (taskId: string) => {
        const one = task(taskId)
        return {
          ...one,
          get ttl() {
            removed.push(taskId)
            return one.ttl
          }
        }
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const { create, replace } = Context.get(
          yield* Layer.build(TaskStore.layerMemoryWith({ maxSize: 2000, maxOwnerSize: 2000 })),
          TaskStore.TaskStore
        )
        yield* create(watched("a"))
        yield* create(task("b", { ...large(1000), ttl: 60_000 }))
        yield* create(task("c", { ttl: 600_000 }))
        removed.length = 0
        yield* TestClock.adjust("2 minutes")
        assert.isAtLeast(removed.length, 1)
        removed.length = 0
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(removed, [])
        assert.isTrue(yield* replace(task("c", { ttl: 600_000, version: 2, ...large(1200) })))
      }))
    }))

  it.scoped("looks at the tasks of the page that it lists, and at none before or after", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxTasks: 10_000 })
      let looks = 0
      const counting = (taskId: string): TaskStore.StoredTask => ({
        ...task(taskId),
        get createdAt() {
          return looks++ * 0
        }
      })
      for (let i = 0; i < 1000; i++) yield* store.create(counting(`t-${i}`))
      looks = 0
      const first = yield* store.list("ada", { limit: 50 })
      const last = yield* store.list("ada", { after: "950", limit: 50 })
      assert.isAtMost(looks, 101)
      assert.deepStrictEqual([first.tasks[0]?.taskId, first.tasks.length, first.next], ["t-0", 50, "50"])
      assert.deepStrictEqual([last.tasks[0]?.taskId, last.tasks.length, last.next], ["t-950", 50, undefined])
    }))

  it.scoped("goes on with the page after a task that it has removed meanwhile", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      for (const [i, ttl] of [90, 90, 30, 90, 90].entries()) yield* store.create(task(`t-${i}`, { ttl: ttl * 1000 }))
      const { next } = yield* store.list("ada", { limit: 3 })
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Option.isNone(yield* store.get("ada", "t-2")))
      const page = yield* store.list("ada", { after: next, limit: 3 })
      assert.deepStrictEqual(page.tasks.map(({ taskId }) => taskId), ["t-3", "t-4"])
      const whole = yield* store.list("ada", { limit: 9 })
      assert.deepStrictEqual(whole.tasks.map(({ taskId }) => taskId), ["t-0", "t-1", "t-3", "t-4"])
    }))

  it.scoped("removes a task when its time has passed, and has room again", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxTasks: 1 })
      yield* store.create(task("a"))
      yield* TestClock.adjust("59 seconds")
      assert.isTrue(Option.isSome(yield* store.get("ada", "a")))
      assert.strictEqual((yield* Effect.flip(store.create(task("b", { createdAt: 59_000 })))).reason, "Full")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* store.list("ada", { limit: 10 })).tasks, [])
      yield* store.create(task("b", { createdAt: 60_000 }))
    }))

  it.scoped("refuses a page that it has not named, and names it", () =>
    Effect.gen(function*() {
      const { list } = yield* TaskStore.memory()
      const { message, reason } = yield* Effect.flip(list("ada", { after: "somewhere", limit: 1 }))
      assert.strictEqual(reason, "UnknownPage")
      assert.strictEqual(
        message,
        "There is no page of tasks after \"somewhere\": pass the `next` of the previous page"
      )
    }))

  it.scoped("refuses a second task with the id of another one, and has the beginning of the id in the message only", () =>
    Effect.gen(function*() {
      const { create } = yield* TaskStore.memory()
      yield* create(task("0123456789abcdef"))
      const { message, reason } = yield* Effect.flip(create(task("0123456789abcdef", { owner: "bob" })))
      assert.strictEqual(reason, "Unavailable")
      assert.strictEqual(
        message,
        "There is already a task with the id \"01234567…\": create each task with a new id"
      )
    }))

  it.scoped("ends the changes of a task that it removes", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      yield* store.create(task("a"))
      const changes = yield* Effect.fork(Stream.runCollect(store.changes("ada", "a")))
      yield* TestClock.adjust("1 minute")
      yield* store.get("ada", "a")
      assert.deepStrictEqual([...yield* Fiber.join(changes)], [task("a")])
    }))

  for (
    const [name, make] of [
      ["the store", TaskStore.memory()],
      ["the layer", Effect.map(Layer.build(TaskStore.layerMemory), Context.get(TaskStore.TaskStore))]
    ] as const
  ) {
    it.scoped(`forgets a result within a second after its time has passed, without a use (${name})`, () =>
      Effect.gen(function*() {
        const store = yield* make
        let looks = 0
        yield* store.create({
          ...task("a"),
          ttl: 10_000,
          // The store looks at what it removes.
          get owner() {
            looks++
            return "ada"
          }
        })
        looks = 0
        yield* TestClock.adjust("9 seconds")
        assert.strictEqual(looks, 0)
        yield* TestClock.adjust("2 seconds")
        assert.isAtLeast(looks, 1)
        looks = 0
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(looks, 0)
      }))
  }
})
