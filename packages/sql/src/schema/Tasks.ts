/**
 * The tables of `SqlTaskStore`.
 * One row for each task, numbered in the order of their creation.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const tasks: Changes = [
  ({ sql, table }) =>
    Effect.all([
      sql`CREATE TABLE ${table("tasks")} (
        number ${
        sql.literal(sql.onDialectOrElse({
          pg: () => "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
          orElse: () => "integer PRIMARY KEY AUTOINCREMENT"
        }))
      },
        id text NOT NULL UNIQUE,
        owner text NOT NULL,
        version bigint NOT NULL,
        task text NOT NULL,
        expires bigint NOT NULL
      )`,
      sql`CREATE INDEX ${table("tasks_owner")} ON ${table("tasks")} (owner, number)`,
      sql`CREATE INDEX ${table("tasks_expires")} ON ${table("tasks")} (expires)`
    ], { discard: true })
]
