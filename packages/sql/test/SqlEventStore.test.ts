import { assert, describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlEventStore from "@effect-mcp/sql/SqlEventStore"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import { SqlStoreError } from "@effect-mcp/sql/SqlStoreError"
import * as EventStoreLaws from "@effect-mcp/testing/EventStoreLaws"
import { Effect, Option, Schedule, TestClock, TestServices } from "effect"
import { engines } from "./Engines.js"
import * as Sqlite from "./Sqlite.js"

const key = { session: "s", stream: "a" }

const event = (position: number, data = `${position}`) => ({ position, data })

const positions = (found: Option.Option<ReadonlyArray<{ readonly position: number }>>) =>
  Option.getOrUndefined(Option.map(found, (events) => events.map(({ position }) => position)))

/** A store over a connection whose changes pass `around`. */
const through = <R>(
  around: (connection: SqlConnection.SqlConnectionService) => {
    readonly change: <A, E>(what: string, effect: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlStoreError, R>
  },
  options?: SqlEventStore.Options
) =>
  Effect.flatMap(SqlConnection.SqlConnection, (connection) => {
    const { change } = around(connection)
    const passing =
      (run: SqlConnection.SqlConnectionService["run"]): SqlConnection.SqlConnectionService["run"] => (what, effect) =>
        CHANGES.has(what) ? change(what, run(what, effect) as never) as never : run(what, effect)
    return Effect.provideService(SqlEventStore.make(options), SqlConnection.SqlConnection, {
      ...connection,
      run: passing(connection.run),
      transaction: passing(connection.transaction)
    })
  })

const CHANGES = new Set(["store events", "forget a session", "delete what has expired"])

/** How often the event loop has turned. */
const turning = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const loop = { turns: 0, isOver: false }
      const turn = () => {
        loop.turns++
        if (!loop.isOver) setImmediate(turn)
      }
      turn()
      return loop
    }),
    (loop) => Effect.sync(() => void (loop.isOver = true))
  ),
  (loop) => () => loop.turns
)

const isRising = (values: ReadonlyArray<number>) => values.every((one, at) => at === 0 || one > values[at - 1]!)

const make = (options?: SqlEventStore.Options) => Effect.zip(SqlConnection.SqlConnection, SqlEventStore.make(options))

describe.each(engines)("an event store in $engine", ({ pair }) => {
  for (const { check, name } of EventStoreLaws.laws) {
    it.scopedLive(name, () => check(pair(SqlEventStore.make())))
  }

  for (const { check, name } of EventStoreLaws.claims) {
    const node = Effect.all({ events: SqlEventStore.make(), sessions: SqlSessionDirectory.make() })
    it.scopedLive(name, () => check(pair(node)))
  }

  it.scopedLive("drops the oldest events of a stream that has too many, and says so to a reader that needs them", () =>
    Effect.gen(function*() {
      const [[{ run, sql, table }, store]] = yield* pair(make({ maxEvents: 3 }))
      for (let n = 1; n <= 5; n++) yield* store.append(key, event(n))
      assert.deepStrictEqual(positions(yield* store.after(key, -1)), [3, 4, 5])
      assert.deepStrictEqual(positions(yield* store.after(key, 2)), [3, 4, 5])
      assert.isUndefined(positions(yield* store.after(key, 1)))
      yield* Effect.forEach([6, 7, 8, 9, 10, 11], (n) => store.append(key, event(n)), { concurrency: "unbounded" })
      assert.deepStrictEqual(positions(yield* store.after(key, -1)), [9, 10, 11])
      assert.strictEqual((yield* run("read", sql`SELECT position FROM ${table("events")}`)).length, 3)
    }))

  it.scopedLive("knows on every node that an event is missing, which the database has not stored", () =>
    Effect.gen(function*() {
      let fails = false
      const [one, two] = yield* pair(through(() => ({
        change: (_, effect) => fails ? Effect.fail(new SqlStoreError({ message: "away" })) : effect
      })))
      yield* one.append(key, event(1))
      fails = true
      assert.isTrue(yield* one.append(key, event(2)))
      fails = false
      assert.isUndefined(positions(yield* one.after(key, 1)))
      yield* one.append(key, event(3))
      for (const store of [one, two]) {
        assert.isUndefined(positions(yield* store.after(key, 1)))
        assert.deepStrictEqual(positions(yield* store.after(key, 2)), [3])
      }
    }))

  it.scopedLive(
    "stores in bounded portions what arrives at once, in the order of each stream",
    () =>
      Effect.gen(function*() {
        const counts: Array<number> = []
        const sizes: Array<number> = []
        const turns: Array<number> = []
        const turned = yield* turning
        const [store] = yield* pair(through(({ run, sql, table }) => {
          const total = Effect.orDie(
            run(
              "count",
              sql<{ readonly count: number; readonly size: number }>`
            SELECT count(*) AS count, coalesce(sum(length(data)), 0) AS size FROM ${table("events")}`
            )
          )
          return {
            change: (what, effect) =>
              what !== "store events" ? effect : Effect.zipRight(
                Effect.sync(() => turns.push(turned())),
                Effect.tap(effect, () =>
                  Effect.map(total, ([row]) => {
                    counts.push(Number(row!.count) - counts.reduce((all, one) => all + one, 0))
                    sizes.push(Number(row!.size) - sizes.reduce((all, one) => all + one, 0))
                  }))
              )
          }
        }))
        const streams = Array.from({ length: 250 }, (_, n) => ({ session: `s${n % 7}`, stream: `${n}` }))
        yield* Effect.forEach(streams, (key) => store.append(key, event(1)), { concurrency: "unbounded" })
        assert.deepStrictEqual(counts, [100, 100, 50])
        assert.isTrue(isRising(turns), `the event loop turned at ${turns.join()}`)
        const half = "x".repeat(600_000)
        yield* Effect.forEach(streams.slice(0, 3), (key) => store.append(key, event(2, half)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(sizes.slice(3), [600_000, 600_000, 600_000])
        const together = Array.from({ length: 150 }, (_, n) => event(n + 1))
        assert.isTrue(yield* store.appendAll!({ session: "s", stream: "together" }, together, true))
        assert.deepStrictEqual(counts.slice(6), [100, 50])
        assert.isTrue(isRising(turns), `the event loop turned at ${turns.join()}`)
        yield* store.append(key, event(1, "x".repeat(2_000_000)))
        for (const key of streams.slice(0, 9)) {
          assert.deepStrictEqual(positions(yield* store.after(key, -1)), Number(key.stream) < 3 ? [1, 2] : [1])
        }
      }),
    60_000
  )

  it.scopedLive("stores events that come together at once, with the end of their stream", () =>
    Effect.gen(function*() {
      const changes: Array<string> = []
      const [store] = yield* pair(through(() => ({
        change: (what, effect) => Effect.zipRight(Effect.sync(() => changes.push(what)), effect)
      })))
      yield* store.open(key, [1])
      assert.isTrue(yield* store.appendAll!(key, [1, 2, 3].map((n) => event(n)), true))
      assert.deepStrictEqual(changes.filter((what) => what === "store events").length, 2)
      assert.deepStrictEqual(positions(yield* store.after(key, 1)), [2, 3])
      assert.deepStrictEqual(yield* store.unfinished(key), [])
    }))

  it.scopedLive("finishes a stream whose last events it could not store, and knows on every node that they are missing", () =>
    Effect.gen(function*() {
      let failures = 0
      const [one, two] = yield* pair(through(() => ({
        change: (what, effect) =>
          what === "store events" && failures-- > 0 ? Effect.fail(new SqlStoreError({ message: "away" })) : effect
      })))
      yield* one.open(key, [1])
      yield* one.append(key, event(1))
      failures = 1
      assert.isTrue(yield* one.appendAll!(key, [event(2), event(3)], true))
      for (const store of [one, two]) {
        assert.deepStrictEqual(yield* store.unfinished(key), [])
        assert.isUndefined(positions(yield* store.after(key, 1)))
        assert.deepStrictEqual(positions(yield* store.after(key, 3)), [])
      }
    }))

  it.scopedLive("stores the events of other sessions that come with one that the database refuses", () =>
    Effect.gen(function*() {
      const [store] = yield* pair(SqlEventStore.make())
      const keys = [key, { session: "\0", stream: "\0" }, { ...key, stream: "b" }]
      yield* Effect.forEach(keys, (key) => store.append(key, event(1)), { concurrency: "unbounded" })
      assert.deepStrictEqual(positions(yield* store.after(keys[0]!, -1)), [1])
      assert.deepStrictEqual(positions(yield* store.after(keys[2]!, -1)), [1])
    }))

  it.scopedLive("drops events when too much waits for the database", () =>
    Effect.gen(function*() {
      const [store] = yield* pair(SqlEventStore.make({ maxWaiting: 10 }))
      const streams = ["a", "b", "c"].map((stream) => ({ ...key, stream }))
      yield* Effect.forEach(streams, (key) => store.append(key, event(1, "12345")), { concurrency: "unbounded" })
      assert.deepStrictEqual(positions(yield* store.after(streams[1]!, -1)), [1])
      assert.isUndefined(positions(yield* store.after(streams[2]!, -1)))
    }))

  it.scopedLive("forgets nothing that a session has stored after it was removed", () =>
    Effect.gen(function*() {
      const [store] = yield* pair(SqlEventStore.make())
      for (let n = 1; n <= 3; n++) yield* store.append(key, event(n))
      yield* store.forget("s")
      assert.isUndefined(positions(yield* store.after(key, -1)))
      yield* store.append(key, event(4))
      assert.deepStrictEqual(positions(yield* store.after(key, -1)), [4])
      assert.isUndefined(positions(yield* store.after(key, 2)))
    }))

  it.scopedLive("forgets a session with many streams in portions, between which the event loop turns", () =>
    Effect.gen(function*() {
      const turns: Array<number> = []
      const turned = yield* turning
      const [store] = yield* pair(through(() => ({
        change: (what, effect) =>
          Effect.zipRight(Effect.sync(() => what === "forget a session" && turns.push(turned())), effect)
      })))
      const streams = Array.from(
        { length: 1200 },
        (_, n) => ({ session: "s", stream: n === 0 ? "" : `${n}`, epoch: 2 })
      )
      yield* Effect.forEach(streams, (key) => store.append(key, event(1)), { concurrency: "unbounded" })
      yield* store.append({ ...key, session: "other" }, event(1))
      yield* store.forget("s", 1)
      assert.isDefined(positions(yield* store.after(streams[0]!, -1)))
      turns.length = 0
      yield* store.forget("s", 2)
      assert.strictEqual(turns.length, 3)
      assert.isTrue(isRising(turns), `the event loop turned at ${turns.join()}`)
      for (const key of [0, 1, 600, 1199].map((at) => streams[at]!)) {
        assert.isUndefined(positions(yield* store.after(key, -1)))
      }
      assert.deepStrictEqual(positions(yield* store.after({ ...key, session: "other" }, -1)), [1])
    }))

  it.scopedLive("deletes what it has forgotten, more than one statement does", () =>
    pair(Effect.gen(function*() {
      const { run, sql, table } = yield* SqlConnection.SqlConnection
      const store = yield* SqlEventStore.make()
      const session = `s${Math.random()}`
      yield* Effect.forEach(
        Array.from({ length: 1100 }, (_, n) => n + 1),
        (n) => store.append({ session, stream: `${n % 3}` }, event(n)),
        { concurrency: "unbounded" }
      )
      yield* store.forget(session)
      yield* SqlEventStore.make()
      for (const name of ["events", "streams"]) {
        const rows = run("read", sql`SELECT 1 AS one FROM ${table(name)}`)
        yield* Effect.orDie(
          Effect.repeat(rows, { until: ({ length }) => length === 0, schedule: Schedule.spaced("5 millis") })
        )
      }
    })), 60_000)
})

describe("an event store in SQLite", () => {
  it.scopedLive("changes at most 500 rows before the event loop turns", () =>
    Effect.gen(function*() {
      const connection = yield* Effect.flatMap(Sqlite.file, (path) => Sqlite.connection(path))
      const changed: Array<{ readonly what: string; readonly rows: number; readonly turn: number }> = []
      const turned = yield* turning
      // The file has one connection, and nothing comes between a change and the statements that count its rows.
      const open = Effect.provideService(
        through(({ run, sql }) => {
          const total = Effect.map(
            Effect.orDie(run("count", sql<{ readonly rows: number }>`SELECT total_changes() AS rows`)),
            ([row]) => row!.rows
          )
          return {
            change: (what, effect) =>
              Effect.flatMap(total, (before) =>
                Effect.tap(effect, () => {
                  const turn = turned()
                  return Effect.map(total, (after) => changed.push({ what, rows: after - before, turn }))
                }))
          }
        }),
        SqlConnection.SqlConnection,
        connection
      )
      const store = yield* open
      const streams = Array.from({ length: 600 }, (_, n) => ({ session: "s", stream: `${n}` }))
      yield* Effect.forEach(streams, (key) => store.append(key, event(1)), { concurrency: "unbounded" })
      yield* store.forget("s")
      yield* open
      const rows = Effect.orDie(
        connection.run(
          "count",
          connection.sql<{ readonly rows: number }>`SELECT count(*) AS rows FROM ${connection.table("streams")}`
        )
      )
      yield* Effect.repeat(rows, { until: ([row]) => row!.rows === 0, schedule: Schedule.spaced("5 millis") })
      for (const [what, most] of [["store events", 200], ["forget a session", 500], ["delete what has expired", 500]]) {
        const own = changed.filter((change) => change.what === what && change.rows > 0)
        assert.strictEqual(Math.max(...own.map(({ rows }) => rows)), most)
        assert.isTrue(isRising(own.map(({ turn }) => turn)), JSON.stringify(own))
      }
    }))

  it.scoped("drops a stream some minutes after its response, and any other an hour after its last event", () =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      const live = Effect.map(
        TestServices.provideLive(Effect.flatMap(Sqlite.file, (path) => Sqlite.connection(path))),
        (connection): SqlConnection.SqlConnectionService => ({
          ...connection,
          now: Effect.withClock(connection.now, clock),
          run: (what, effect) => TestServices.provideLive(connection.run(what, effect)),
          transaction: (what, effect) => TestServices.provideLive(connection.transaction(what, effect))
        })
      )
      const store = yield* Effect.flatMap(
        live,
        (live) => Effect.provideService(SqlEventStore.make(), SqlConnection.SqlConnection, live)
      )
      yield* store.open(key, [1])
      yield* store.append(key, event(1))
      yield* store.finish(key)
      yield* store.append({ ...key, stream: "b" }, event(1))
      yield* TestClock.adjust("4 minutes")
      assert.deepStrictEqual(positions(yield* store.after(key, -1)), [1])
      yield* TestClock.adjust("2 minutes")
      assert.isUndefined(positions(yield* store.after(key, -1)))
      assert.deepStrictEqual(positions(yield* store.after({ ...key, stream: "b" }, -1)), [1])
      yield* TestClock.adjust("56 minutes")
      assert.isUndefined(positions(yield* store.after({ ...key, stream: "b" }, -1)))
    }))
})
