/**
 * The tables of `SqlSessionDirectory`: nodes with their leases, and sessions.
 * A node whose row is gone never comes back. `written` is the number of the update, of those in this epoch, that the facts are from.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const sessions: Changes = [
  ({ sql, table }) =>
    Effect.all([
      sql`CREATE TABLE ${table("nodes")} (id text PRIMARY KEY, expires bigint NOT NULL)`,
      sql`CREATE TABLE ${table("sessions")} (
        id text PRIMARY KEY,
        node text NOT NULL,
        epoch bigint NOT NULL,
        facts text NOT NULL,
        released integer NOT NULL,
        expires bigint NOT NULL
      )`,
      sql`CREATE INDEX ${table("sessions_expires")} ON ${table("sessions")} (expires)`
    ], { discard: true }),
  ({ sql, table }) => sql`ALTER TABLE ${table("sessions")} ADD COLUMN written bigint NOT NULL DEFAULT 0`
]
