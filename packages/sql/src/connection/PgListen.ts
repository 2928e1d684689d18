/**
 * Hears notifications of PostgreSQL on a connection of the pool. The driver's own `listen` has moments in which nothing handles an
 * error of its connection: when PostgreSQL ends the connection then, the process ends. And it keeps a connection on which nothing
 * arrives any more.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** What a connection of the driver has. */
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

/** How long PostgreSQL may take to answer. A connection of a pool may be one on which nothing arrives any more. */
const ANSWER = Duration.seconds(2)

/** The client of the driver `@effect/sql-pg`. */
export interface PgClient extends SqlClient {
  readonly config: { readonly maxConnections?: number | undefined }
  /** On a connection that does not count in `maxConnections`. */
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
}

export const isPgClient = (sql: SqlClient): sql is PgClient => "~@effect/sql-pg/PgClient" in sql

/** The channel is a name of this package. The stream fails when the connection is lost. */
export const listen = (sql: PgClient, channel: string): Stream.Stream<string, SqlError> =>
  // Statements need the only connection.
  sql.config.maxConnections === 1 ? sql.listen(channel) : onReserved(sql, channel)

const onReserved = ({ reserve }: SqlClient, channel: string): Stream.Stream<string, SqlError> =>
  Stream.asyncPush<string, SqlError>((emit) =>
    Effect.gen(function*() {
      // The driver does not give back a connection that comes after an interruption.
      const connection = (yield* Effect.uninterruptible(reserve)) as Reserved
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
      yield* Effect.timeoutFail(Effect.disconnect(connection.execute(`LISTEN "${channel}"`, [], undefined)), {
        duration: ANSWER,
        onTimeout: () => new SqlError({ cause: undefined, message: "The connection that listens does not answer" })
      })
    })
  )
