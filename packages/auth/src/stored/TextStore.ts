/**
 * A key-value store of texts. This is the module that knows how a store of the platform says that it has no text, which the platform of
 * Effect 4 says in another way. `CredentialStore` reads any store through it, `CredentialDirectory` makes one.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** What a store of texts is made of. */
export interface Texts<E> {
  readonly get: (key: string) => Effect.Effect<string | undefined, E>
  readonly set: (key: string, value: string) => Effect.Effect<void, E>
  readonly remove: (key: string) => Effect.Effect<void, E>
  readonly clear: Effect.Effect<void, E>
  readonly keys: Effect.Effect<ReadonlyArray<string>, E>
}

/** The text of a key; `undefined` when there is none. */
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
