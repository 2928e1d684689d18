import { SqlClient } from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlMigrations from "@effect-mcp/sql/SqlMigrations"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import * as Postgres from "./Postgres.js"

Postgres.suite("a node after a failover of PostgreSQL", () => {
  it.scopedLive("leaves the connections that only read, and writes again as soon as new ones do", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      yield* Effect.provide(SqlMigrations.run(), Postgres.client(url))
      // Each connection keeps what was set when it was opened, as one to a replica does.
      const set = (value: string) =>
        Effect.provide(
          Effect.flatMap(SqlClient, (sql) =>
            sql`ALTER DATABASE ${sql(new URL(url).pathname.slice(1))}
                SET default_transaction_read_only = ${sql.literal(value)}`),
          Postgres.client(Postgres.server())
        )
      yield* set("on")
      const node = Layer.provide(SqlConnection.layerWith({ migrate: false }), PgNodes.client({ url }))
      const { run, sql, table, transaction } = Context.get(yield* Layer.build(node), SqlConnection.SqlConnection)
      const store = (id: string) => sql`INSERT INTO ${table("nodes")} (id, expires) VALUES (${id}, 1)`
      const refused = yield* Effect.forEach(
        ["1", "2", "3", "4", "5"],
        (id) => Effect.flip(run("store", Effect.zipRight(sql`SELECT pg_sleep(0.1)`, store(id)))),
        { concurrency: 5 }
      )
      for (const { code, message } of refused) {
        assert.strictEqual(code, "25006")
        assert.strictEqual(
          message,
          "The database did not store: it refuses writes. The address must lead to the primary, without " +
            "`default_transaction_read_only` (25006)"
        )
      }
      const reading = yield* Effect.fork(run("read", sql`SELECT pg_sleep(1)`))
      yield* set("off")
      const often = { schedule: Schedule.spaced("50 millis"), times: 200 }
      yield* Effect.retry(run("store", store("run")), often)
      yield* Effect.retry(transaction("store", store("transaction")), often)
      // Statements on other connections go on.
      yield* Fiber.join(reading)
    }))

  it.scopedLive("says when it starts that the database takes no writes", () =>
    Effect.gen(function*() {
      const url = `${yield* Postgres.database}?options=-cdefault_transaction_read_only%3Don`
      const { message } = yield* Effect.flip(Layer.build(PgNodes.layer({ url })))
      assert.match(message, /^The database did not create its tables: it refuses writes\. The address must /)
    }))
})
