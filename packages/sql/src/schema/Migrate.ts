/**
 * Makes the changes of tables (`Schema`) that the database does not have yet. `run` makes the changes in one transaction: all of the
 * changes, or none. In PostgreSQL, `run` takes an advisory lock, so that only one node at a time makes changes. During the changes,
 * `TIMEOUT` replaces the timeouts of PostgreSQL. `check` makes no change, and fails when the database does not have all changes.
 *
 * `SqlMigrations` calls `run`, and `SqlConnection` calls `check`. `PgNodes` uses `TIMEOUT` for the client that makes the changes.
 */
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Attempt from "../connection/Attempt.js"
import * as Transactions from "../connection/Transactions.js"
import { SqlStoreError } from "../SqlStoreError.js"
import type { Changes } from "./Schema.js"

/** How long all changes may take, in milliseconds, including the time to wait for the changes of other nodes. */
export const TIMEOUT = 60_000

/** The first half of the key of the advisory lock. The second half is a hash of the prefix. */
const LOCK = 0x6d6370

/** The settings of PostgreSQL that end a statement or a transaction. Older versions of PostgreSQL do not have all of these settings. */
const TIMEOUTS = [
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
  "transaction_timeout"
]

export const run = (
  services: Readonly<Record<string, Changes>>,
  prefix: string
): Effect.Effect<void, SqlStoreError, SqlClient> =>
  Effect.gen(function*() {
    yield* checkPrefix(prefix)
    const sql = (yield* SqlClient).withoutTransforms()
    const table = (name: string) => sql(`${prefix}${name}`)
    const isPg = Attempt.isPg(sql)
    const { outside, within } = Transactions.make(sql, TIMEOUT)
    const create = sql`CREATE TABLE IF NOT EXISTS ${table("migrations")} (
      service text NOT NULL,
      version integer NOT NULL,
      PRIMARY KEY (service, version)
    )`
    const changes = Effect.gen(function*() {
      if (isPg) {
        yield* sql`SELECT set_config(name, ${String(TIMEOUT)}, true) FROM pg_settings WHERE ${sql.in("name", TIMEOUTS)}`
        // The statement tries to take the lock and does not wait for the lock. This code repeats the statement, because PostgreSQL would
        // end a single statement that waits too long.
        const lock = sql<{ readonly isTaken: boolean }>`
          SELECT pg_try_advisory_xact_lock(${LOCK}, hashtext(${prefix})) AS "isTaken"`
        yield* Effect.repeat(lock, { until: ([row]) => row!.isTaken, schedule: Schedule.spaced("100 millis") })
        yield* create
      } else {
        // The first statement is a write, because in SQLite a transaction that has read first cannot wait for another process.
        yield* sql`DELETE FROM ${table("migrations")} WHERE version = 0`
      }
      const versions = yield* versionsOf(sql, prefix)
      for (const [service, all] of Object.entries(services)) {
        const done = versions(service)
        if (done > all.length) return yield* newer(prefix, service, done, all.length)
        for (const [index, change] of all.slice(done).entries()) {
          yield* change({ sql, table })
          yield* sql`INSERT INTO ${table("migrations")} (service, version) VALUES (${service}, ${done + index + 1})`
        }
      }
    })
    yield* Attempt.make(TIMEOUT)(
      "create its tables",
      isPg ? within(changes) : Effect.zipRight(outside(Effect.zipRight(Attempt.open(sql), create)), within(changes))
    )
  })

/** Fails when the tables belong to another version of this package. Only reads, and changes nothing. */
export const check = (
  services: Readonly<Record<string, Changes>>,
  prefix: string,
  sql: SqlClient,
  run: Attempt.Run
): Effect.Effect<void, SqlStoreError> =>
  Effect.gen(function*() {
    yield* checkPrefix(prefix)
    const name = `${prefix}migrations`
    const tables = sql.onDialectOrElse({
      pg: () => sql`SELECT 1 WHERE to_regclass(${name}) IS NOT NULL`,
      orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`
    })
    const isThere = (yield* run("look for its tables", tables)).length > 0
    const versions = isThere ? yield* run("read the version of its tables", versionsOf(sql, prefix)) : () => 0
    for (const [service, all] of Object.entries(services)) {
      const done = versions(service)
      if (done > all.length) return yield* newer(prefix, service, done, all.length)
      if (done < all.length) return yield* older(prefix, service, done, all.length)
    }
  })

const checkPrefix = (prefix: string): Effect.Effect<void, SqlStoreError> =>
  /^[a-z_][a-z0-9_]{0,29}$/.test(prefix) ? Effect.void : Effect.fail(
    new SqlStoreError({
      message: `The option \`prefix\` is "${
        prefix.slice(0, 40)
      }": write up to 30 lowercase letters, digits and underscores, not beginning with a digit`
    })
  )

/** Gives a function that returns the version of the tables of a service. The version is the number of changes that the database has. */
const versionsOf = (sql: SqlClient, prefix: string) =>
  Effect.map(
    sql<{ readonly service: string; readonly version: number }>`
      SELECT service, max(version) AS version FROM ${sql(`${prefix}migrations`)} GROUP BY service`,
    (found) => (service: string): number => Number(found.find((row) => row.service === service)?.version ?? 0)
  )

const newer = (prefix: string, service: string, done: number, known: number): SqlStoreError =>
  new SqlStoreError({
    message: `The tables "${prefix}" of ${service} have version ${done}, and this program supports version ` +
      `${known}: use the newer version of @effect-mcp/sql that has changed them`
  })

const older = (prefix: string, service: string, done: number, known: number): SqlStoreError =>
  new SqlStoreError({
    message: (done === 0
      ? `The database has no tables "${prefix}" of ${service}`
      : `The tables "${prefix}" of ${service} have version ${done}, and this program needs version ${known}`) +
      ": run `SqlMigrations.run` of this version before, as a user that may change tables, or leave out `migrate: false`"
  })
