/**
 * Reads a configuration file, for `ConfiguredServers`. Somebody else may have written the file, so this module reads only regular files,
 * and only up to a limit of bytes. Therefore a pipe or a device at the path cannot block the program or fill its memory.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { Buffer } from "node:buffer"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"

/** How many bytes a file of the user may have. The limit is high, because some hosts also store other data in this file. */
export const MAX_BYTES = 32 * 1024 * 1024

/** How many bytes a file from a folder may have. Somebody else may have written such a file. */
export const MAX_FOREIGN_BYTES = 1024 * 1024

export class Unreadable extends Data.TaggedError("Unreadable")<{
  /** Whether there is no file at this path. */
  readonly isAbsent: boolean
  readonly reason: string
}> {}

const unreadable = (cause: unknown): Unreadable => {
  const code = Predicate.isRecord(cause) ? String(cause["code"]) : "the system does not say why"
  return new Unreadable({
    isAbsent: code === "ENOENT" || code === "ENOTDIR",
    reason: code === "ENOENT" ? "there is no such file" : `the file cannot be opened: ${code}`
  })
}

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, Unreadable> =>
  Effect.tryPromise({ try: work, catch: unreadable })

const refuse = (reason: string): Effect.Effect<never, Unreadable> =>
  Effect.fail(new Unreadable({ isAbsent: false, reason }))

/** Returns the text of a file. Fails when the file is not a regular file or has more than `maxBytes` bytes. */
export const read = (path: string, maxBytes: number): Effect.Effect<string, Unreadable> =>
  Effect.acquireUseRelease(
    // Without `O_NONBLOCK`, opening a pipe that has no writer would wait. Windows does not have this flag.
    attempt(() => open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))),
    (file) =>
      Effect.flatMap(
        attempt(() => file.stat()),
        (stat) => stat.isFile() ? whole(file, maxBytes) : refuse("it is not a regular file")
      ),
    (file) => Effect.promise(() => file.close().catch(() => {}))
  )

/** Reads a whole file in pieces, because some files report no size and a file may grow. */
const whole = (file: FileHandle, maxBytes: number): Effect.Effect<string, Unreadable> => {
  const next = (parts: ReadonlyArray<Buffer>, size: number): Effect.Effect<string, Unreadable> =>
    Effect.flatMap(
      attempt(() => file.read(Buffer.allocUnsafe(64 * 1024))),
      ({ buffer, bytesRead }) =>
        bytesRead === 0
          ? Effect.succeed(Buffer.concat(parts).toString("utf8"))
          : size + bytesRead > maxBytes
          ? refuse(`it has more than ${maxBytes} bytes`)
          : Effect.suspend(() => next([...parts, buffer.subarray(0, bytesRead)], size + bytesRead))
    )
  return next([], 0)
}
