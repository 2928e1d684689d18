/**
 * Nodes over a PostgreSQL that refuses writes, or that much data keeps busy.
 */
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import { Inbox } from "@effect-mcp/core/Inbox"
import * as McpServer from "@effect-mcp/core/McpServer"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlInbox from "@effect-mcp/sql/SqlInbox"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { inject } from "vitest"
import * as Refusing from "../../node/test/Refusing.js"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as Postgres from "./Postgres.js"
import * as PostgresProcess from "./PostgresProcess.js"

Postgres.suite("nodes, while PostgreSQL takes no writes:", () => {
  it.scopedLive("a request for another node has not run, and is refused with 503 and Retry-After", () =>
    Effect.gen(function*() {
      const { url } = yield* PostgresProcess.make({ template: inject("postgresTemplate") })
      const admin = Context.get(yield* Layer.build(Postgres.client(url, 1)), SqlClient)
      yield* admin`SET default_transaction_read_only = off`
      const set = (value: string) =>
        Effect.zipRight(
          admin`ALTER SYSTEM SET default_transaction_read_only = ${admin.literal(value)}`,
          admin`SELECT pg_reload_conf()`
        )
      const node = Layer.build(Layer.fresh(
        HttpServer.layer({ port: 0, health: { maxAge: 0, maxLag: "1 minute" } }).pipe(
          Layer.provide(McpServer.layer({ name: "refusing", version: "1.0.0" }, NodesLaws.features)),
          // The test may take longer than a lease by default.
          Layer.provide(Layer.merge(SqlNodes.services, SqlSessionDirectory.layerWith({ lease: "1 minute" }))),
          Layer.provide(SqlConnection.layer),
          Layer.provide(PgNodes.client({ url }))
        )
      )).pipe(Effect.map((context) => Context.get(context, HttpServer.HttpServer).port))
      yield* Refusing.check([yield* node, yield* node], {
        begin: Effect.zipRight(set("on"), Effect.sleep("200 millis")),
        end: Effect.zipRight(set("off"), Effect.sleep("200 millis"))
      })
    }))

  it.scopedLive("what was never sent is refused, and what has no answer is not", () =>
    Effect.gen(function*() {
      const process = yield* PostgresProcess.make({ template: inject("postgresTemplate") })
      const connection = yield* Layer.build(
        Layer.provide(SqlConnection.layerWith({ timeout: "1 second" }), PgNodes.client({ url: process.url }))
      )
      const { run, sql } = Context.get(connection, SqlConnection.SqlConnection)
      const refused = (code: string, statement: Effect.Effect<unknown, any>) =>
        Effect.map(Effect.flip(run("write", statement)), (error) =>
          assert.deepStrictEqual([error.code, error.isRefused], [code, true]))
      yield* refused("42P01", sql`INSERT INTO nowhere VALUES (1)`)
      yield* refused("22012", sql`SELECT 1 / 0`)
      const silent = yield* Effect.flip(run("wait", sql`SELECT pg_sleep(20)`))
      assert.isFalse(silent.isRefused ?? false)
      yield* process.stop
      // A connection that was open when the process ended may fail once with its own error.
      const without = yield* Effect.flip(run("write", sql`SELECT 1`)).pipe(
        Effect.filterOrFail((error) =>
          error.code === "ECONNREFUSED"
        ),
        Effect.retry(Schedule.spaced("100 millis"))
      )
      assert.isTrue(without.isRefused)
    }))
})

Postgres.suite("leases", () => {
  it.scopedLive(
    "do not wait behind data: all connections for data are busy for longer than a lease",
    () =>
      Effect.gen(function*() {
        const connection = yield* Layer.build(
          Layer.provide(
            SqlConnection.layerWith({ timeout: "20 seconds" }),
            PgNodes.client({ url: yield* Postgres.database, timeout: "20 seconds", maxConnections: 3 })
          )
        )
        const services = yield* Layer.build(
          Layer.provide(
            Layer.merge(
              SqlInbox.layerWith({ lease: "2 seconds" }),
              SqlSessionDirectory.layerWith({ lease: "2 seconds" })
            ),
            Layer.succeedContext(connection)
          )
        )
        const { lost } = yield* Context.get(services, SessionDirectory).join("one")
        yield* Context.get(services, Inbox).open("one")
        const { run, sql } = Context.get(connection, SqlConnection.SqlConnection)
        const busy = yield* Effect.fork(
          Effect.all(Array.from({ length: 30 }, () => run("write", sql`SELECT pg_sleep(0.8)`)), {
            concurrency: "unbounded"
          })
        )
        const isLost = yield* Effect.raceFirst(Effect.as(lost, true), Effect.as(Fiber.join(busy), false))
        assert.isFalse(isLost)
      }),
    60_000
  )
})
