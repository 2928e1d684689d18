/**
 * A lock between processes. The lock is a file that only one process can create. The holder of the lock writes to the file every 3 seconds.
 * When the disk is full, the holder sets the time of the file instead. When the text and the time of the file do not change for 15 seconds,
 * the holder must have ended, and a waiting process removes the file.
 *
 * The lock is not perfect: a process that the system has suspended may continue when another process already holds the lock.
 * `CredentialDirectory` refreshes tokens under this lock.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { dirname } from "node:path"

/**
 * `LOOK` is how often a waiting process reads the file, and `WRITE` is how often the holder of the lock writes to the file, in
 * milliseconds.
 */
const LOOK = 100
const WRITE = 3000

/** How many times a waiting process must find the same file before it removes the file. With `LOOK`, this takes 15 seconds. */
const MAX_SAME = 150

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Waits for the lock, and holds it until the scope closes. Fails when the file cannot be created. */
export const hold = (path: string): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const mark = randomUUID()
      const file = yield* create(path, mark, restore)
      yield* Effect.addFinalizer(() => Effect.ignore(attempt(() => release(file, path, mark))))
      yield* Effect.ignore(Effect.orElse(attempt(() => file.appendFile("+")), () => touch(file))).pipe(
        Effect.delay(WRITE),
        Effect.forever,
        Effect.interruptible,
        Effect.forkScoped
      )
    })
  )

const create = (path: string, mark: string, restore: Restore): Effect.Effect<fs.FileHandle, unknown> =>
  Effect.gen(function*() {
    yield* attempt(() => fs.mkdir(dirname(path), { recursive: true, mode: 0o700 }))
    let seen: string | undefined
    let same = 0
    while (true) {
      const file = yield* attempt(() => fs.open(path, "wx", 0o600).catch(otherwise("EEXIST")))
      if (file !== undefined) {
        yield* Effect.tapError(attempt(() => file.writeFile(mark)), () => discard(file, path))
        return file
      }
      const found = yield* look(path)
      same = found !== undefined && found === seen ? same + 1 : 0
      seen = found
      if (same >= MAX_SAME) yield* takeAway(path, seen)
      else yield* restore(Effect.sleep(LOOK))
    }
  })

/**
 * Removes a file that could be created but not written, as on a full disk. Otherwise other processes would wait for the removal of the
 * file.
 */
const discard = (file: fs.FileHandle, path: string): Effect.Effect<void> =>
  Effect.ignore(attempt(() => close(file).then(() => fs.rm(path, { force: true }))))

const touch = (file: fs.FileHandle): Effect.Effect<void, unknown> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => attempt(() => file.utimes(now / 1000, now / 1000)))

/** Returns the text that a waiting process compares: the text and the time of the file. Returns `undefined` when there is no file. */
const look = (path: string): Effect.Effect<string | undefined, unknown> =>
  attempt(() =>
    Promise.all([fs.readFile(path, "utf8"), fs.stat(path)]).then(
      ([text, { mtimeMs }]) => `${text} ${mtimeMs}`,
      otherwise("ENOENT")
    )
  )

/** Removes the file only if it is still the file `seen`. Another process may have removed that file and created a new file. */
const takeAway = (path: string, seen: string | undefined): Effect.Effect<void, unknown> => {
  const aside = `${path}.${randomUUID()}`
  return attempt(() => fs.rename(path, aside).then(() => true, otherwise("ENOENT"))).pipe(
    Effect.zipRight(look(aside)),
    Effect.flatMap((found) => found === seen ? Effect.void : Effect.ignore(attempt(() => fs.link(aside, path)))),
    Effect.ensuring(Effect.ignore(attempt(() => fs.rm(aside, { force: true }))))
  )
}

const release = (file: fs.FileHandle, path: string, mark: string): Promise<void> =>
  close(file).then(() => fs.readFile(path, "utf8")).then((text) =>
    text.startsWith(mark) ? fs.rm(path, { force: true }) : undefined
  )

const close = (file: fs.FileHandle): Promise<void> => file.close().catch(() => undefined)

const otherwise = (code: string) => (cause: NodeJS.ErrnoException): undefined | Promise<never> =>
  cause.code === code ? undefined : Promise.reject(cause)

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: run, catch: (cause) => cause })
