/**
 * Writes a batch of operations of `SqlEventStore`. In PostgreSQL a batch is one statement, and so needs only one round trip. In SQLite a
 * batch is one transaction.
 *
 * An expired stream counts as removed, but its rows may still be in the tables. When a stream with the name of an expired stream begins,
 * the column "dropped" gets the position of the last old event, so that nobody reads the old events.
 *
 * `Rows` passes the rows to the statement. `Epochs` finds the operations whose epoch is over. (The epoch of a session is a number that
 * increases each time a node claims the session.)
 */
import type { Fragment, Identifier } from "@effect/sql/Statement"
import type { StoredEvent, StreamKey } from "@effect-mcp/core/EventStore"
import * as Effect from "effect/Effect"
import type { SqlConnectionService } from "../SqlConnection.js"
import type { SqlStoreError } from "../SqlStoreError.js"
import * as Attempt from "./Attempt.js"
import * as Epochs from "./Epochs.js"
import * as Rows from "./Rows.js"

/**
 * An operation on a stream. "Await" changes nothing: its result only says whether the epoch is over. `missing` is the position of an
 * earlier event that was not stored.
 */
export type Item =
  & { readonly key: StreamKey; readonly missing?: number | undefined }
  & (
    | { readonly _tag: "Open"; readonly requests: string }
    | { readonly _tag: "Append"; readonly event: StoredEvent }
    | { readonly _tag: "Finish" | "Await" }
  )

/** Returns how many characters an operation stores. */
export const sizeOf = (item: Item): number =>
  item._tag === "Append" ? item.event.data.length : item._tag === "Open" ? item.requests.length : 0

/** The limits from the options of `SqlEventStore`. */
export interface Limits {
  readonly maxEvents: number
  /** Milliseconds. */
  readonly retention: number
  /** Milliseconds. */
  readonly ttl: number
}

const KEY = { session: "text", stream: "text", epoch: "bigint" } as const

const ROW = {
  ...KEY,
  requests: "text",
  finished: "bigint",
  events: "bigint",
  latest: "bigint",
  missing: "bigint"
} as const

const EVENT = { session: "text", stream: "text", position: "bigint", data: "text" } as const

/** The values that a batch adds to one row of the table "streams". `epoch` is 0 when the operation has no epoch. */
interface Row {
  readonly session: string
  readonly stream: string
  readonly epoch: number
  /** The requests that the stream answers; "" when the batch does not open the stream. */
  requests: string
  finished: 0 | 1
  events: number
  latest: number
  missing: number
}

/** All rows that a batch changes. */
interface Batch {
  readonly rows: ReadonlyArray<Row>
  readonly events: ReadonlyArray<Readonly<Record<keyof typeof EVENT, string | number>>>
  /** The streams that finish and are not in `rows`. */
  readonly finished: ReadonlyArray<Readonly<Record<keyof typeof KEY, string | number>>>
}

type Number64 = number | string

/** A stream to which a batch has added events, and the number of its events. */
interface Grown {
  readonly session: string
  readonly stream: string
  readonly events: Number64
}

/**
 * A batch rounds the time at which a stream expires up to a multiple of this number of milliseconds. So most events do not change the time,
 * and PostgreSQL or SQLite does not need to change the index.
 */
const ROUNDED = 60_000

interface Self extends SqlConnectionService, Limits {
  readonly streams: Identifier
  readonly events: Identifier
  readonly isPg: boolean
  /** The name of the SQL function that gives the greatest of its arguments. */
  readonly greatest: Fragment
  /** A condition that is true for every row. */
  readonly everywhere: Fragment
  readonly epochsOf: ReturnType<typeof Epochs.make>
}

/**
 * Makes a function that writes a batch. The function gives one result for each operation: `false` when the epoch of the operation is over.
 */
export const make = (connection: SqlConnectionService, limits: Limits) => {
  const { sql, table } = connection
  const isPg = Attempt.isPg(sql)
  const self: Self = {
    ...connection,
    ...limits,
    streams: table("streams"),
    events: table("events"),
    isPg,
    greatest: sql.literal(isPg ? "greatest" : "max"),
    everywhere: sql`true`,
    epochsOf: Epochs.make(connection)
  }
  return (items: ReadonlyArray<Item>): Effect.Effect<ReadonlyArray<boolean>, SqlStoreError> =>
    Effect.catchIf(
      writeAll(self, items),
      ({ code }) => items.length > 1 && code?.startsWith("22") === true,
      // PostgreSQL has refused a value, such as the name of one stream. Now the operations are written one by one, so that the other
      // streams are stored.
      () => Effect.map(Effect.forEach(items, (item) => writeAlone(self, item)), (results) => results.flat())
    )
}

const writeAll = (self: Self, items: ReadonlyArray<Item>) =>
  Effect.map(
    Effect.flatMap(self.now, (at) => self.isPg ? inPg(self, items, at) : inSqlite(self, items, at)),
    (epochs) => items.map(({ key }) => !Epochs.isOver(key, epochs))
  )

const writeAlone = (self: Self, item: Item) =>
  Effect.catchAll(writeAll(self, [item]), ({ message }) => Effect.as(Effect.logError(message), [true]))

const inSqlite = (self: Self, items: ReadonlyArray<Item>, at: Fragment): Effect.Effect<Epochs.Epochs, SqlStoreError> =>
  self.transaction("store events", storing(self, items, at))

const storing = Effect.fnUntraced(function*(self: Self, items: ReadonlyArray<Item>, at: Fragment) {
  const { epochsOf, everywhere } = self
  const own = Epochs.ofItems(items)
  const epochs = own.size === 0 ? own : Epochs.ofRows(yield* epochsOf(own))
  const batch = batchOf(items, epochs)
  if (batch.rows.length > 0) {
    const grown = yield* addStreams(self, batch, at, everywhere)
    if (batch.events.length > 0) yield* addEvents(self, batch.events, everywhere)
    yield* drop(self, grown)
  }
  if (batch.finished.length > 0) yield* finish(self, batch, at, everywhere)
  return epochs
})

const inPg = Effect.fnUntraced(function*(self: Self, items: ReadonlyArray<Item>, at: Fragment) {
  const { run, transaction } = self
  const found = yield* run("store events", statement(self, items, at))
  const grown = found.filter(({ epoch }) => epoch === null)
  if (grown.length > 0) {
    // The events are stored. If dropping fails now, the next event of the stream drops them.
    yield* Effect.catchAll(
      transaction("drop events", drop(self, grown)),
      ({ message }) => Effect.logWarning(message)
    )
  }
  return Epochs.ofRows(found)
})

// All parts of the statement read the tables as they were before the statement. No two parts change the same row.
const statement = (self: Self, items: ReadonlyArray<Item>, at: Fragment) => {
  const { epochsOf, everywhere, maxEvents, sql } = self
  const own = Epochs.ofItems(items)
  const batch = batchOf(items, own)
  const isFenced = own.size > 0
  const where = isFenced
    ? sql`(items.epoch = 0 OR items.epoch >= (SELECT epoch FROM epochs WHERE epochs.session = items.session))`
    : everywhere
  const isChanged = sql`(session, stream) IN (SELECT session, stream FROM changed)`
  const parts = [
    ...(isFenced ? [sql`epochs AS (${epochsOf(own)})`] : []),
    // All nodes lock the rows in this order, so that no two nodes wait for each other.
    sql`changed AS (${addStreams(self, batch, at, sql`${where} ORDER BY session, stream`)})`,
    ...(batch.events.length === 0 ? [] : [sql`added AS (${addEvents(self, batch.events, isChanged)})`]),
    ...(batch.finished.length === 0 ? [] : [sql`finished AS (${finish(self, batch, at, where)})`])
  ]
  return sql<Grown & { readonly epoch: Number64 | null }>`
    WITH ${sql.csv(parts)}
    ${isFenced ? sql`SELECT session, '' AS stream, 0 AS events, epoch FROM epochs UNION ALL` : sql``}
    SELECT session, stream, events, NULL AS epoch FROM changed WHERE events > ${maxEvents}`
}

const until = ({ sql }: Self, now: Fragment, millis: number) =>
  sql`CAST((${now} + ${Math.ceil(millis) + ROUNDED - 1}) / ${ROUNDED} AS bigint) * ${ROUNDED}`

const addStreams = (self: Self, { rows }: Batch, now: Fragment, where: Fragment) => {
  const { greatest, retention, sql, streams, ttl } = self
  return sql<Grown>`
    INSERT INTO ${streams}
      (session, stream, epoch, requests, finished, events, latest, dropped, missing, expires)
    SELECT session, stream, epoch, requests, finished, events, latest, 0, missing,
      CASE WHEN finished = 1 THEN ${until(self, now, retention)} ELSE ${until(self, now, ttl)} END
    FROM ${Rows.make(sql, ROW, rows)} WHERE ${where}
    ON CONFLICT (session, stream) DO UPDATE SET
      epoch = ${greatest}(${streams}.epoch, excluded.epoch),
      requests = CASE WHEN excluded.requests = '' THEN ${streams}.requests ELSE excluded.requests END,
      finished = CASE WHEN excluded.finished = 1 OR excluded.requests <> '' THEN excluded.finished
        ELSE ${streams}.finished END,
      events = CASE WHEN ${streams}.expires <= ${now} THEN 0 ELSE ${streams}.events END + excluded.events,
      latest = ${greatest}(${streams}.latest, excluded.latest),
      dropped = CASE WHEN ${streams}.expires <= ${now} THEN ${streams}.latest ELSE ${streams}.dropped END,
      missing = ${greatest}(${streams}.missing, excluded.missing),
      expires = excluded.expires
    RETURNING session, stream, events`
}

const addEvents = ({ events, sql }: Self, added: Batch["events"], where: Fragment) =>
  sql`
    INSERT INTO ${events} (session, stream, position, data)
    SELECT session, stream, position, data FROM ${Rows.make(sql, EVENT, added)} WHERE ${where}
    ON CONFLICT DO NOTHING`

const finish = (self: Self, { finished }: Batch, now: Fragment, where: Fragment) => {
  const { retention, sql, streams } = self
  return sql`
    UPDATE ${streams} SET finished = 1, expires = ${until(self, now, retention)}
    WHERE expires > ${now} AND (session, stream) IN (
      SELECT session, stream FROM ${Rows.make(sql, KEY, finished)} WHERE ${where}
    )`
}

/** Drops the oldest events of streams that have too many events. */
const drop = (self: Self, grown: ReadonlyArray<Grown>) =>
  Effect.forEach(grown, (stream) => dropSurplus(self, stream), { discard: true })

const dropSurplus = Effect.fnUntraced(function*({ events, maxEvents, sql, streams }: Self, stream: Grown) {
  const surplus = Number(stream.events) - maxEvents
  if (surplus <= 0) return
  const isStream = sql`session = ${stream.session} AND stream = ${stream.stream}`
  const [last] = yield* sql<{ readonly position: Number64 }>`
    SELECT position FROM ${events} WHERE ${isStream}
      AND position > (SELECT dropped FROM ${streams} WHERE ${isStream})
    ORDER BY position LIMIT 1 OFFSET ${surplus - 1}`
  if (last === undefined) return
  yield* sql`DELETE FROM ${events} WHERE ${isStream} AND position <= ${last.position}`
  yield* sql`
    UPDATE ${streams} SET dropped = ${last.position}, events = events - ${surplus} WHERE ${isStream}`
})

/** Combines the operations to one row for each stream. Leaves out operations whose epoch is over. */
const batchOf = (items: ReadonlyArray<Item>, epochs: Epochs.Epochs): Batch => {
  const current = items.filter(({ key }) => !Epochs.isOver(key, epochs))
  const rows = new Map<string, Row>()
  const rowOf = ({ epoch = 0, session, stream }: StreamKey): Row => {
    const row = rows.get(nameOf(session, stream)) ??
      { session, stream, epoch, requests: "", finished: 0, events: 0, latest: 0, missing: 0 }
    rows.set(nameOf(session, stream), row)
    return row
  }
  for (const item of current) {
    const { key, missing = 0 } = item
    if (item._tag === "Await" || (item._tag === "Finish" && missing === 0)) continue
    const row = rowOf(key)
    row.missing = Math.max(row.missing, missing)
    if (item._tag === "Open") row.requests = item.requests
    if (item._tag === "Append") {
      row.events++
      row.latest = Math.max(row.latest, item.event.position)
    }
  }
  const finished: Array<Batch["finished"][number]> = []
  for (const { _tag, key: { epoch = 0, session, stream } } of current) {
    if (_tag !== "Finish") continue
    const row = rows.get(nameOf(session, stream))
    if (row === undefined) finished.push({ session, stream, epoch })
    else row.finished = 1
  }
  const events = current.flatMap((item) =>
    item._tag === "Append" ? [{ session: item.key.session, stream: item.key.stream, ...item.event }] : []
  )
  return { rows: [...rows.values()], events, finished }
}

const nameOf = (session: string, stream: string): string => `${session.length}:${session}${stream}`
