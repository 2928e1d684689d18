/**
 * The errors of a key-value store that keeps its values in files, for `node/CredentialDirectory`. This is the module that makes errors of the
 * platform, which Effect 4 makes in another way.
 */
import * as PlatformError from "@effect/platform/Error"

export type DirectoryError = PlatformError.PlatformError

/** That a step of the store failed at a path. */
export const make = (method: string, path: string, cause: unknown): DirectoryError =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "KeyValueStore",
    method,
    pathOrDescriptor: path,
    description: (cause as { readonly code?: string } | undefined)?.code ?? "failed",
    cause
  })
