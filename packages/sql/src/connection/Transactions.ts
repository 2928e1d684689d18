/**
 * Runs transactions and single statements in the way that each driver needs, for `SqlConnection` and `Migrate`.
 *
 * The driver of libSQL (SQLite) would open a further connection to its file for each transaction, and would never close this connection. So
 * this module uses only one connection for a libSQL file, and a lock: only one transaction or single statement at a time uses the
 * connection. This module does not use the driver's own lock, because that lock stays locked when a statement is interrupted directly after
 * the statement took the lock.
 *
 * When a statement of libSQL fails because another process has locked the file, the statement stays open until the garbage collector
 * collects it. Until then the connection reads an old state of the file, and commits nothing. So after such a failure this module opens the
 * file again.
 */
import { type SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Attempt from "./Attempt.js"

export interface Transactions {
  /** Runs statements without a transaction. */
  readonly outside: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs statements in one transaction. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

/** The members of the driver of libSQL that this module uses. */
interface Libsql {
  readonly sdk: {
    readonly protocol: string
    readonly execute: (
      statement: { readonly sql: string; readonly args: ReadonlyArray<unknown> }
    ) => Promise<{ readonly rows: ReadonlyArray<ArrayLike<unknown>> }>
    /** Begins a transaction with the present connection of the driver, so that the next statement opens the file again. */
    readonly transaction: (mode: "deferred") => Promise<{ readonly close: () => void }>
  }
}

/** The lock of each connection to a libSQL file. The locks are global, because two servers may use one client. */
const locks = new WeakMap<Libsql["sdk"], Semaphore.Semaphore>()

const lockOf = (sdk: Libsql["sdk"]): Semaphore.Semaphore => {
  let lock = locks.get(sdk)
  if (lock === undefined) locks.set(sdk, lock = Semaphore.make())
  return lock
}

/**
 * Makes a `Transactions`. `limit` is how long a statement may take, in milliseconds. The semaphore `places` limits how many statements and
 * transactions run in PostgreSQL at the same time. When `places` is `undefined`, there is no limit.
 */
export const make = (sql: SqlClient, limit: number, places?: Semaphore.Semaphore): Transactions => {
  if (Attempt.isPg(sql)) {
    const placed: Transactions["outside"] = (effect) => places === undefined ? effect : places.run(effect)
    return {
      outside: (effect) => toEnd(placed(effect), limit),
      within: (effect) =>
        withOwnCause(
          effect,
          (effect) => placed(sql.withTransaction(Effect.mapInputContext(effect, withStatementsToEnd(limit))))
        )
    }
  }
  if (!isLibsqlFile(sql)) return { outside: (effect) => effect, within: sql.withTransaction }
  const reopen = Effect.ignoreLogged(Effect.zipRight(
    Effect.tryPromise(() => sql.sdk.transaction("deferred").then((transaction) => transaction.close())),
    Attempt.open(sql)
  ))
  const alone = lockOf(sql.sdk).run
  const direct = [withoutLock(sql.sdk), 0] as const
  const unlocked = <R>(context: Context.Context<R>) => Context.add(context, Attempt.LibsqlTransaction, direct)
  const outside: Transactions["outside"] = (effect) =>
    alone(
      Effect.onError(
        Effect.mapInputContext(effect, unlocked),
        (cause) => Attempt.hasMetLock(cause) ? reopen : Effect.void
      )
    )
  const rollback = Effect.ignore(sql`ROLLBACK`)
  const commit = Effect.orDie(Effect.tapError(sql`COMMIT`, () => rollback))
  return {
    outside,
    within: (effect) =>
      outside(Effect.acquireUseRelease(
        sql`BEGIN IMMEDIATE`,
        () => effect,
        (_, exit) => Exit.isSuccess(exit) ? commit : rollback
      ))
  }
}

/**
 * Runs an effect in a transaction. When the effect fails, the transaction fails with the cause of the effect. This is needed when the
 * connection is lost: then ROLLBACK fails as well, and the driver reports only the failure of ROLLBACK. No transaction stays open, because
 * PostgreSQL ends the transaction together with the connection.
 */
const withOwnCause = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  transaction: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
): Effect.Effect<A, E | SqlError, R> =>
  Effect.suspend(() => {
    let own: Cause.Cause<E> | undefined
    const noted = Effect.tapErrorCause(effect, (cause) =>
      Effect.sync(() => {
        own = cause
      }))
    return Effect.catchAllCause(
      transaction(noted),
      (given) => Effect.failCause(own === undefined || Cause.isInterrupted(own) ? given : own)
    )
  })

/**
 * Runs a statement of PostgreSQL to its end, even when its caller is interrupted. The driver would cancel an interrupted statement. But if
 * the statement has just ended, the driver would cancel the next statement of the connection. After three times the limit the statement is
 * interrupted nevertheless. By this time PostgreSQL has ended the statement because of `statement_timeout`.
 */
const toEnd = <A, E, R>(statement: Effect.Effect<A, E, R>, limit: number): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkDaemon(limited(statement, limit)), Fiber.join)

const limited = <A, E, R>(statement: Effect.Effect<A, E, R>, limit: number): Effect.Effect<A, E, R> =>
  TimeLimit.call(statement, 3 * limit, () => Effect.failCause(EffectInternals.interruption))

/**
 * Runs a statement inside of a transaction to its end. An interruption waits until the statement has ended, so that the connection is free
 * for the next statement.
 */
const toItsEnd = <A, E, R>(statement: Effect.Effect<A, E, R>, limit: number): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDaemon(restore(limited(statement, limit))), Fiber.join)
  )

/**
 * Makes an interrupted transaction wait for the end of its present statement before the rollback. To cancel the statement, the driver would
 * need another connection of the pool. The driver would wait for this other connection while the transaction is open, and would then cancel
 * any statement that runs on the first connection.
 */
const withStatementsToEnd = (limit: number) => <R>(context: Context.Context<R>): Context.Context<R> =>
  Option.match(Context.getOption(context, TransactionConnection), {
    onNone: () => context,
    onSome: ([connection, depth]) =>
      Context.add(context, TransactionConnection, [statementsToEnd(connection, limit), depth])
  })

const statementsToEnd = (connection: Connection, limit: number): Connection => ({
  execute: (...statement) => toItsEnd(connection.execute(...statement), limit),
  executeRaw: (...statement) => toItsEnd(connection.executeRaw(...statement), limit),
  executeStream: (...statement) => connection.executeStream(...statement),
  executeValues: (...statement) => toItsEnd(connection.executeValues(...statement), limit),
  executeUnprepared: (...statement) => toItsEnd(connection.executeUnprepared(...statement), limit)
})

/**
 * Returns the text without lone surrogates, which UTF-8 cannot encode. The driver of libSQL ends the process for a text with lone
 * surrogates.
 */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd")

/**
 * Returns the connection to a libSQL file, in the form of a connection of a transaction. For such a connection the driver does not use its
 * own lock.
 */
const withoutLock = (sdk: Libsql["sdk"]): Connection => {
  const run = (sql: string, args: ReadonlyArray<unknown>) =>
    Effect.tryPromise({
      try: () => sdk.execute({ sql, args: args.map((arg) => typeof arg === "string" ? wellFormed(arg) : arg) }),
      catch: (cause) => new SqlError({ cause, message: "Failed to execute statement" })
    })
  const rows: Connection["execute"] = (sql, args, transform) =>
    Effect.map(run(sql, args), ({ rows }) => transform === undefined ? rows : transform(rows as ReadonlyArray<any>))
  return {
    execute: rows,
    executeRaw: run,
    executeStream: () => Stream.dieMessage("The driver of libSQL has no streams"),
    executeValues: (sql, args) => Effect.map(run(sql, args), ({ rows }) => rows.map((row) => Array.from(row))),
    executeUnprepared: rows
  }
}

const isLibsqlFile = (sql: SqlClient): sql is SqlClient & Libsql =>
  "sdk" in sql && typeof sql.sdk === "object" && sql.sdk !== null && "protocol" in sql.sdk &&
  sql.sdk.protocol === "file"
