/**
 * What a database does for a `CredentialStore` that several processes share: three functions, each of which is one atomic step.
 * `CredentialStore.makeShared` makes the store. `RedisCredentialStore` and `SqlCredentialStore` of the packages `redis` and `sql` have such
 * functions; write them for another database.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * The right to change the records of one owner. The record of this name begins with the token as long as no other process has taken the
 * lock.
 *
 * @category models
 */
export interface Lock {
  readonly name: string
  readonly token: string
}

/**
 * The records of one owner. Their names have up to 100 characters of ASCII, and the texts up to 256 Ki characters. What the functions fail
 * with is the cause of an `AuthorizationError`.
 *
 * @category models
 */
export interface CredentialDatabase {
  /** The text of a record; `undefined` when there is none. */
  readonly read: (name: string) => Effect.Effect<string | undefined, unknown>
  /**
   * Stores the text of a record; `undefined` removes the record. `LockLost`: the record of the lock is missing, or does not begin with
   * the token, and nothing was changed. `Full`: the owner may have no more records, and nothing was changed.
   */
  readonly write: (
    name: string,
    text: string | undefined,
    lock: Lock | undefined
  ) => Effect.Effect<"Stored" | "LockLost" | "Full", unknown>
  /** Stores a text where the record still has the text `before`, or is still missing; gives whether that was so. No limit refuses it. */
  readonly swap: (name: string, before: string | undefined, after: string) => Effect.Effect<boolean, unknown>
}
