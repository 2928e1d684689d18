import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import { Context, Effect, Exit, Layer, Redacted, Schedule, Scope, Stream } from "effect"
import * as Postgres from "./Postgres.js"
import * as StalledProxy from "./StalledProxy.js"
import { unhandled } from "./unhandled.js"

/** A node over a client, until the scope closes. */
const connect = (client: ReturnType<typeof Postgres.client>) =>
  Effect.map(
    Layer.build(Layer.fresh(Layer.provide(SqlConnection.layerWith({ timeout: "1 second" }), client))),
    (context) => Context.get(context, SqlConnection.SqlConnection)
  )

/** Notifies the node `one` at the node `two` until it has heard that. */
const notified = (one: SqlConnection.SqlConnectionService, two: SqlConnection.SqlConnectionService) =>
  Effect.raceFirst(
    // The first look, and the one when the connection listens, are none of a notification.
    Stream.runDrain(Stream.take(one.wakes("a", "1 hour"), 3)),
    Effect.repeat(two.notify("a"), Schedule.spaced("50 millis"))
  )

Postgres.suite.concurrent("a node over a PgClient of the application", () => {
  it.scopedLive("ends no process while its connections end and it closes", () =>
    Effect.gen(function*() {
      const errors = yield* unhandled
      const url = yield* Postgres.database
      const { run, sql } = yield* Postgres.connection(yield* Postgres.database)
      const end = run(
        "end connections",
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${new URL(url).pathname.slice(1)}`
      )
      for (let n = 0; n < 20; n++) {
        const scope = yield* Scope.make()
        yield* Effect.ignore(Scope.extend(connect(Postgres.client(url)), scope))
        // Each time at another moment of the connection that listens.
        yield* Effect.sleep(5 * n)
        yield* Effect.all([end, Scope.close(scope, Exit.void)], { concurrency: 2 })
      }
      assert.deepStrictEqual(errors, [])
    }))

  it.scopedLive("hears the others again after a network has swallowed what was sent to it", () =>
    Effect.gen(function*() {
      const direct = yield* Postgres.database
      const url = new URL(direct)
      const proxy = yield* StalledProxy.make(Number(url.port))
      url.port = `${proxy.port}`
      const one = yield* connect(PgClient.layer({ url: Redacted.make(url.href) }))
      const two = yield* connect(Postgres.client(direct))
      yield* notified(one, two)
      proxy.stall()
      yield* Effect.flip(one.run("answer", one.sql`SELECT 1`))
      proxy.forward()
      yield* notified(one, two)
    }))

  it.scopedLive("hears the others, and has the only connection of the client for statements", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const one = yield* connect(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      const two = yield* connect(Postgres.client(url))
      yield* notified(one, two)
      yield* one.run("answer", one.sql`SELECT 1`)
    }))
})
