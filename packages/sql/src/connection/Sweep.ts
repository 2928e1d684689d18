/**
 * Deletes expired rows every minute, until the scope closes. This deletion is called a sweep. All other statements ignore expired rows, so
 * the time of the sweep does not matter. `SqlSessionDirectory`, `SqlInbox`, `SqlTaskStore` and `SqlSharedLimits` start a sweep with
 * `every`. `StreamRows` starts a sweep with `portions`.
 *
 * A sweep deletes rows in portions. SQLite blocks the event loop while it deletes a portion. Between two portions the event loop runs other
 * work.
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

/** Deletes up to `limit` expired rows, and returns one row for each deleted row. */
export type Portion = (now: Fragment, limit: number) => Effect.Effect<ReadonlyArray<unknown>, SqlError>

/** Starts a sweep that runs each portion again and again, until no expired rows are left. */
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
  // When a portion fails, the sweep still runs the other portions.
  const sweep = Effect.forEach(all, (portion) => Effect.ignoreLogged(remove(portion)), { discard: true })
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute"))))
}

/**
 * Returns the last part of a SELECT statement, which follows LIMIT. With this part the SELECT skips rows that another transaction has
 * locked. The next sweep deletes the skipped rows.
 */
export const unlocked = (sql: SqlClient, table?: Identifier): Fragment =>
  Attempt.isPg(sql) ? sql`FOR UPDATE ${table === undefined ? sql`` : sql`OF ${table}`} SKIP LOCKED` : sql``

/** Starts a sweep of tables that have a column "expires". */
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
