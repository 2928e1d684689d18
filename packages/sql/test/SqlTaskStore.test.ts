import { assert, describe, it } from "@effect/vitest"
import type { StoredTask } from "@effect-mcp/core/TaskStore"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlTaskStore from "@effect-mcp/sql/SqlTaskStore"
import * as TaskStoreLaws from "@effect-mcp/testing/TaskStoreLaws"
import { Clock, Effect, Either, Fiber, Option, Schedule, Stream } from "effect"
import { engines } from "./Engines.js"
import * as Postgres from "./Postgres.js"

const task = (taskId: string, createdAt: number, changes: Partial<StoredTask> = {}): StoredTask => ({
  taskId,
  owner: "ada",
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt,
  lastUpdatedAt: createdAt,
  ttl: 3_600_000,
  pollInterval: 1000,
  questions: {},
  answers: {},
  ...changes
})

const make = (options?: SqlTaskStore.Options) =>
  Effect.zip(SqlConnection.SqlConnection, Effect.zip(SqlTaskStore.make(options), Clock.currentTimeMillis))

describe.each(engines)("a store of tasks in $engine", ({ pair }) => {
  for (const { check, name } of TaskStoreLaws.laws) {
    it.scopedLive(name, () => check(pair(SqlTaskStore.make())))
  }

  it.scopedLive("finds on one node what another has created, and refuses one of two replacements", () =>
    Effect.gen(function*() {
      const [one, two] = yield* pair(SqlTaskStore.make())
      const first = task("t", yield* Clock.currentTimeMillis)
      yield* one.create(first)
      const next = { ...first, version: 2 }
      const replaced = yield* Effect.all([one.replace(next), two.replace(next)], { concurrency: "unbounded" })
      assert.sameMembers(replaced, [true, false])
      assert.strictEqual(Option.getOrThrow(yield* two.get("ada", "t")).version, 2)
    }))

  it.scopedLive("refuses more tasks of one owner than its limit, a task that is too large, and an id or a page that it cannot use", () =>
    Effect.gen(function*() {
      const [[, [store, now]]] = yield* pair(make({ maxTasks: 3, maxTaskSize: 1000 }))
      for (const id of ["1", "2", "3"]) yield* store.create(task(id, now))
      const full = yield* Effect.flip(store.create(task("4", now)))
      assert.deepInclude(full, { reason: "Full", message: "This owner has 3 tasks, and this is the limit" })
      yield* store.create(task("5", now, { owner: "bob" }))
      const large = yield* Effect.flip(store.create(task("6", now, { owner: "bob", statusMessage: "x".repeat(1000) })))
      assert.deepInclude(large, {
        reason: "Full",
        message: "The task is too large: a task may have at most 1000 characters"
      })
      assert.deepInclude(yield* Effect.flip(store.list("ada", { after: "x", limit: 1 })), {
        reason: "UnknownPage",
        message: "There is no page of tasks after \"x\": pass the `next` of the previous page"
      })
      const again = yield* Effect.flip(store.create(task("5", now, { owner: "eve" })))
      assert.strictEqual(
        again.message,
        "There is already a task with the id \"5\": create each task with a new id"
      )
    }))

  it.scopedLive("finds no task by an id that the database cannot store", () =>
    Effect.gen(function*() {
      const [store] = yield* pair(SqlTaskStore.make())
      for (const id of ["\0", "\ud800", "'; DROP TABLE mcp_tasks; --"]) {
        assert.isTrue(Option.isNone(yield* store.get("\0", id)))
      }
    }))

  it.scopedLive("finds, lists, counts, changes and follows no task whose time has passed, before its row is deleted", () =>
    Effect.gen(function*() {
      const [[{ run, sql, table }, [store, now]]] = yield* pair(make({ maxTasks: 2 }))
      for (const id of ["old", "older"]) yield* store.create(task(id, now))
      const full = yield* Effect.flip(store.create(task("new", now)))
      assert.strictEqual(full.reason, "Full")
      yield* run("let their time pass", sql`UPDATE ${table("tasks")} SET expires = 1`)
      assert.isTrue(Option.isNone(yield* store.get("ada", "old")))
      assert.deepStrictEqual((yield* store.list("ada", { limit: 9 })).tasks, [])
      assert.isFalse(yield* store.replace({ ...task("old", now), version: 2 }))
      assert.isTrue(Option.isNone(yield* Stream.runHead(store.changes("ada", "old"))))
      // As many as before, and no more.
      for (const id of ["new", "newer"]) yield* store.create(task(id, now))
      assert.strictEqual((yield* Effect.flip(store.create(task("newest", now)))).reason, "Full")
      assert.deepStrictEqual((yield* store.list("ada", { limit: 9 })).tasks.map(({ taskId }) => taskId), [
        "new",
        "newer"
      ])
    }))

  it.scopedLive("deletes the tasks whose time has passed, more than one statement does", () =>
    pair(Effect.gen(function*() {
      const { run, sql, table } = yield* SqlConnection.SqlConnection
      const now = yield* Clock.currentTimeMillis
      const old = Array.from({ length: 1200 }, (_, n) => ({
        id: `old-${n}-${Math.random()}`,
        owner: "x",
        version: 1,
        task: "{}",
        expires: now - 1
      }))
      yield* Effect.orDie(run("store", sql`INSERT INTO ${table("tasks")} ${sql.insert(old)}`))
      const store = yield* SqlTaskStore.make()
      yield* Effect.orDie(store.create(task(`new-${Math.random()}`, now)))
      const count = sql<{ readonly count: number | string }>`SELECT count(*) AS count FROM ${table("tasks")}`
      const every = Schedule.spaced("5 millis")
      yield* Effect.orDie(
        Effect.repeat(run("count", count), { until: ([row]) => Number(row!.count) <= 2, schedule: every })
      )
    })))
})

Postgres.suite("stores of tasks on two nodes", () => {
  it.scopedLive("keep a task for its time, also when the clock of the node that creates it differs from that of the database", () =>
    Effect.gen(function*() {
      const [store] = yield* Postgres.pair(SqlTaskStore.make())
      const hour = 3_600_000
      const clock = Clock.make()
      const late = Object.assign(Clock.make(), {
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - 2 * hour)
      })
      const create = Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => Effect.zipRight(store.create(task("t", now)), store.create(task("old", now - 2 * hour)))
      )
      yield* Effect.withClock(create, late)
      const ids = Effect.map(store.list("ada", { limit: 9 }), ({ tasks }) => tasks.map(({ taskId }) => taskId))
      assert.deepStrictEqual(yield* Effect.withClock(ids, late), ["t"])
    }))

  it.scopedLive("accept no more tasks of one owner than the limit, when both create one at the same time", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const nodes = [
        yield* Postgres.node(url, make({ maxTasks: 1 })),
        yield* Postgres.node(url, make({ maxTasks: 1 }))
      ] as const
      const [{ run, sql, table, transaction }, [, now]] = nodes[0]
      // What a node creates is not stored while the test has the lock 1.
      const body = sql.literal("'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END'")
      yield* run("wait", sql`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS ${body}`)
      yield* run(
        "wait",
        sql`CREATE TRIGGER wait BEFORE INSERT ON ${table("tasks")} FOR EACH ROW EXECUTE FUNCTION wait()`
      )
      const waiting = sql`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      const creating = yield* transaction(
        "hold the lock",
        Effect.gen(function*() {
          yield* sql`SELECT pg_advisory_xact_lock(1)`
          const fibers = yield* Effect.forEach(
            nodes,
            ([, [store]], n) => Effect.forkDaemon(Effect.either(store.create(task(`${n}`, now))))
          )
          yield* Effect.repeat(waiting, { until: ({ length }) => length === 2 })
          return fibers
        })
      )
      const created = yield* Effect.forEach(creating, Fiber.join)
      assert.strictEqual(created.filter(Either.isRight).length, 1)
      assert.deepStrictEqual(created.filter(Either.isLeft).map(({ left }) => left.reason), ["Full"])
    }))
})
