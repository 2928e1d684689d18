/**
 * Deletes rows that have expired, every minute, until the scope closes; `SqlSessionDirectory`, `SqlInbox`, `SqlTaskStore` and
 * `SqlSharedLimits` start a sweep, and `StreamRows` deletes in the same portions. No statement needs the sweep: rows that have expired
 * count as deleted.
 *
 * The sweep deletes in portions, and lets other work run between two: SQLite stops the event loop for the time of a portion.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Identifier } from "@effect/sql/Statement"
import { turn } from "@effect-mcp/core/unstable/kit/EventLoop"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SqlConnectionService } from "../SqlConnection.js"
import * as Attempt from "./Attempt.js"

/** How many rows one statement deletes. */
const PORTION = 500

/** Deletes up to so many rows, and returns a row for each. */
export type Portion = (now: Fragment, limit: number) => Effect.Effect<ReadonlyArray<unknown>, SqlError>

export const portions = (
  { now, run }: SqlConnectionService,
  all: ReadonlyArray<Portion>
): Effect.Effect<void, never, Scope.Scope> => {
  const remove = (portion: Portion) =>
    Effect.repeat(
      Effect.zipLeft(
        Effect.flatMap(now, (now) => run("delete what has expired", portion(now, PORTION))),
        turn
      ),
      { until: ({ length }) => length < PORTION }
    )
  // Each table by itself: the sweep deletes in the other tables when another transaction has locked one.
  const sweep = Effect.forEach(all, (portion) => Effect.ignoreLogged(remove(portion)), { discard: true })
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute"))))
}

/** Comes behind LIMIT: rows that another transaction has locked wait for the next sweep, and the other rows do not wait for them. */
export const unlocked = (sql: SqlClient, table?: Identifier): Fragment =>
  Attempt.isPg(sql) ? sql`FOR UPDATE ${table === undefined ? sql`` : sql`OF ${table}`} SKIP LOCKED` : sql``

/** The rows of tables that have a column "expires". */
export const every = (
  connection: SqlConnectionService,
  ...tables: ReadonlyArray<string>
): Effect.Effect<void, never, Scope.Scope> => {
  const { sql, table } = connection
  const row = sql.literal(Attempt.isPg(sql) ? "ctid" : "rowid")
  const free = unlocked(sql)
  return portions(
    connection,
    tables.map(table).map((name) => (now, limit) =>
      sql`
        DELETE FROM ${name} WHERE expires <= ${now} AND ${row} IN (
          SELECT ${row} FROM ${name} WHERE expires <= ${now} LIMIT ${limit} ${free}
        ) RETURNING 1 AS one`
    )
  )
}
