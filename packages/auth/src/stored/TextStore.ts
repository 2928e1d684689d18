/**
 * A key-value store of texts. For a key without a text, a `KeyValueStore` of Effect 3 returns another value than a store of Effect 4. This
 * module hides the difference. `CredentialStore` reads every store through this module, and `CredentialDirectory` makes a store with it.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

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
): Effect.Effect<string | undefined, PlatformError> => Effect.map(store.get(key), Option.getOrUndefined)

export const make = ({ get, keys, ...rest }: Texts<PlatformError>): KeyValueStore.KeyValueStore =>
  KeyValueStore.makeStringOnly({
    ...rest,
    get: (key) => Effect.map(get(key), Option.fromNullable),
    size: Effect.map(keys, ({ length }) => length)
  })
