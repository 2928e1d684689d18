import { assert, describe, it } from "@effect/vitest"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import { Effect, Fiber, Option, Schedule } from "effect"
import { engines } from "./Engines.js"
import * as Postgres from "./Postgres.js"

describe.each(engines)("a directory in $engine", ({ pair }) => {
  for (const { check, name } of SessionDirectoryLaws.laws) {
    it.scopedLive(name, () => check(pair(SqlSessionDirectory.make())))
  }
})

Postgres.suite("a directory in PostgreSQL", () => {
  it.scopedLive("stores the first update of the next node, however many the node before has made", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Postgres.pair(SqlSessionDirectory.make())
      const [before, after] = [yield* one.join("one"), yield* two.join("two")]
      yield* before.create("s", {})
      for (const n of [1, 2, 3]) yield* before.update("s", 1, { n })
      yield* before.release("s", 1)
      assert.deepStrictEqual(Option.getOrThrow(yield* after.claim("s", 1)).facts, { n: 3 })
      assert.isTrue(yield* after.update("s", 2, { n: 4 }))
      assert.deepStrictEqual(Option.getOrThrow(yield* before.find("s")).facts, { n: 4 })
    }))

  it.scopedLive("keeps the facts of the later update when an interrupted one before it comes late", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table, transaction } = yield* Postgres.connection(url)
      const { create, find, update } = yield* Effect.flatMap(
        Postgres.node(url, SqlSessionDirectory.make()),
        ({ join }) => join("one")
      )
      yield* create("s", { state: "first" })
      const lock = sql`SELECT pg_advisory_xact_lock(7)`
      yield* run(
        "make the first update wait for the lock, before it has read the session",
        sql`
          CREATE SEQUENCE updates;
          CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF nextval('updates') = 1 THEN PERFORM pg_advisory_xact_lock(7); END IF;
              RETURN NULL;
            END
          $$;
          CREATE TRIGGER hold BEFORE UPDATE ON ${table("sessions")} FOR EACH STATEMENT EXECUTE FUNCTION hold()`
      )
      yield* transaction(
        "lock",
        Effect.gen(function*() {
          yield* lock
          const older = yield* Effect.fork(update("s", 1, { state: "older" }))
          yield* Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`, {
            until: (rows) => rows.length > 0,
            schedule: Schedule.spaced("10 millis")
          })
          yield* Fiber.interrupt(older)
          assert.isTrue(yield* update("s", 1, { state: "newer" }))
        })
      )
      // The older one has had its turn.
      yield* run("wait", lock)
      const found = Option.getOrThrow(yield* find("s"))
      assert.deepStrictEqual(found.facts, { state: "newer" })
    }))
})
