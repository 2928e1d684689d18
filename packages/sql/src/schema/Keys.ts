/**
 * The table of `SqlSealKeys`: one row, with all keys.
 * It is replaced as a whole.
 */
import type { Changes } from "./Changes.js"

export const keys: Changes = [
  ({ sql, table }) => sql`CREATE TABLE ${table("seal_keys")} (id integer PRIMARY KEY, ring text NOT NULL)`
]
