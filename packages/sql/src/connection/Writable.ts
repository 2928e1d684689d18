/**
 * Ends connections of PostgreSQL that only read. After a failover the name of the server may lead to a replica for a while, which
 * takes connections and refuses writes; a connection to it that is used all the time would stay open.
 *
 * The driver does not tell which connection has refused a statement. So this takes connections out of the pool, the one that was
 * used last first, until one can write. The pool opens new ones for those that have ended.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { SqlStoreError } from "../SqlStoreError.js"
import * as Attempt from "./Attempt.js"
import * as PgListen from "./PgListen.js"

/** Between two looks: all connections may lead to a server that only reads. */
const PAUSE = "1 second"

/** A connection of the driver. The pool drops it when it has ended. */
interface Reserved extends Connection {
  readonly pg: { readonly end: () => Promise<void> }
}

/** Looks at the connections when the effect has failed because one of them only reads. */
export type Watch = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const make = (sql: SqlClient, run: Attempt.Run): Effect.Effect<Watch, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (!PgListen.isPgClient(sql)) return (effect) => effect
    const due = yield* Queue.sliding<void>(1)
    /** Whether a connection only reads. Then it ends before it is given back, so that no statement gets it. */
    const ended = Effect.scoped(Effect.gen(function*() {
      // The driver does not give back a connection that comes after an interruption.
      const connection = (yield* Effect.uninterruptible(sql.reserve)) as Reserved
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
