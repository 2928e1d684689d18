/**
 * The three functions that a database must provide for a `CredentialStore` that several processes share. Each function must be atomic.
 * `CredentialStore.makeShared` makes the store from these functions. `RedisCredentialStore` (package `redis`) and `SqlCredentialStore`
 * (package `sql`) implement these functions. For another database, implement these functions in your program.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * A lock on records of one owner. The lock is also a record, with the name `name`. The text of this record begins with `token` until
 * another process takes the lock.
 *
 * @category models
 */
export interface Lock {
  readonly name: string
  readonly token: string
}

/**
 * The records of one owner. The name of a record has up to 100 ASCII characters, and its text has up to 262,144 characters. When a function
 * fails, the client fails with an `AuthorizationError` with reason `Store`, whose `cause` is the error of the function.
 *
 * @category models
 */
export interface CredentialDatabase {
  /** Returns the text of a record; `undefined` when the record does not exist. */
  readonly read: (name: string) => Effect.Effect<string | undefined, unknown>
  /**
   * Stores the text of a record. The text `undefined` removes the record. With a `lock`, the function stores the text only if the caller
   * holds the lock. Returns `LockLost` when the record of the lock is missing or does not begin with the token of the lock. Returns `Full`
   * when the owner has as many records as the database allows. In both cases the function must change nothing.
   */
  readonly write: (
    name: string,
    text: string | undefined,
    lock: Lock | undefined
  ) => Effect.Effect<"Stored" | "LockLost" | "Full", unknown>
  /**
   * Stores the text `after` only if the record now has the text `before`. If `before` is `undefined`, stores the text only if the record
   * does not exist. Returns `true` when the text was stored. The limit of records per owner does not apply to this function.
   */
  readonly swap: (name: string, before: string | undefined, after: string) => Effect.Effect<boolean, unknown>
}
