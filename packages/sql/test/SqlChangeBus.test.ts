import { Statement } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import * as SqlChangeBus from "@effect-mcp/sql/SqlChangeBus"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { SqlStoreError } from "@effect-mcp/sql/SqlStoreError"
import * as ChangeBusLaws from "@effect-mcp/testing/ChangeBusLaws"
import { Chunk, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { engines } from "./Engines.js"
import * as Postgres from "./Postgres.js"

describe.each(engines)("a bus in $engine", ({ pair }) => {
  for (const { check, name } of ChangeBusLaws.laws) it.scopedLive(name, () => check(pair(SqlChangeBus.make())))
})

const resource = (uri: string) => ({ _tag: "Resource", uri }) as const

// Each test has a database of its own, and most of them wait: they wait together.
Postgres.suite.concurrent("a bus in PostgreSQL", () => {
  it.scopedLive("stores its last changes only, and gives Unknown in place of those before them", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table } = yield* Postgres.connection(url)
      const bus = yield* Postgres.node(url, SqlChangeBus.make({ maxChanges: 3 }))
      const [one, two] = [yield* bus.join, yield* bus.join]
      for (let n = 0; n < 10; n++) yield* one.publish(resource(`${n}`))
      assert.strictEqual((yield* run("read", sql`SELECT 1 FROM ${table("changes")}`)).length, 3)
      const read = yield* Stream.runCollect(Stream.take(two.changes, 4))
      assert.deepStrictEqual(Chunk.toReadonlyArray(read), [
        { _tag: "Unknown" },
        ...["7", "8", "9"].map(resource)
      ])
    }))

  it.scopedLive("gives Unknown to the others in place of each change that it has not stored, also while it stores Unknown", () =>
    Effect.gen(function*() {
      const connection = yield* Postgres.connection(yield* Postgres.database)
      const over = (connection: SqlConnection.SqlConnectionService) =>
        Effect.provideService(SqlChangeBus.make(), SqlConnection.SqlConnection, connection)
      const two = yield* (yield* over(connection)).join
      const fails = Effect.fail(new SqlStoreError({ message: "The database did not store a change: it is away" }))
      let lost: Effect.Effect<void> = Effect.void
      let stores = 0
      const run: typeof connection.run = (what, effect) =>
        what !== "store a change" ? connection.run(what, effect) : Effect.suspend(() => {
          stores++
          // The second is Unknown, in place of the first.
          return stores === 2
            ? Effect.zipLeft(connection.run(what, effect), lost)
            : stores < 4
            ? fails
            : connection.run(what, effect)
        })
      const one = yield* (yield* over({ ...connection, run })).join
      lost = one.publish(resource("b"))
      yield* one.publish(resource("a"))
      const read = yield* Stream.runCollect(Stream.take(two.changes, 2))
      assert.deepStrictEqual(Chunk.toReadonlyArray(read), [{ _tag: "Unknown" }, { _tag: "Unknown" }])
    }))

  it.scopedLive("gives Unknown to the others in place of a change that it has not stored when it closes", () =>
    Effect.gen(function*() {
      const connection = yield* Postgres.connection(yield* Postgres.database)
      const over = (connection: SqlConnection.SqlConnectionService) =>
        Effect.provideService(SqlChangeBus.make(), SqlConnection.SqlConnection, connection)
      const two = yield* (yield* over(connection)).join
      const received = yield* Stream.toPull(two.changes)
      const next = Effect.repeat(received, { until: (changes) => Chunk.size(changes) > 0 })
      const fails = Effect.fail(new SqlStoreError({ message: "The database did not store a change: it is away" }))
      const isAway = yield* Effect.makeLatch(true)
      for (const lose of [fails, Effect.never]) {
        let isFirst = true
        const run: typeof connection.run = (what, effect) =>
          what !== "store a change" || !isFirst ? connection.run(what, effect) : Effect.suspend(() => {
            isFirst = false
            return Effect.zipRight(isAway.open, lose)
          })
        yield* isAway.close
        const scope = yield* Scope.make()
        const one = yield* Scope.extend(Effect.flatMap(over({ ...connection, run }), ({ join }) => join), scope)
        const publishing = yield* Effect.fork(one.publish(resource("a")))
        yield* isAway.await
        // Before it would have tried again.
        yield* Fiber.interrupt(publishing)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* next), [{ _tag: "Unknown" }])
      }
    }))

  it.scopedLive("stores and reads a change without a look at all that are stored", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const connection = yield* Postgres.connection(url)
      const { run, sql, table } = connection
      const statements: Array<readonly [sql: string, params: ReadonlyArray<unknown>]> = []
      const bus = yield* Effect.provideService(SqlChangeBus.make(), SqlConnection.SqlConnection, {
        ...connection,
        run: (what, effect) => {
          if (Statement.isFragment(effect)) {
            statements.push((effect as unknown as Statement.Statement<unknown>).compile())
          }
          return run(what, effect)
        }
      })
      const [one, two] = [yield* bus.join, yield* bus.join]
      yield* run(
        "store",
        sql`INSERT INTO ${table("changes")} SELECT -number, 'x', 'y' FROM generate_series(1, 10000) number`
      )
      yield* one.publish(resource("a"))
      yield* Stream.runHead(two.changes)
      const about = statements.filter(([text]) => text.includes(table("changes").value))
      assert.strictEqual(about.length, 2)
      for (const [text, params] of about) {
        const plan = yield* run("explain", sql.unsafe(`EXPLAIN ${text}`, params))
        assert.notInclude(JSON.stringify(plan), `Seq Scan on ${table("changes").value}`)
      }
    }))

  it.scopedLive("goes on when the database has lost its last changes, after a change that is not known", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table } = yield* Postgres.connection(url)
      const bus = yield* Postgres.node(url, SqlChangeBus.make())
      const [one, two] = [yield* bus.join, yield* bus.join]
      const received = yield* Stream.toPull(two.changes)
      for (const uri of ["a", "b"]) yield* one.publish(resource(uri))
      yield* Effect.repeat(received, {
        until: (changes) => Chunk.some(changes, (change) => change._tag === "Resource")
      })
      // As from a copy of some time ago.
      yield* run("restore", sql`DELETE FROM ${table("changes")}`)
      yield* run("restore", sql`UPDATE ${table("last_change")} SET number = 0`)
      const later = yield* Effect.repeat(received, { until: (changes) => Chunk.size(changes) > 0 })
      assert.deepStrictEqual(Chunk.toReadonlyArray(later), [{ _tag: "Unknown" }])
      yield* one.publish(resource("c"))
      const next = yield* Effect.repeat(received, { until: (changes) => Chunk.size(changes) > 0 })
      assert.deepStrictEqual(Chunk.toReadonlyArray(next), [resource("c")])
    }))
})
