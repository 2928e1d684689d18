/**
 * Reads a file that somebody else may have put there, for `ConfiguredServers`: only a regular file, and no more of it than a limit. A
 * pipe or a device in the place of a file neither blocks nor fills the memory.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { Buffer } from "node:buffer"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"

/** The most bytes of a file of the user: in some files hosts keep more than servers. */
export const MAX_BYTES = 32 * 1024 * 1024

/** The most bytes of a file that somebody else may have put there. */
export const MAX_FOREIGN_BYTES = 1024 * 1024

export class Unreadable extends Data.TaggedError("Unreadable")<{
  /** Whether there is nothing at the place. */
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

/** The text of a file. */
export const read = (path: string, maxBytes: number): Effect.Effect<string, Unreadable> =>
  Effect.acquireUseRelease(
    // A pipe without a writer would keep its reader waiting. Windows has no such flag.
    attempt(() => open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))),
    (file) =>
      Effect.flatMap(
        attempt(() => file.stat()),
        (stat) => stat.isFile() ? whole(file, maxBytes) : refuse("it is not a regular file")
      ),
    (file) => Effect.promise(() => file.close().catch(() => {}))
  )

/** Some files tell no size, and a file may grow. */
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
