/**
 * Takes single connections out of the pool of a PostgreSQL client. `Wake` uses `listen`, which reserves one connection for notifications.
 * `SqlConnection` uses `forData`, which returns how many connections are for data, and `leavingReadOnly`, which ends connections to a
 * read-only server. `PgNodes` makes a pool that has `SPARE` connections in addition to the connections for data. When this module has ended
 * a connection, the pool opens a new connection.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SqlStoreError } from "../SqlStoreError.js"
import * as Attempt from "./Attempt.js"

/** A connection of the driver. When the connection has ended, the pool removes it. */
interface Reserved extends Connection {
  readonly pg: {
    readonly on: <A>(event: string, listener: (value: A) => void) => unknown
    readonly off: <A>(event: string, listener: (value: A) => void) => unknown
    readonly end: () => Promise<void>
  }
}

interface Notification {
  readonly channel: string
  readonly payload?: string
}

/** How long PostgreSQL may take to answer `LISTEN`. When a connection of a pool is dead, no answer arrives. */
const ANSWER = Duration.seconds(2)

/** The client of the driver `@effect/sql-pg`. */
export interface PgClient extends SqlClient {
  readonly config: { readonly maxConnections?: number | undefined }
  /** Listens with a connection that does not count for `maxConnections`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
}

export const isPgClient = (sql: SqlClient): sql is PgClient => "~@effect/sql-pg/PgClient" in sql

/**
 * Returns the notifications of a channel. `channel` must be a constant of this package. The stream fails when the connection is lost. The
 * driver's own `listen` is not used, because it keeps a dead connection, and because at some moments no code handles an error of its
 * connection. When PostgreSQL ends the connection at such a moment, the process ends.
 */
export const listen = (sql: PgClient, channel: string): Stream.Stream<string, SqlError> =>
  // When the pool has only one connection, statements need it, so the driver's own `listen` is used.
  sql.config.maxConnections === 1 ? sql.listen(channel) : onReserved(sql, channel)

/** How many connections of a pool are not for data: one connection that listens, and one connection for leases. */
export const SPARE = 2

/** Returns how many connections of a pool are for data; `undefined` when the client is not a `PgClient`. */
export const forData = (sql: SqlClient): number | undefined =>
  isPgClient(sql) ? Math.max(1, (sql.config.maxConnections ?? 10) - SPARE) : undefined

/**
 * Takes a connection out of the pool. The effect is uninterruptible, because the driver would lose a connection that arrives after an
 * interruption.
 */
const reserved = ({ reserve }: SqlClient): Effect.Effect<Reserved, SqlError, Scope.Scope> =>
  Effect.map(Effect.uninterruptible(reserve), (connection) => connection as Reserved)

const onReserved = (sql: SqlClient, channel: string): Stream.Stream<string, SqlError> =>
  Stream.asyncPush<string, SqlError>((emit) =>
    Effect.gen(function*() {
      const connection = yield* reserved(sql)
      const { pg } = connection
      const hear = (notification: Notification) => {
        if (notification.channel === channel) emit.single(notification.payload ?? "")
      }
      const lose = (cause: unknown) =>
        emit.fail(new SqlError({ cause, message: "The connection that listens is lost" }))
      pg.on("notification", hear)
      pg.on("error", lose)
      // The connection ends before it goes back to the pool, so that no statement gets it.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          pg.off("notification", hear)
          pg.off("error", lose)
          void pg.end()
        })
      )
      const listening = yield* TimeLimit.end(connection.execute(`LISTEN "${channel}"`, [], undefined), ANSWER)
      if (Option.isNone(listening)) {
        return yield* new SqlError({ cause: undefined, message: "The connection that listens does not answer" })
      }
    })
  )

/** The pause between two checks. The pause is needed when all connections lead to a read-only server. */
const PAUSE = "1 second"

/** Runs an effect. When the effect fails because a connection is read-only, the connections of the pool are checked. */
type Watch = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Ends connections that lead to a read-only server. After a failover the name of the server may lead to a replica for a while. The replica
 * accepts connections, but refuses writes. Without this function, a connection to the replica that is always in use would stay open.
 *
 * The driver does not say on which connection a statement was refused. So this function takes connections out of the pool, beginning with
 * the connection that was used last, until a connection can write.
 */
export const leavingReadOnly = (sql: SqlClient, run: Attempt.Run): Effect.Effect<Watch, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (!isPgClient(sql)) return (effect) => effect
    const due = yield* Queue.sliding<void>(1)
    /**
     * Gives `true` when the next connection of the pool is read-only. A read-only connection is ended before it goes back to the pool, so
     * that no statement gets it.
     */
    const ended = ScopeEnd.scoped(Effect.gen(function*() {
      const connection = yield* reserved(sql)
      const [row] = yield* connection.execute("SHOW transaction_read_only", [], undefined)
      const isReadOnly = row?.transaction_read_only === "on"
      if (isReadOnly) void connection.pg.end().catch(constVoid)
      return isReadOnly
    }))
    const look = Effect.repeat(run("tell whether it takes writes", ended), {
      while: (isReadOnly) => isReadOnly,
      times: sql.config.maxConnections ?? 10
    })
    yield* Effect.forkScoped(Effect.forever(
      Effect.zipRight(Queue.take(due), Effect.zipRight(Effect.ignore(look), Effect.sleep(PAUSE)))
    ))
    return (effect) => Effect.tapError(effect, (error) => isRefused(error) ? Queue.offer(due, undefined) : Effect.void)
  })

const isRefused = (error: unknown): boolean => error instanceof SqlStoreError && error.code === Attempt.READ_ONLY
