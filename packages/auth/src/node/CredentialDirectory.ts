/**
 * Keeps the registrations and the tokens of a client in a directory that only the user can read. Each record is a file that
 * is replaced as a whole, so that several processes can use the directory at once. One process refreshes a token; the others
 * read the token that it has stored.
 *
 * @since 0.1.0
 */
import { SystemError } from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as CredentialStore from "../CredentialStore.js"
import * as LockFile from "./credentials/LockFile.js"

/**
 * A store in a directory, which is created with mode 0700; its files have mode 0600. On Windows the files have the permissions
 * of the directory above. The secrets in the files are not encrypted.
 *
 * @category layers
 */
export const layer = (directory: string): Layer.Layer<CredentialStore.CredentialStore> =>
  Layer.succeed(CredentialStore.CredentialStore, CredentialStore.make(make(directory), exclusive(directory)))

/** Where no lock can be created, no token can be stored either, and the effect runs without a lock. */
const exclusive = (directory: string): CredentialStore.Exclusive => (name, effect) =>
  Effect.scoped(Effect.zipRight(
    Effect.catchAll(
      LockFile.hold(join(directory, `${name}.lock`)),
      (cause) => Effect.logDebug(`Cannot create a lock in the directory of credentials ${directory}`, cause)
    ),
    effect
  ))

const make = (directory: string): KeyValueStore.KeyValueStore => {
  const pathOf = (key: string) => join(directory, `${encodeURIComponent(key)}.json`)
  const files = attempt("readDirectory", directory, () => fs.readdir(directory).catch(orElse<Array<string>>([]))).pipe(
    Effect.map((names) => names.filter((name) => name.endsWith(".json")))
  )
  return KeyValueStore.makeStringOnly({
    get: (key) =>
      attempt(
        "readFile",
        pathOf(key),
        () => fs.readFile(pathOf(key), "utf8").then((text) => Option.some(text)).catch(orElse(Option.none<string>()))
      ),
    set: (key, value) =>
      attempt("writeFile", pathOf(key), () => {
        const temporary = join(directory, `.${randomUUID()}`)
        return fs.mkdir(directory, { recursive: true, mode: 0o700 })
          // Only a new file: a file that another user may have put there is never opened.
          .then(() => fs.writeFile(temporary, value, { mode: 0o600, flag: "wx" }))
          .then(() => fs.rename(temporary, pathOf(key)))
          .catch((cause) => fs.rm(temporary, { force: true }).then(() => Promise.reject(cause)))
      }),
    remove: (key) => attempt("remove", pathOf(key), () => fs.rm(pathOf(key), { force: true })),
    clear: Effect.flatMap(
      files,
      (names) =>
        attempt(
          "remove",
          directory,
          () => Promise.all(names.map((name) => fs.rm(join(directory, name), { force: true }))).then(() => undefined)
        )
    ),
    size: Effect.map(files, (names) => names.length)
  })
}

const orElse = <A>(value: A) => (cause: NodeJS.ErrnoException): A | Promise<never> =>
  cause.code === "ENOENT" ? value : Promise.reject(cause)

const attempt = <A>(method: string, path: string, run: () => Promise<A>): Effect.Effect<A, SystemError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new SystemError({
        reason: "Unknown",
        module: "KeyValueStore",
        method,
        pathOrDescriptor: path,
        description: (cause as NodeJS.ErrnoException).code ?? "failed",
        cause
      })
  })
