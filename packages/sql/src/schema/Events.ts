/**
 * The tables of `SqlEventStore`: events, and their streams.
 * A stream has a time at which it may be deleted, and its events go with it.
 */
import * as Effect from "effect/Effect"
import type { Changes } from "./Changes.js"

export const events: Changes = [
  ({ sql, table }) =>
    Effect.all([
      // "events": how many there are. "latest": the position of the last one; "dropped": of the last that is not there any more;
      // "missing": of the last that was not stored.
      sql`CREATE TABLE ${table("streams")} (
        session text NOT NULL,
        stream text NOT NULL,
        epoch bigint NOT NULL,
        requests text NOT NULL,
        finished integer NOT NULL,
        events bigint NOT NULL,
        latest bigint NOT NULL,
        dropped bigint NOT NULL,
        missing bigint NOT NULL,
        expires bigint NOT NULL,
        PRIMARY KEY (session, stream)
      )`,
      sql`CREATE INDEX ${table("streams_epoch")} ON ${table("streams")} (session, epoch)`,
      sql`CREATE INDEX ${table("streams_expires")} ON ${table("streams")} (expires)`,
      sql`CREATE TABLE ${table("events")} (
        session text NOT NULL,
        stream text NOT NULL,
        position bigint NOT NULL,
        data text NOT NULL,
        PRIMARY KEY (session, stream, position)
      )`
    ], { discard: true })
]
