import { assert, describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisTaskStore from "@effect-mcp/redis/RedisTaskStore"
import * as TaskStoreLaws from "@effect-mcp/testing/TaskStoreLaws"
import { Clock, Effect, Fiber, Option, Schedule } from "effect"
import * as RedisProcess from "./RedisProcess.js"

describe("a store of tasks in Redis", () => {
  for (const { check, name } of TaskStoreLaws.laws) {
    it.scopedLive(name, () => check(RedisProcess.pair(RedisTaskStore.make())))
  }
})

const taskOf = (taskId: string, createdAt: number, ttl: number) =>
  ({
    taskId,
    owner: "ada",
    revision: "2025-11-25",
    version: 1,
    status: "working",
    createdAt,
    lastUpdatedAt: createdAt,
    ttl,
    pollInterval: 1000,
    questions: {},
    answers: {}
  }) as const

describe("RedisTaskStore", () => {
  const often = Schedule.spaced("20 millis")
  const over = (connection: RedisConnection.RedisConnectionService, options?: RedisTaskStore.Options) =>
    Effect.provideService(RedisTaskStore.make(options), RedisConnection.RedisConnection, connection)

  it.scopedLive("names the id that a task has already, and the page that there is not", () =>
    Effect.gen(function*() {
      const { create, list } = yield* over(yield* RedisProcess.connection(yield* RedisProcess.shared))
      const now = yield* Clock.currentTimeMillis
      yield* create(taskOf("1", now, 60_000))
      for (const owner of ["ada", "bob"]) {
        const { message } = yield* Effect.flip(create({ ...taskOf("1", now, 60_000), owner }))
        assert.strictEqual(
          message,
          "There is already a task with the id \"1\": create each task with a new id"
        )
      }
      const { message } = yield* Effect.flip(list("ada", { after: "x", limit: 1 }))
      assert.strictEqual(message, "There is no page of tasks after \"x\": pass the `next` of the previous page")
    }))

  it.scopedLive("stores nothing of an owner whose tasks have expired", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const { create } = yield* over(connection)
      const now = yield* Clock.currentTimeMillis
      yield* create(taskOf("1", now, 4000))
      yield* create(taskOf("2", now, 2000))
      const keys = connection.command("KEYS", `${connection.prefix}*ada*`)
      assert.strictEqual((yield* keys as Effect.Effect<ReadonlyArray<string>>).length, 3)
      yield* Effect.repeat(keys, { until: (found) => Array.isArray(found) && found.length === 0, schedule: often })
    }))

  it.scopedLive("makes room for a task when any of its owner's tasks have expired, and never for more than the limit", () =>
    Effect.gen(function*() {
      const maxTasks = 160
      const { create, get, list } = yield* over(yield* RedisProcess.connection(yield* RedisProcess.shared), {
        maxTasks
      })
      const now = yield* Clock.currentTimeMillis
      const creating = (name: string, count: number, ttl: number) =>
        Effect.forEach(
          Array.from({ length: count }, (_, n) => taskOf(`${name}${n}`, now, ttl)),
          (task) => Effect.isSuccess(create(task)),
          { concurrency: "unbounded" }
        )
      yield* creating("long", 120, 600_000)
      const short = yield* creating("short", 100, 4000)
      assert.strictEqual(short.filter(Boolean).length, 40)
      yield* Effect.repeat(get("ada", `short${short.lastIndexOf(true)}`), { until: Option.isNone, schedule: often })
      assert.strictEqual((yield* creating("later", 100, 600_000)).filter(Boolean).length, 40)
      assert.strictEqual((yield* list("ada", { limit: 500 })).tasks.length, maxTasks)
    }))

  it.scopedLive("lets a task grow by what expired tasks of its owner had", () =>
    Effect.gen(function*() {
      const { create, get, replace } = yield* over(yield* RedisProcess.connection(yield* RedisProcess.shared), {
        maxOwnerSize: 2000
      })
      const now = yield* Clock.currentTimeMillis
      const short = { ...taskOf("short", now, 2000), statusMessage: "x".repeat(1000) }
      const long = taskOf("long", now, 600_000)
      const grown = { ...long, version: 2, statusMessage: "x".repeat(1000) }
      yield* create(long)
      yield* create(short)
      assert.strictEqual((yield* Effect.flip(replace(grown))).reason, "Full")
      yield* Effect.repeat(get("ada", "short"), { until: Option.isNone, schedule: often })
      assert.isTrue(yield* replace(grown))
      const large = { ...grown, version: 3, statusMessage: "x".repeat(2000) }
      assert.strictEqual((yield* Effect.flip(replace(large))).reason, "Full")
    }))

  it.scopedLive("answers that a version is not the next one, also when the task would be too large", () =>
    Effect.gen(function*() {
      const { create, replace } = yield* over(yield* RedisProcess.connection(yield* RedisProcess.shared), {
        maxOwnerSize: 2000
      })
      const now = yield* Clock.currentTimeMillis
      const task = taskOf("1", now, 600_000)
      yield* create(task)
      assert.isTrue(yield* replace({ ...task, version: 2 }))
      const statusMessage = "x".repeat(2000)
      assert.isFalse(yield* replace({ ...task, version: 2, statusMessage }))
      assert.isFalse(yield* replace({ ...task, version: 2, statusMessage: "x".repeat(1000) }))
      assert.isFalse(yield* replace({ ...task, owner: "bob", version: 3, statusMessage }))
      assert.strictEqual((yield* Effect.flip(replace({ ...task, version: 3, statusMessage }))).reason, "Full")
      // A version that was not stored takes no room.
      yield* create({ ...taskOf("2", now, 600_000), statusMessage: "x".repeat(1000) })
    }))

  it.scopedLive("lists a task that is created slowly after those that a reader has had", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const [reached, gate] = [yield* Effect.makeLatch(), yield* Effect.makeLatch()]
      const slow = yield* over({
        ...connection,
        run: (...args) => reached.open.pipe(Effect.zipRight(gate.await), Effect.zipRight(connection.run(...args)))
      })
      const { create, list } = yield* over(connection)
      const now = yield* Clock.currentTimeMillis
      const creating = yield* Effect.fork(slow.create(taskOf("1", now, 600_000)))
      yield* reached.await
      for (const id of ["2", "3"]) yield* create(taskOf(id, now, 600_000))
      const page = yield* list("ada", { limit: 1 })
      yield* gate.open
      yield* Fiber.join(creating)
      const rest = yield* list("ada", { after: page.next, limit: 10 })
      const ids = [page, rest].map(({ tasks }) => tasks.map(({ taskId }) => taskId))
      assert.deepStrictEqual(ids, [["2"], ["3", "1"]])
    }))

  it.scopedLive("keeps a task in its place when another one of the same id is refused", () =>
    Effect.gen(function*() {
      const { create, list } = yield* over(yield* RedisProcess.connection(yield* RedisProcess.shared))
      const now = yield* Clock.currentTimeMillis
      for (const id of ["1", "2"]) yield* create(taskOf(id, now, 600_000))
      for (const owner of ["ada", "bob"]) {
        assert.strictEqual((yield* Effect.flip(create({ ...taskOf("1", now, 600_000), owner }))).reason, "Unavailable")
      }
      assert.deepStrictEqual((yield* list("ada", { limit: 10 })).tasks.map(({ taskId }) => taskId), ["1", "2"])
      assert.deepStrictEqual((yield* list("bob", { limit: 10 })).tasks, [])
    }))
})
