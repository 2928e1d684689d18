/**
 * A Redis server for the benchmarks, on a free port, with its data in a folder of its own. The program is Debian's `redis-server`, which
 * must be installed.
 */
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Redis {
  readonly url: string
  readonly command: RedisConnection.RedisConnectionService["command"]
  /** Processor time since its start, in microseconds. */
  readonly used: Effect.Effect<number>
}

/** A free port below the ports that Linux gives to programs that ask for any port: no other program takes it meanwhile. */
const freePort = Effect.async<number, Error>((resume) => {
  const port = randomInt(10_000, 32_000)
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.retry({ times: 100 }), Effect.orDie)

const start = (port: number, folder: string) =>
  Effect.async<ReturnType<typeof spawn>, Error>((resume) => {
    const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes"]
    const child = spawn("redis-server", options, { stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.on("data", (chunk) => {
      text += String(chunk)
      if (text.includes("Ready to accept connections")) resume(Effect.succeed(child))
    })
    child.once(
      "error",
      (error) =>
        resume(
          Effect.fail(
            new Error("Cannot start redis-server: install it (Debian: apt install redis-server)", { cause: error })
          )
        )
    )
    child.once("exit", (code) => resume(Effect.fail(new Error(`redis-server has ended with ${code}: ${text}`))))
    process.once("exit", () => child.kill("SIGKILL"))
  })

/** Starts a server, which ends with the scope. */
export const make = Effect.gen(function*() {
  const port = yield* freePort
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-redis-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const ended = (child: ReturnType<typeof spawn>) =>
    Effect.async<void>((resume) => {
      if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
      child.once("exit", () => resume(Effect.void))
      child.kill("SIGKILL")
    })
  yield* Effect.acquireRelease(start(port, folder), ended)
  const url = `redis://127.0.0.1:${port}`
  const { command } = yield* RedisConnection.make({ url, prefix: "" })
  const used = Effect.map(Effect.orDie(command("INFO", "cpu")), (info) => {
    const seconds = [...String(info).matchAll(/^used_cpu_(?:sys|user):([0-9.]+)/gm)].map(([, value]) => Number(value))
    return 1_000_000 * seconds.reduce((all, one) => all + one, 0)
  })
  return { url, command, used } satisfies Redis
})
