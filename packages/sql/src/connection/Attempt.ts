/**
 * Runs statements within a time limit, for all modules that use the database, and turns the errors of a driver into a `SqlStoreError`. A
 * driver reports a failed COMMIT or ROLLBACK as a defect. This module turns such a defect into a `SqlStoreError` as well.
 *
 * This module tries statements again in two cases: while another process locks the SQLite file, and when PostgreSQL has undone a
 * transaction because of another transaction. In these cases nothing has changed in the database.
 */
import { type SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { SqlStoreError } from "../SqlStoreError.js"

/** Runs statements. `what` completes the message "The database did not ..." of an error. */
export type Run = <A, E, R>(
  what: string,
  effect: Effect.Effect<A, E | SqlError, R>
) => Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R>

export const isPg = (sql: SqlClient): boolean => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/**
 * Sets how a connection uses a SQLite file. The timeout of SQLite itself is 0, because SQLite would block the process while it waits for a
 * lock. A `Run` waits without blocking.
 */
export const open = (sql: SqlClient): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    isPg(sql) ? [] : ["busy_timeout = 0", "journal_mode = WAL", "synchronous = NORMAL"],
    (pragma) => sql.unsafe(`PRAGMA ${pragma}`),
    { discard: true }
  )

/** How many calls of one `Run` may wait for the database. */
const MAX_WAITING = 10_000

/** Makes a `Run` with a time limit of `limit` milliseconds, and at most `maxWaiting` waiting calls. */
export const make = (limit: number, maxWaiting = MAX_WAITING): Run => {
  const again = Schedule.spaced("20 millis").pipe(Schedule.upTo(limit), Schedule.whileInput(isUndone))
  let waiting = 0
  const done = Effect.sync(() => waiting--)
  return <A, E, R>(what: string, effect: Effect.Effect<A, E | SqlError, R>) =>
    // This code is uninterruptible, so that each increase of the count is followed by a decrease.
    Effect.uninterruptibleMask((restore) => {
      if (waiting >= maxWaiting) {
        return Effect.fail(new SqlStoreError({ message: full(what, maxWaiting), isRefused: true }))
      }
      waiting++
      let undone: SqlStoreError | undefined
      const onTimeout = () => undone ?? new SqlStoreError({ message: late(what, limit), code: "ETIMEDOUT" })
      // `TimeLimit.end` is used, because the wait for a connection or for the end of a transaction cannot be interrupted.
      const once: Effect.Effect<A, Exclude<E, SqlError> | SqlStoreError, R> = Effect.flatMap(
        TimeLimit.end(refusing(what, Effect.mapInputContext(effect, withoutTransaction)), limit),
        Option.match({ onNone: () => Effect.fail(onTimeout()), onSome: (value) => Effect.succeed(value) })
      )
      const repeated = Effect.catchIf(once, isUndone, (error) => {
        undone = error
        return Effect.retry(once, again)
      })
      return Effect.ensuring(restore(repeated), done)
    })
}

/**
 * Removes a transaction of the application from the context. A running handler may have such a transaction, which may even belong to
 * another database.
 */
const withoutTransaction = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.omit(TransactionConnection, LibsqlTransaction)(context as Context.Context<unknown>) as Context.Context<R>

/** The tag under which libSQL clients store their transaction. A libSQL client even uses the transaction of another client. */
export const LibsqlTransaction = Context.GenericTag("@effect/sql-libsql/LibsqlClient/LibsqlTransaction")

const full = (what: string, waiting: number) => `The database did not ${what}: ${waiting} statements wait for it`

const late = (what: string, limit: number) => `The database did not ${what}: no answer within ${limit} ms`

const refusing: Run = <A, E, R>(what: string, effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.catchAllCause(
    effect,
    (cause): Effect.Effect<never, Exclude<E, SqlError> | SqlStoreError> =>
      Option.match(find(cause), {
        onNone: () => Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError>>),
        onSome: (error) => Effect.fail(toStoreError(what, error))
      })
  )

const find = (cause: Cause.Cause<unknown>): Option.Option<SqlError> =>
  Arr.findFirst([...Cause.failures(cause), ...Cause.defects(cause)], isSqlError)

const isSqlError = (error: unknown): error is SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

const isUndone = (error: unknown): error is SqlStoreError =>
  error instanceof SqlStoreError && (isLocked(error.code) || UNDONE.has(error.code ?? ""))

/** The codes of PostgreSQL for a deadlock, and for two transactions that must run one after the other. */
const UNDONE = new Set(["40P01", "40001"])

/** The code of PostgreSQL for a write on a read-only connection. */
export const READ_ONLY = "25006"

/** Returns whether statements have failed because another connection had locked the SQLite file. */
export const hasMetLock = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(find(cause), ({ cause }) => isLocked(codeOf(cause)))

const isLocked = (code: string | undefined): boolean => code?.startsWith("SQLITE_BUSY") === true

/**
 * Returns `true` when certainly nothing has changed. When PostgreSQL or SQLite reports an error for a statement, the whole statement is
 * undone. The exceptions are a lost connection (08), an ended process (57P01, 57P02, 57P05), an unknown outcome (40003) and errors of the
 * system (58, SQLITE_IOERR). When there was no connection, no statement was sent.
 */
const isRefusal = (code: string | undefined, { message }: SqlError): boolean =>
  message?.includes("acquire connection") === true ||
  /^(?!08|57P0[125]|40003|58)(\d[0-9A-Z]|P0)[0-9A-Z]{3}$|^SQLITE_(?!IOERR)/.test(code ?? "")

const toStoreError = (what: string, error: SqlError): SqlStoreError => {
  const { cause, message } = error
  const code = codeOf(cause)
  const because = isLocked(code)
    ? "another process has locked the SQLite file. Only one process at a time may use it"
    : code === READ_ONLY
    ? "it refuses writes. The address must lead to the primary, without `default_transaction_read_only`"
    // PostgreSQL repeats the refused value in messages with these codes, so the message is not used.
    : code?.startsWith("22") === true
    ? "it refused a value"
    : cause instanceof Error && cause.message !== ""
    ? cause.message
    : message ?? "it failed"
  return new SqlStoreError({
    message: `The database did not ${what}: ${because}${code === undefined ? "" : ` (${code})`}`,
    isRefused: isRefusal(code, error),
    code
  })
}

const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined
