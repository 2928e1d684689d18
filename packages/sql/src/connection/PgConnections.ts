/**
 * Connections of PostgreSQL that are taken out of the pool: one connection hears notifications, and others only read. The pool opens a new
 * connection for each that has ended. `Wake` hears notifications, `SqlConnection` reads, and `PgNodes` makes a pool that has room for
 * both.
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

/** What a connection of the driver has. The pool drops it when it has ended. */
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

/** How long PostgreSQL may take to answer. It may be that nothing arrives on a connection of a pool any more. */
const ANSWER = Duration.seconds(2)

/** The client of the driver `@effect/sql-pg`. */
export interface PgClient extends SqlClient {
  readonly config: { readonly maxConnections?: number | undefined }
  /** On a connection that does not count in `maxConnections`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
}

export const isPgClient = (sql: SqlClient): sql is PgClient => "~@effect/sql-pg/PgClient" in sql

/**
 * The channel is a name of this package. The stream fails when the connection is lost. The driver's own `listen` has moments in which
 * nothing handles an error of its connection: when PostgreSQL ends the connection then, the process ends. And it keeps a connection on
 * which nothing arrives any more.
 */
export const listen = (sql: PgClient, channel: string): Stream.Stream<string, SqlError> =>
  // Statements need the only connection.
  sql.config.maxConnections === 1 ? sql.listen(channel) : onReserved(sql, channel)

/** How many connections of a pool data must leave free: for the connection that listens, and for leases. */
export const SPARE = 2

/** How many connections of a pool are for data; `undefined` where that is not known. */
export const forData = (sql: SqlClient): number | undefined =>
  isPgClient(sql) ? Math.max(1, (sql.config.maxConnections ?? 10) - SPARE) : undefined

/** The driver does not give back a connection that comes after an interruption. */
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
      // It ends before it is given back, so that no statement gets it.
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

/** Between two looks: all connections may lead to a server that only reads. */
const PAUSE = "1 second"

/** Looks at the connections when the effect has failed because a connection only reads. */
type Watch = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Ends connections that only read. After a failover the name of the server may lead to a replica for a while, which takes connections
 * and refuses writes; a connection to it that is used all the time would stay open.
 *
 * The driver does not tell which connection has refused a statement. So this takes connections out of the pool, beginning with the
 * connection that was used last, until one can write.
 */
export const leavingReadOnly = (sql: SqlClient, run: Attempt.Run): Effect.Effect<Watch, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (!isPgClient(sql)) return (effect) => effect
    const due = yield* Queue.sliding<void>(1)
    /** Whether a connection only reads. Then it ends before it is given back, so that no statement gets it. */
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
