/**
 * Makes many rows the table `items` of a SQL statement, as one parameter of JSON. So the text of the statement is the same for any number
 * of rows, and a driver prepares the statement once. `StreamWrites` and `Epochs` store rows this way.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Attempt from "./Attempt.js"
import { wellFormed } from "./Transactions.js"

/** Comes behind FROM, with the name "items". The program chooses the columns and their types, never a peer. */
export const make = <Column extends string>(
  sql: SqlClient,
  columns: Readonly<Record<Column, "text" | "bigint">>,
  rows: ReadonlyArray<Readonly<Record<Column, string | number>>>
): Fragment => {
  const all = Object.entries<string>(columns)
  const text = JSON.stringify(rows)
  // JSON escapes what UTF-8 cannot have, and no database can store that.
  const json = text.includes("\\ud")
    ? JSON.stringify(rows, (_, value: unknown) => typeof value === "string" ? wellFormed(value) : value)
    : text
  return Attempt.isPg(sql)
    ? sql`json_to_recordset(${json}::json) AS items (${sql.literal(all.map((column) => column.join(" ")).join(", "))})`
    : sql`(SELECT ${sql.literal(all.map(([name]) => `json_extract(value, '$.${name}') AS ${name}`).join(", "))}
      FROM json_each(${json})) AS items`
}
