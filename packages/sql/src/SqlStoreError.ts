/**
 * The error of everything that stores in an SQL database: the database did not answer in time, or refused a statement, or an option of
 * this package cannot be used.
 *
 * The error names what was to be done, and never the values of a statement or an address, which may be secrets.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class SqlStoreError extends Data.TaggedError("SqlStoreError")<{
  readonly message: string
  /** Whether it is certain that nothing has changed: the database has refused the statement, or never got it. Default: false. */
  readonly isRefused?: boolean | undefined
  /** The code that the database or its driver reported, such as `SQLITE_BUSY`, `23505` or `ECONNREFUSED`. */
  readonly code?: string | undefined
}> {}
