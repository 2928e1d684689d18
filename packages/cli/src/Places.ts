/**
 * Opens and checks the files and folders to which a command writes, for `Call`, `Trace`, `Record` and `Init`. The user names these files
 * and folders. A command calls this module before its work begins, and fails with a sentence when it cannot write there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createWriteStream, type WriteStream } from "node:fs"
import { dirname } from "node:path"
import type { Failure } from "./CommandFailure.js"
import { refused } from "./CommandFailure.js"
import { say } from "./CommandOutput.js"

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "there is a file of this name",
  EISDIR: "it is a folder",
  EACCES: "you are not allowed to write there",
  EPERM: "you are not allowed to write there",
  EROFS: "nothing can be written there",
  ENOSPC: "no space is left there"
}

const whyOf = (error: unknown): string => {
  const { cause = error } = error as Error
  const { code = "", message } = cause as NodeJS.ErrnoException
  return WHY[code] ?? message
}

const failed = (path: string) => (error: unknown): Failure => refused(`Cannot write to ${path}: ${whyOf(error)}`)

/** Turns an error of the effect into a failure that names the path. */
export const written = <A, R>(
  path: string,
  effect: Effect.Effect<A, Error, R>
): Effect.Effect<A, Failure, R> => Effect.mapError(effect, failed(path))

/** Makes the folder and the folders above it, if they are missing. Fails when the command cannot write to the folder. */
export const folder = (path: string): Effect.Effect<void, Failure, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    written(
      path,
      Effect.zipRight(files.makeDirectory(path, { recursive: true }), files.access(path, { writable: true }))
    ))

/** Fails when no file can be written at the path. Does not make the file. */
export const writable = (path: string): Effect.Effect<void, Failure, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    written(
      path,
      Effect.flatMap(files.exists(path), (exists) => files.access(exists ? path : dirname(path), { writable: true }))
    ))

/**
 * Opens a file for writing, until the scope closes. Fails when the file cannot be opened. When a write fails later, the command continues,
 * and prints this once on standard error.
 */
export const file = (path: string, flags: "a" | "w"): Effect.Effect<WriteStream, Failure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<WriteStream, Failure>((resume) => {
      const stream = createWriteStream(path, { flags, mode: 0o600 })
      stream.once("error", (error) => resume(Effect.fail(failed(path)(error))))
      stream.once("open", () => {
        stream.on("error", (error) => say(process.stderr, failed(path)(error).message))
        resume(Effect.succeed(stream))
      })
    }),
    (stream) =>
      Effect.async<void>((resume) =>
        stream.destroyed ? resume(Effect.void) : void stream.end(() => resume(Effect.void))
      )
  )
