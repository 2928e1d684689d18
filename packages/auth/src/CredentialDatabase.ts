/**
 * The three functions that a database must provide for a `CredentialStore` that several processes share. Each function must be atomic.
 * `CredentialStore.makeShared` makes the store from these functions. `RedisCredentialStore` (package `redis`) and `SqlCredentialStore`
 * (package `sql`) implement the functions; for another database, implement them yourself.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * A lock on records of one owner. The lock is itself a record with the name `name`. As long as no other process has taken the lock, the
 * text of this record begins with `token`.
 *
 * @category models
 */
export interface Lock {
  readonly name: string
  readonly token: string
}

/**
 * The records of one owner. The name of a record has up to 100 ASCII characters; its text has up to 262,144 characters. When a function
 * fails, its error becomes the `cause` of an `AuthorizationError` with reason `Store`.
 *
 * @category models
 */
export interface CredentialDatabase {
  /** Gives the text of a record; `undefined` when there is no such record. */
  readonly read: (name: string) => Effect.Effect<string | undefined, unknown>
  /**
   * Stores the text of a record; the text `undefined` removes the record. With a `lock`, the function stores only while the caller holds
   * the lock. Gives `LockLost` when the record of the lock is missing or does not begin with the token of the lock, and `Full` when the
   * owner has as many records as the database allows. In both cases nothing was changed.
   */
  readonly write: (
    name: string,
    text: string | undefined,
    lock: Lock | undefined
  ) => Effect.Effect<"Stored" | "LockLost" | "Full", unknown>
  /**
   * Stores the text `after` only if the record now has the text `before`; `before` is `undefined` when the record must be missing. Gives
   * whether the text was stored. The limit of records per owner does not apply to this function.
   */
  readonly swap: (name: string, before: string | undefined, after: string) => Effect.Effect<boolean, unknown>
}
