/**
 * The error of this package: the database did not answer in time, or refused a statement, or an option of this package cannot be used.
 *
 * The error says what the database was to do. It never contains the values of a statement, which may be secrets.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class SqlStoreError extends Data.TaggedError("SqlStoreError")<{
  readonly message: string
  /** Whether it is certain that nothing has changed, because the database has refused the statement or never got it. Default: false. */
  readonly isRefused?: boolean | undefined
  /**
   * The code that the database or its driver reported, such as `SQLITE_BUSY`, `23505` or `ECONNREFUSED`; `undefined` when there is none.
   */
  readonly code?: string | undefined
}> {}
