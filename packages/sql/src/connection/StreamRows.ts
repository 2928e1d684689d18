/**
 * Reads and deletes the rows of `SqlEventStore`. When a session ends, this module marks its streams as expired. Later `Sweep` deletes
 * expired streams and their events in portions. After each portion the event loop runs other work.
 */
import type { Identifier } from "@effect/sql/Statement"
import type { StoredEvent, StreamKey } from "@effect-mcp/core/EventStore"
import { turn } from "@effect-mcp/core/unstable/kit/EventLoop"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SqlConnectionService } from "../SqlConnection.js"
import type { SqlStoreError } from "../SqlStoreError.js"
import * as Epochs from "./Epochs.js"
import * as Sweep from "./Sweep.js"

export interface StreamRows {
  /** Returns the requests that an unfinished stream answers; `undefined` when the stream is missing or has finished. */
  readonly unfinished: (key: StreamKey) => Effect.Effect<string | undefined, SqlStoreError>
  /**
   * Returns the events after a position; `None` when the stream is missing, or when events after the position were dropped or not stored.
   */
  readonly after: (
    key: StreamKey,
    position: number
  ) => Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, SqlStoreError>
  /** Marks all streams of a session as expired. Does nothing when `epoch` is over. */
  readonly forget: (session: string, epoch: number | undefined) => Effect.Effect<void, SqlStoreError>
  readonly sweep: Effect.Effect<void, never, Scope.Scope>
}

type Number64 = number | string

/** How many events one statement reads. */
const READ = 256

/** How many streams of a session one transaction marks at most. */
const FORGOTTEN = 500

interface Self extends SqlConnectionService {
  readonly streams: Identifier
  readonly events: Identifier
  readonly epochsOf: ReturnType<typeof Epochs.make>
}

export const make = (connection: SqlConnectionService): StreamRows => {
  const { table } = connection
  const self: Self = {
    ...connection,
    streams: table("streams"),
    events: table("events"),
    epochsOf: Epochs.make(connection)
  }
  return {
    unfinished: (key) => unfinished(self, key),
    after: (key, position) => after(self, key, position),
    forget: (session, epoch) => forget(self, session, epoch),
    sweep: sweep(self)
  }
}

const isStream = ({ sql }: Self, { session, stream }: StreamKey) => sql`session = ${session} AND stream = ${stream}`

const find = (self: Self, key: StreamKey) => {
  const { now, sql, streams } = self
  return Effect.flatMap(now, (now) =>
    sql<{
      readonly requests: string
      readonly finished: Number64
      readonly dropped: Number64
      readonly missing: Number64
    }>`SELECT requests, finished, dropped, missing FROM ${streams} WHERE ${isStream(self, key)} AND expires > ${now}`)
}

const unfinished = (self: Self, key: StreamKey) =>
  Effect.map(
    self.run("find a stream", find(self, key)),
    ([stream]) =>
      stream === undefined || Number(stream.finished) === 1 || stream.requests === "" ? undefined : stream.requests
  )

const after = Effect.fnUntraced(function*(self: Self, key: StreamKey, position: number) {
  const { events, run, sql } = self
  const found: Array<StoredEvent> = []
  let dropped = 0
  while (true) {
    const from = Math.max(position, dropped, found.at(-1)?.position ?? 0)
    const page = yield* run(
      "read events",
      sql<{ readonly position: Number64; readonly data: string }>`
        SELECT position, data FROM ${events} WHERE ${isStream(self, key)} AND position > ${from}
        ORDER BY position LIMIT ${READ}`
    )
    // The stream is read after the events. So this function notices when events were dropped in the meantime.
    const [stream] = yield* run("find a stream", find(self, key))
    if (stream === undefined) return Option.none()
    dropped = Number(stream.dropped)
    if (position >= 0 && position < Math.max(dropped, Number(stream.missing))) return Option.none()
    for (const { data, position } of page) {
      if (Number(position) > dropped) found.push({ position: Number(position), data })
    }
    if (page.length < READ) return Option.some(found)
    yield* turn
  }
})

const forget = (
  self: Self,
  session: string,
  epoch: number | undefined,
  from?: string
): Effect.Effect<void, SqlStoreError> =>
  Effect.flatMap(
    self.transaction("forget a session", forgetSome(self, session, epoch, from)),
    (last) => last === undefined ? Effect.void : Effect.zipRight(turn, forget(self, session, epoch, last))
  )

/**
 * Marks the first streams whose names come after `from`. Returns the name of the last marked stream, or `undefined` when there are no more
 * streams.
 */
const forgetSome = Effect.fnUntraced(function*(
  { epochsOf, sql, streams }: Self,
  session: string,
  epoch: number | undefined,
  from: string | undefined
) {
  if (epoch !== undefined) {
    const epochs = Epochs.ofRows(yield* epochsOf(new Map([[session, epoch]])))
    if (Epochs.isOver({ session, epoch }, epochs)) return undefined
  }
  const rest = sql`session = ${session} AND ${from === undefined ? sql`true` : sql`stream > ${from}`}`
  const [last] = yield* sql<{ readonly stream: string }>`
    SELECT stream FROM ${streams} WHERE ${rest} ORDER BY stream LIMIT 1 OFFSET ${FORGOTTEN - 1}`
  const portion = last === undefined ? rest : sql`${rest} AND stream <= ${last.stream}`
  yield* sql`UPDATE ${streams} SET expires = 0 WHERE ${portion}`
  return last?.stream
})

const sweep = (self: Self): Effect.Effect<void, never, Scope.Scope> => {
  const { events, sql, streams } = self
  return Sweep.portions(self, [
    (now, limit) =>
      sql`
        DELETE FROM ${events} WHERE (session, stream, position) IN (
          SELECT ${events}.session, ${events}.stream, position FROM ${streams}
          JOIN ${events} ON ${events}.session = ${streams}.session AND ${events}.stream = ${streams}.stream
          WHERE expires <= ${now} LIMIT ${limit} ${Sweep.unlocked(sql, events)}
        ) RETURNING 1 AS one`,
    (now, limit) =>
      sql`
        DELETE FROM ${streams} WHERE expires <= ${now} AND (session, stream) IN (
          SELECT session, stream FROM ${streams} WHERE expires <= ${now} AND NOT EXISTS (
            SELECT 1 FROM ${events}
            WHERE ${events}.session = ${streams}.session AND ${events}.stream = ${streams}.stream
          ) LIMIT ${limit} ${Sweep.unlocked(sql)}
        ) RETURNING 1 AS one`
  ])
}
