/**
 * Defines the tables of all services. For each service, this module has the list of changes that create and alter the tables of the
 * service.
 *
 * A change that was released must not be edited. To correct it, add a further change. Each statement runs in PostgreSQL and in SQLite, or
 * depends on the dialect of the client. `SqlConnection` and `SqlMigrations` pass the lists of changes to `Migrate`, which makes the
 * changes.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Identifier } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"

interface Tables {
  /** The client, without transformations of names. */
  readonly sql: SqlClient
  /** Returns the name of a table or of an index, with the prefix before it. */
  readonly table: (name: string) => Identifier
}

/** The changes of one service, in order. The version of the service's tables is the number of changes that the database has. */
export type Changes = ReadonlyArray<(tables: Tables) => Effect.Effect<unknown, SqlError>>

/** The tables of `SqlChangeBus`: the number of the last change, and the last changes. Only PostgreSQL has these tables. */
const bus: Changes = [
  ({ sql, table }) => {
    const create = Effect.all([
      sql`CREATE TABLE ${table("last_change")} (id integer PRIMARY KEY, number bigint NOT NULL)`,
      sql`INSERT INTO ${table("last_change")} (id, number) VALUES (1, 0)`,
      sql`CREATE TABLE ${table("changes")} (number bigint PRIMARY KEY, member text NOT NULL, change text NOT NULL)`
    ], { discard: true })
    return sql.onDialectOrElse({ pg: () => create, orElse: () => Effect.void })
  }
]

/**
 * The table of `SqlCredentialStore`: one row for each record of an owner. The column "owner" has a digest of the name of the owner. The
 * locks for the renewal of tokens are rows as well.
 */
const credentials: Changes = [
  ({ sql, table }) =>
    sql`CREATE TABLE ${table("credentials")} (
      owner text NOT NULL,
      name text NOT NULL,
      text text NOT NULL,
      PRIMARY KEY (owner, name)
    )`
]

/**
 * The tables of `SqlEventStore`: events, and their streams. After the time in the column "expires" of a stream, the stream and its events
 * may be deleted.
 */
const events: Changes = [
  ({ sql, table }) =>
    Effect.all([
      // "events": how many events the stream has. "latest": the position of the last event; "dropped": the position of the last event that
      // was dropped; "missing": the position of the last event that was not stored.
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

/** The table of `SqlSealKeys`: one row with all keys, which is replaced as a whole. */
const keys: Changes = [
  ({ sql, table }) => sql`CREATE TABLE ${table("seal_keys")} (id integer PRIMARY KEY, ring text NOT NULL)`
]

/** The tables of `SqlSharedLimits`. The column "key" has a digest of the key, because the keys of applications may have any length. */
const limits: Changes = [
  ({ sql, table }) =>
    Effect.all([
      // "expires": when the whole allowance of the key is available again, in milliseconds since 1970.
      sql`CREATE TABLE ${table("rates")} (key text PRIMARY KEY, expires double precision NOT NULL)`,
      sql`CREATE INDEX ${table("rates_expires")} ON ${table("rates")} (expires)`,
      sql`CREATE TABLE ${table("uses")} (key text PRIMARY KEY, expires double precision NOT NULL)`,
      sql`CREATE INDEX ${table("uses_expires")} ON ${table("uses")} (expires)`
    ], { discard: true })
]

/**
 * The tables of `SqlSessionDirectory`: nodes with their leases, and sessions. A node whose row was removed never uses its id again. Each
 * node numbers its updates of sessions. `written` is the number of the update that has written the present facts of the session.
 */
const sessions: Changes = [
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

/** The table of `SqlTaskStore`: one row for each task. The tasks are numbered in the order of their creation. */
const tasks: Changes = [
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
    ], { discard: true }),
  // "size": how many characters the task has.
  ({ sql, table }) => sql`ALTER TABLE ${table("tasks")} ADD COLUMN size bigint NOT NULL DEFAULT 0`
]

/** The tables of `SqlInbox`: the open inboxes with the size of the waiting texts, and the texts. Only PostgreSQL has these tables. */
const texts: Changes = [
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

/** The changes of each service, by the name of the service. */
export const services: Readonly<Record<string, Changes>> = {
  bus,
  credentials,
  events,
  keys,
  limits,
  sessions,
  tasks,
  texts
}
