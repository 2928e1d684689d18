/**
 * Runs Debian's PostgreSQL as a process, with its data in its own folder. PostgreSQL refuses to run as root. So when this program runs as
 * root, PostgreSQL runs as the user `postgres`, which Debian's package creates.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import * as Child from "./Child.js"
import * as Install from "./Install.js"
import * as Place from "./Place.js"
import * as Restartable from "./Restartable.js"

export interface Postgres {
  /** The address of an empty database. */
  readonly url: string
  /** Ends all processes of PostgreSQL at once, and starts PostgreSQL again with the data on its disk. */
  readonly restart: Effect.Effect<void, Child.ProcessError>
}

const ROOT = "/usr/lib/postgresql"

/** Gives the folder with the programs of the newest installed version. */
const programs: Effect.Effect<string, Child.ProcessError> = Effect.suspend(() => {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(ROOT, version, "bin")).find((bin) => existsSync(join(bin, "initdb")))
  return found === undefined
    ? new Child.ProcessError({
      message: `There is no PostgreSQL in ${ROOT}: install it (Debian: apt install postgresql)`
    })
    : Effect.succeed(found)
})

/** Gives the folder with the programs, and installs them if they are missing. A machine may have only the programs of the client. */
export const install: Effect.Effect<string, Child.ProcessError> = Effect.catchAll(
  programs,
  () => Effect.zipRight(Install.provide("pg_lsclusters", "postgresql", "--help"), programs)
)

const isRoot = process.getuid?.() === 0

/** Returns the command line that runs a command as the user of PostgreSQL. */
const asUser = (...command: ReadonlyArray<string>): readonly [string, Array<string>] =>
  isRoot
    ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--init-groups", "--", ...command]]
    : [command[0]!, command.slice(1)]

const run = (command: string, args: ReadonlyArray<string>): Effect.Effect<void, Child.ProcessError> =>
  Effect.async((resume) => {
    execFile(command, args, { cwd: "/" }, (error) =>
      resume(
        error === null ? Effect.void : new Child.ProcessError({ message: error.message })
      ))
  })

/**
 * The script that runs the server. The server ends at once after SIGTERM, and when the input of the script ends, because then this program
 * has ended. The log of the server goes to standard output.
 */
const SCRIPT = `
  exec 3<&0
  "$@" 3<&- 2>&1 & server=$!
  trap 'kill -QUIT $server' TERM
  { cat <&3; kill -QUIT $server; } >/dev/null 2>&1 &
  wait $server
  wait $server`

/** Starts a server. Stored data survive the end of the server's processes, but may be lost when the machine goes down. */
export const start: Effect.Effect<Postgres, Child.ProcessError, Scope.Scope> = Effect.gen(function*() {
  const bin = yield* install
  const folder = yield* Place.folder("postgres")
  const port = yield* Place.freePort
  const data = join(folder, "data")
  if (isRoot) yield* run("chown", ["postgres", folder])
  yield* run(...asUser(
    join(bin, "initdb"),
    ...["-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
  ))
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "fsync=off", "jit=off"]
  const server = [join(bin, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])]
  const [command, args] = asUser("sh", "-c", SCRIPT, "sh", ...server)
  const { exit, restart, signal } = yield* Restartable.make(Child.start({
    command,
    args,
    isReady: (line) => line.includes("database system is ready to accept connections"),
    lastSignal: "SIGTERM"
  }))
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: Effect.zipRight(Effect.zipRight(signal("SIGTERM"), exit), restart)
  }
})
