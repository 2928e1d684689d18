/**
 * Passes many rows to an SQL statement as one JSON parameter. The statement uses these rows as a table with the name `items`. So the
 * statement has the same text for any number of rows, and a driver prepares the statement only once. `StreamWrites` and `Epochs` use this
 * module.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Attempt from "./Attempt.js"
import { wellFormed } from "./Transactions.js"

/** Makes the table "items", for use after FROM. The names and types of `columns` become SQL, so they must be constants of the program. */
export const make = <Column extends string>(
  sql: SqlClient,
  columns: Readonly<Record<Column, "text" | "bigint">>,
  rows: ReadonlyArray<Readonly<Record<Column, string | number>>>
): Fragment => {
  const all = Object.entries<string>(columns)
  const text = JSON.stringify(rows)
  // JSON escapes lone surrogates. No database can store them, so they are replaced.
  const json = text.includes("\\ud")
    ? JSON.stringify(rows, (_, value: unknown) => typeof value === "string" ? wellFormed(value) : value)
    : text
  return Attempt.isPg(sql)
    ? sql`json_to_recordset(${json}::json) AS items (${sql.literal(all.map((column) => column.join(" ")).join(", "))})`
    : sql`(SELECT ${sql.literal(all.map(([name]) => `json_extract(value, '$.${name}') AS ${name}`).join(", "))}
      FROM json_each(${json})) AS items`
}
