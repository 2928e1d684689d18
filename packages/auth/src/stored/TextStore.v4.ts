/**
 * A key-value store of texts, for Effect 4. `CredentialStore` reads every store through this module, and `CredentialDirectory` makes a
 * store with it.
 */
import * as Effect from "effect/Effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"

/** The functions of a store of texts. */
export interface Texts<E> {
  readonly get: (key: string) => Effect.Effect<string | undefined, E>
  readonly set: (key: string, value: string) => Effect.Effect<void, E>
  readonly remove: (key: string) => Effect.Effect<void, E>
  readonly clear: Effect.Effect<void, E>
  readonly keys: Effect.Effect<ReadonlyArray<string>, E>
}

/** Returns the text of a key; `undefined` when the store has no text for the key. */
export const get = (
  store: KeyValueStore.KeyValueStore,
  key: string
): Effect.Effect<string | undefined, KeyValueStore.KeyValueStoreError> => store.get(key)

export const make = (texts: Texts<KeyValueStore.KeyValueStoreError>): KeyValueStore.KeyValueStore =>
  KeyValueStore.makeStringOnly({ ...texts, size: Effect.map(texts.keys, ({ length }) => length) })
