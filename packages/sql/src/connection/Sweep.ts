/**
 * Deletes rows that have expired, every minute, until the scope closes. No statement needs it: rows that have expired count as
 * deleted.
 *
 * It deletes in portions, and lets other work run between two: SQLite stops the event loop for the time of a portion.
 */
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SqlConnectionService } from "../SqlConnection.js"
import * as Attempt from "./Attempt.js"
import { turn } from "./Turn.js"

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
  const sweep = Effect.ignoreLogged(Effect.forEach(all, remove, { discard: true }))
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute"))))
}

/** The rows of tables that have a column "expires". */
export const every = (
  connection: SqlConnectionService,
  ...tables: ReadonlyArray<string>
): Effect.Effect<void, never, Scope.Scope> => {
  const { sql, table } = connection
  const row = sql.literal(Attempt.isPg(sql) ? "ctid" : "rowid")
  return portions(
    connection,
    tables.map(table).map((name) => (now, limit) =>
      sql`
        DELETE FROM ${name} WHERE expires <= ${now} AND ${row} IN (
          SELECT ${row} FROM ${name} WHERE expires <= ${now} LIMIT ${limit}
        ) RETURNING 1 AS one`
    )
  )
}
