/**
 * Stores the registrations and the tokens of a client in a directory that only the user can read. Each record is a file. A change replaces
 * the whole file, so that several processes can use the directory at the same time. Only one process refreshes a token, and the other
 * processes then read the stored token.
 *
 * @since 0.1.0
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as CredentialStore from "../CredentialStore.js"
import * as DirectoryError from "../identity/DirectoryError.js"
import * as TextStore from "../stored/TextStore.js"
import * as LockFile from "./credentials/LockFile.js"
import * as Permissions from "./credentials/Permissions.js"

/** @category models */
export interface Options {
  /**
   * Whether the store also accepts a directory or files that other users of the machine can read, write or own. Use `true` for a directory
   * that a container mounts and whose modes cannot be changed. Default: false.
   */
  readonly allowOthers?: boolean | undefined
}

/**
 * Provides a `CredentialStore` in a directory. The layer creates the directory with mode 0700 and its files with mode 0600. When another
 * user can read or write the directory or a record, or owns one of them, each operation fails with reason `Store`. On Windows the layer
 * does not check this, and the files inherit the permissions of the parent directory. The secrets in the files are not encrypted.
 *
 * @category layers
 */
export const layer = (
  directory: string,
  { allowOthers = false }: Options = {}
): Layer.Layer<CredentialStore.CredentialStore> => {
  const { bindings, exclusive, registrations, tokens } = CredentialStore.make(make(directory), locked(directory))
  const check = allowOthers ? Effect.void : Permissions.check(directory)
  const checked = <A>({ get, set }: CredentialStore.Records<A>): CredentialStore.Records<A> => ({
    get: (...key) => Effect.zipRight(check, get(...key)),
    set: (value, ...key) => Effect.zipRight(check, set(value, ...key))
  })
  return Layer.succeed(CredentialStore.CredentialStore, {
    registrations: checked(registrations),
    tokens: checked(tokens),
    bindings: checked(bindings),
    exclusive: (effect, ...key) => Effect.zipRight(check, exclusive(effect, ...key))
  })
}

/**
 * Runs an effect with a lock file. If the lock file cannot be created, the effect runs without a lock. In this case no token can be stored
 * in the directory either.
 */
const locked = (directory: string): CredentialStore.Exclusive => (name, effect) =>
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
  return TextStore.make({
    get: (key) =>
      attempt(
        "readFile",
        pathOf(key),
        () => fs.readFile(pathOf(key), "utf8").catch(orElse<string | undefined>(undefined))
      ),
    set: (key, value) =>
      attempt("writeFile", pathOf(key), () => {
        const temporary = join(directory, `.${randomUUID()}`)
        return fs.mkdir(directory, { recursive: true, mode: 0o700 })
          // `wx` creates a new file, and never opens a file that another user may have put there.
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
    keys: Effect.map(files, (names) => names.map((name) => decodeURIComponent(name.slice(0, -".json".length))))
  })
}

const orElse = <A>(value: A) => (cause: NodeJS.ErrnoException): A | Promise<never> =>
  cause.code === "ENOENT" ? value : Promise.reject(cause)

const attempt = <A>(
  method: string,
  path: string,
  run: () => Promise<A>
): Effect.Effect<A, DirectoryError.DirectoryError> =>
  Effect.tryPromise({ try: run, catch: (cause) => DirectoryError.make(method, path, cause) })
