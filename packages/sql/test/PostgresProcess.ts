/**
 * A PostgreSQL server for tests: Debian's, with its data in a folder of its own. `install` provides it. PostgreSQL refuses to run
 * as root; then it runs as the user `postgres`.
 *
 * The shell that starts it reads its input, which ends with this process, and ends the server then.
 */
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Engine } from "../../node/test/Engine.js"

export interface PostgresProcess {
  /** The address of a database that is there: `postgres`. */
  readonly url: string
  /** The address of a database, which need not be there. */
  readonly urlOf: (database: string) => string
  /** Ends all processes at once, and starts again with the data that is stored. */
  readonly restart: Effect.Effect<void>
  /** Ends all processes at once: "immediate shutdown". */
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Stops the server and all its connections, which stay open. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

export interface Options {
  /** Whether what is stored survives the end of the machine. It is slow. Default: false. */
  readonly durable?: boolean
  /** Settings of the server, as its command line has them: `max_connections=10`. */
  readonly settings?: ReadonlyArray<string>
  /** What `template` has given. By default the server makes its own empty database, which takes a second of a processor. */
  readonly template?: string
}

const isRoot = process.getuid?.() === 0

/** The folder with the programs: `PG_BIN` names it, or it is that of the newest version of Debian's. */
const programs = (): string | undefined => {
  const root = "/usr/lib/postgresql"
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = process.env.PG_BIN === undefined
    ? versions.map((version) => join(root, version, "bin"))
    : [process.env.PG_BIN]
  return folders.find((folder) => existsSync(join(folder, "initdb")))
}

export const engine: Engine = {
  name: "PostgreSQL",
  isThere: () => process.platform === "linux" && programs() !== undefined,
  debian: "postgresql",
  macos: "these tests stop processes as Linux does; run them in a container",
  tests: "those tests of the packages sql and workflow that need PostgreSQL"
}

const program = (name: string) => join(programs()!, name)

/** A command as the user that PostgreSQL runs as. */
const asUser = (command: string, args: ReadonlyArray<string>): readonly [string, ReadonlyArray<string>] =>
  isRoot ? ["runuser", ["-u", "postgres", "--", command, ...args]] : [command, args]

/** The ports that were given: one is free until its server listens, and while its server restarts. */
const given = new Set<number>()

/** Below the ports that Linux gives to connections, so that none takes it while a server restarts. */
const freePort: Effect.Effect<number> = Effect.async<number, Error>((resume) => {
  const port = randomInt(10_000, 32_000)
  if (given.has(port)) return resume(Effect.fail(new Error(`The port ${port} was given before`)))
  given.add(port)
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.retry({ times: 100 }), Effect.orDie)

/** Other tests of this process go on meanwhile: their time limits do not stand still. */
const run = (command: string, args: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.async((resume) => {
    execFile(command, args, (error) => resume(error === null ? Effect.void : Effect.die(error)))
  })

/** A folder with an empty database: a copy of `template`, which costs a tenth of a new one. */
const create = (template?: string): Effect.Effect<string> =>
  Effect.gen(function*() {
    const folder = mkdtempSync(join(tmpdir(), "postgres-"))
    if (isRoot) yield* run("chown", ["postgres", folder])
    const data = join(folder, "data")
    yield* run(
      ...template === undefined
        ? asUser(program("initdb"), [
          ...["-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"],
          ...["--wal-segsize=1", "--no-sync", "--no-instructions"]
        ])
        : asUser("cp", ["-a", template, data])
    )
    return folder
  })

/** A folder with an empty database, which no server uses, until the scope closes. */
export const template = Effect.map(
  Effect.acquireRelease(
    create(),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "data")
)

const script = `
  exec 3<&0
  "$@" 3<&- & server=$!
  { cat <&3; pkill -CONT -P $server; kill -CONT $server; kill -QUIT $server; } >/dev/null 2>&1 &
  wait $server`

const launch = (port: number, folder: string, { durable = false, settings = [] }: Options) =>
  Effect.async<ReturnType<typeof spawn>>((resume) => {
    const all = [
      ...["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "shared_buffers=32MB", "jit=off"],
      ...(durable ? [] : ["fsync=off", "full_page_writes=off"]),
      ...settings
    ]
    const server = [program("postgres"), "-D", join(folder, "data"), ...all.flatMap((setting) => ["-c", setting])]
    const [command, args] = asUser("sh", ["-c", script, "sh", ...server])
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "pipe"], cwd: folder })
    let text = ""
    child.stderr.on("data", (chunk) => {
      text = (text + String(chunk)).slice(-10_000)
      if (text.includes("database system is ready to accept connections")) resume(Effect.succeed(child))
    })
    child.once("exit", (code) => {
      child.stdin.destroy()
      resume(Effect.die(new Error(`postgres ended with ${code}: ${text}`)))
    })
  })

/** The ids of the server and of its processes, one for each connection. */
const processes = (folder: string): ReadonlyArray<number> => {
  const server = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0])
  const children = readFileSync(`/proc/${server}/task/${server}/children`, "utf8").split(" ").filter(Boolean)
  return [server, ...children.map(Number)]
}

/** A process of a connection may have ended since its id was read. */
const send = (id: number, name: NodeJS.Signals): void => {
  try {
    process.kill(id, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}

/** Starts a server, which ends with the scope. */
export const make = (options: Options = {}) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const folder = yield* Effect.acquireRelease(
      create(options.template),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    let child: ReturnType<typeof spawn> | undefined
    // Twice: a connection may begin while the others get the signal. One that has ended meanwhile gets none.
    const signal = (name: NodeJS.Signals) =>
      Effect.sync(() => {
        for (const id of [...processes(folder), ...processes(folder)]) send(id, name)
      })
    const start = Effect.map(launch(port, folder, options), (started) => {
      child = started
    })
    const stop = Effect.suspend(() => {
      const running = child
      if (running === undefined) return Effect.void
      child = undefined
      return Effect.async<void>((resume) => {
        if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
        running.once("exit", () => resume(Effect.void))
        running.stdin!.end()
      })
    })
    yield* Effect.addFinalizer(() => stop)
    yield* start
    const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
    return {
      url: urlOf("postgres"),
      urlOf,
      start,
      stop,
      restart: Effect.zipRight(stop, start),
      pause: signal("SIGSTOP"),
      resume: signal("SIGCONT")
    } satisfies PostgresProcess
  })
