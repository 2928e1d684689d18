import { assert, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as StreamRows from "../../src/connection/StreamRows.js"
import * as Sweep from "../../src/connection/Sweep.js"
import * as Postgres from "../Postgres.js"

Postgres.suite("a sweep, while another transaction has locked rows that have expired", () => {
  it.scopedLive("deletes all the others", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const { run, sql, table, transaction } = yield* Postgres.connection(url, { timeout: "30 seconds" })
      const [nodes, streams, events] = [table("nodes"), table("streams"), table("events")]
      const names = sql`(VALUES ('locked'), ('free')) AS names (name)`
      yield* run("store", sql`INSERT INTO ${nodes} (id, expires) SELECT name, 0 FROM ${names}`)
      yield* run("store", sql`INSERT INTO ${streams} SELECT 's', name, 1, '', 1, 1, 1, 0, 0, 0 FROM ${names}`)
      yield* run("store", sql`INSERT INTO ${events} SELECT 's', name, 1, '{}' FROM ${names}`)
      const left = sql<{ readonly name: string }>`
        SELECT id AS name FROM ${nodes} UNION ALL SELECT stream FROM ${streams} UNION ALL SELECT stream FROM ${events}`
      const sweeping = yield* Postgres.connection(url, { timeout: "30 seconds" })
      yield* transaction(
        "lock",
        Effect.gen(function*() {
          yield* sql`SELECT FROM ${nodes} WHERE id = 'locked' FOR UPDATE`
          yield* sql`SELECT FROM ${events} WHERE stream = 'locked' FOR UPDATE`
          yield* Sweep.every(sweeping, "nodes")
          yield* StreamRows.make(sweeping).sweep
          yield* Effect.repeat(left, {
            until: (rows) => rows.every(({ name }) => name === "locked"),
            schedule: Schedule.spaced("20 millis"),
            times: 400
          })
          assert.deepStrictEqual((yield* left).map(({ name }) => name), ["locked", "locked", "locked"])
        })
      )
    }))
})
