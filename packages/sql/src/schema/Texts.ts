/**
 * The tables of `SqlInbox`: open inboxes with the size of what waits in them, and the texts.
 * Only PostgreSQL has them.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const texts: Changes = [
  ({ sql, table }) => {
    const create = Effect.all([
      sql`CREATE TABLE ${table("inboxes")} (node text PRIMARY KEY, size bigint NOT NULL, expires bigint NOT NULL)`,
      sql`CREATE TABLE ${table("texts")} (
        node text NOT NULL REFERENCES ${table("inboxes")} ON DELETE CASCADE,
        number bigint GENERATED ALWAYS AS IDENTITY,
        text text NOT NULL,
        size bigint NOT NULL,
        PRIMARY KEY (node, number)
      )`
    ], { discard: true })
    return sql.onDialectOrElse({ pg: () => create, orElse: () => Effect.void })
  }
]
