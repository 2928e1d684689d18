/**
 * Checks whether other users of the machine can read or change the credentials in a folder. `CredentialDirectory` calls this check before
 * it uses the folder. On Windows nothing is checked, because Windows has no file modes. Parent folders are not checked. For a link, the
 * target of the link is checked.
 */
import * as Effect from "effect/Effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import type { AuthorizationError } from "../../AuthorizationError.js"
import { failure } from "../../discovery/Failure.js"

/** The bits of a mode that give permissions to the group and to all other users. */
const OTHERS = 0o077

/** Fails when another user can read or write the folder or one of its records, or owns one of these. A missing folder passes the check. */
export const check = (directory: string): Effect.Effect<void, AuthorizationError> =>
  Effect.gen(function*() {
    const user = process.getuid?.()
    if (user === undefined) return
    const names = yield* attempt(directory, () => fs.readdir(directory).catch(otherwise("ENOENT", "ENOTDIR")))
    if (names === undefined) return
    const records = names.filter((name) => name.endsWith(".json"))
    for (const path of [directory, ...records.map((name) => join(directory, name))]) {
      const found = yield* attempt(directory, () => fs.stat(path).catch(otherwise("ENOENT")))
      if (found === undefined) continue
      const kind = path === directory ? "folder" : "file"
      if (found.uid !== user) {
        return yield* refused(kind, path, `belongs to user ${found.uid}, and this program runs as user ${user}`, OWNER)
      }
      const mode = found.mode & 0o777
      if ((mode & OTHERS) !== 0) {
        const right = path === directory ? "700" : "600"
        return yield* refused(kind, path, `has mode 0${mode.toString(8)}`, `Run: chmod ${right} ${path}`)
      }
    }
  })

const OWNER = "Use a folder that belongs to the user of the program"

const refused = (kind: string, path: string, why: string, advice: string) =>
  failure(
    "Store",
    `The ${kind} of credentials ${path} ${why}, so other users can read or change the credentials. ${advice}. If that is not ` +
      "possible, for example in a folder that a container mounts, `allowOthers` of `CredentialDirectory.layer` allows it, " +
      "`--allow-others` at the command line"
  )

const otherwise = (...codes: ReadonlyArray<string>) => (cause: NodeJS.ErrnoException): undefined | Promise<never> =>
  codes.includes(cause.code ?? "") ? undefined : Promise.reject(cause)

const attempt = <A>(directory: string, run: () => Promise<A>): Effect.Effect<A, AuthorizationError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      failure("Store", `The folder of credentials ${directory} could not be read: see the cause`, { cause })
  })
