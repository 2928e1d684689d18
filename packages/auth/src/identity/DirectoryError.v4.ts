/**
 * The errors of a key-value store that stores its values in files, for `node/CredentialDirectory` with Effect 4.
 */
import * as KeyValueStore from "effect/persistence/KeyValueStore"

export type DirectoryError = KeyValueStore.KeyValueStoreError

/** Makes the error of an operation `method` that has failed at `path`. */
export const make = (method: string, path: string, cause: unknown): DirectoryError =>
  new KeyValueStore.KeyValueStoreError({
    method,
    key: path,
    message: (cause as NodeJS.ErrnoException).code ?? "failed",
    cause
  })
