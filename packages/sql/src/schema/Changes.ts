/**
 * How the tables of one service are created, and changed later.
 * Statements run in PostgreSQL and in SQLite, or ask for the dialect.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Identifier } from "@effect/sql/Statement"
import type * as Effect from "effect/Effect"

export interface Tables {
  /** Without transformations of names. */
  readonly sql: SqlClient
  /** The name of a table, or of an index, behind the prefix. */
  readonly table: (name: string) => Identifier
}

/** The changes of one service, in order. The version of its tables is the number of the changes that were made. */
export type Changes = ReadonlyArray<(tables: Tables) => Effect.Effect<unknown, SqlError>>
