/**
 * The error of this package. It occurs when the database did not answer in time or refused a statement, and when an option of this package
 * cannot be used.
 *
 * The error says which operation has failed. It never contains the values of a statement, which may be secrets.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/** @category errors */
export class SqlStoreError extends Data.TaggedError("SqlStoreError")<{
  readonly message: string
  /**
   * Is `true` when the statement has certainly changed nothing, because the database has refused the statement or did not get it. Default:
   * false.
   */
  readonly isRefused?: boolean | undefined
  /**
   * The code that the database or its driver reported, such as `SQLITE_BUSY`, `23505` or `ECONNREFUSED`; `undefined` when they reported no
   * code.
   */
  readonly code?: string | undefined
}> {}
