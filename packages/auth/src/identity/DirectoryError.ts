/**
 * The errors of a key-value store that stores its values in files, for `node/CredentialDirectory`. Effect 3 and Effect 4 have different
 * errors. This module hides the difference.
 */
import * as PlatformError from "@effect/platform/Error"

export type DirectoryError = PlatformError.PlatformError

/** Makes the error of an operation `method` that has failed at `path`. */
export const make = (method: string, path: string, cause: unknown): DirectoryError =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "KeyValueStore",
    method,
    pathOrDescriptor: path,
    description: (cause as { readonly code?: string } | undefined)?.code ?? "failed",
    cause
  })
