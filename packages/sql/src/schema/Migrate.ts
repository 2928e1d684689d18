/**
 * Makes the changes of tables that were not made yet, in one transaction: all of them, or none. With PostgreSQL an advisory lock
 * lets one node at a time do it.
 */
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Attempt from "../connection/Attempt.js"
import * as Transactions from "../connection/Transactions.js"
import { SqlStoreError } from "../SqlStoreError.js"
import type { Changes } from "./Changes.js"

/** Milliseconds for all changes, and to wait for those of other nodes. */
const TIMEOUT = 60_000

/** The first half of the advisory lock; the second one is made of the prefix. */
const LOCK = 0x6d6370

export const run = (
  services: Readonly<Record<string, Changes>>,
  prefix: string
): Effect.Effect<void, SqlStoreError, SqlClient> =>
  Effect.gen(function*() {
    if (!/^[a-z_][a-z0-9_]{0,29}$/.test(prefix)) {
      return yield* new SqlStoreError({
        message: `The option \`prefix\` is "${
          prefix.slice(0, 40)
        }": write up to 30 lowercase letters, digits and underscores, not beginning with a digit`
      })
    }
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
        // Not in one statement: PostgreSQL ends one that takes too long.
        const lock = sql<{ readonly isTaken: boolean }>`
          SELECT pg_try_advisory_xact_lock(${LOCK}, hashtext(${prefix})) AS "isTaken"`
        yield* Effect.repeat(lock, { until: ([row]) => row!.isTaken, schedule: Schedule.spaced("100 millis") })
        yield* create
      } else {
        // A write comes first: it waits for another process, and a transaction that has read before cannot.
        yield* sql`DELETE FROM ${table("migrations")} WHERE version = 0`
      }
      const found = yield* sql<{ readonly service: string; readonly version: number }>`
        SELECT service, max(version) AS version FROM ${table("migrations")} GROUP BY service`
      for (const [service, all] of Object.entries(services)) {
        const done = Number(found.find((row) => row.service === service)?.version ?? 0)
        if (done > all.length) {
          return yield* new SqlStoreError({
            message: `The tables "${prefix}" of ${service} have version ${done}, and this program knows version ` +
              `${all.length}: use the newer version of @effect-mcp/sql that has changed them`
          })
        }
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
