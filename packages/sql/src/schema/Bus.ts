/**
 * The tables of `SqlChangeBus`: the number of the last change, and the last changes.
 * Only PostgreSQL has them.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const bus: Changes = [
  ({ sql, table }) => {
    const create = Effect.all([
      sql`CREATE TABLE ${table("last_change")} (id integer PRIMARY KEY, number bigint NOT NULL)`,
      sql`INSERT INTO ${table("last_change")} (id, number) VALUES (1, 0)`,
      sql`CREATE TABLE ${table("changes")} (number bigint PRIMARY KEY, member text NOT NULL, change text NOT NULL)`
    ], { discard: true })
    return sql.onDialectOrElse({ pg: () => create, orElse: () => Effect.void })
  }
]
