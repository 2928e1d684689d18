/**
 * A Redis server for tests: Debian's `redis-server`, with its data in a folder of its own. `install` provides it, and starts the one
 * that most tests share.
 */
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Engine } from "../../node/test/Engine.js"

const isThere = (): boolean => {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

export const engine: Engine = {
  name: "redis-server",
  isThere,
  debian: "redis-server",
  macos: "brew install redis",
  tests: "the tests of the package redis"
}

/** The ports that were given: one is free until its server listens, and while its server restarts. */
const given = new Set<number>()

/** Below the ports that Linux gives to connections, so that none takes it while a server restarts. */
export const freePort: Effect.Effect<number> = Effect.async<number, Error>((resume) => {
  const port = randomInt(10_000, 32_000)
  if (given.has(port)) return resume(Effect.fail(new Error(`The port ${port} was given before`)))
  given.add(port)
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.retry({ times: 100 }), Effect.orDie)

export interface RedisProcess {
  readonly url: string
  /** Kills the process, and starts it again with the data that it has stored. */
  readonly restart: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

/** The line of the settings in docs/platform/07-redis-and-postgresql.md that gives the nodes a user. */
const [line, name, password] = /^user (mcp) on >(\S+) .*$/m.exec(
  readFileSync(new URL("../../../docs/platform/07-redis-and-postgresql.md", import.meta.url), "utf8")
)!

/** The same place, for the user that the documentation gives the nodes. */
export const asDocumented = (url: string): string => url.replace("//", `//${name}:${password}@`)

const start = (port: number, folder: string, options: ReadonlyArray<string>) =>
  Effect.async<ReturnType<typeof spawn>>((resume) => {
    const child = spawn(
      "redis-server",
      [
        "--port",
        `${port}`,
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        ...options,
        ...`--${line}`.split(" ")
      ],
      { stdio: ["ignore", "pipe", "inherit"] }
    )
    let text = ""
    child.stdout.on("data", (chunk) => {
      text += String(chunk)
      if (text.includes("Ready to accept connections")) resume(Effect.succeed(child))
    })
    child.once("exit", (code) => resume(Effect.die(new Error(`redis-server ended with ${code}: ${text}`))))
  })

const kill = (child: ReturnType<typeof spawn>) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** Starts a server, which ends with the scope. */
export const make = (options: ReadonlyArray<string> = ["--appendonly", "yes", "--appendfsync", "always"]) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    let child = yield* start(port, folder, options)
    yield* Effect.addFinalizer(() => Effect.suspend(() => kill(child)))
    const signal = (name: NodeJS.Signals) => Effect.sync(() => void child.kill(name))
    const stop = Effect.suspend(() => kill(child))
    const again = Effect.map(start(port, folder, options), (started) => {
      child = started
    })
    return {
      url: `redis://127.0.0.1:${port}`,
      restart: Effect.zipRight(stop, again),
      stop,
      start: again,
      pause: signal("SIGSTOP"),
      resume: signal("SIGCONT")
    } satisfies RedisProcess
  })
