/**
 * The tables of `SqlSharedLimits`.
 * The keys are digests: those of applications may be of any length.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const limits: Changes = [
  ({ sql, table }) =>
    Effect.all([
      // "expires": when the whole allowance of the key is there again, in milliseconds.
      sql`CREATE TABLE ${table("rates")} (key text PRIMARY KEY, expires double precision NOT NULL)`,
      sql`CREATE INDEX ${table("rates_expires")} ON ${table("rates")} (expires)`,
      sql`CREATE TABLE ${table("uses")} (key text PRIMARY KEY, expires double precision NOT NULL)`,
      sql`CREATE INDEX ${table("uses_expires")} ON ${table("uses")} (expires)`
    ], { discard: true })
]
