/**
 * Runs Debian's `redis-server` as a process, with its data in its own folder. The process can be killed, suspended, and started again with
 * the data on its disk.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Child from "./Child.js"
import * as Install from "./Install.js"
import * as Place from "./Place.js"
import * as Restartable from "./Restartable.js"

export interface Redis extends Restartable.Restartable {
  readonly url: string
}

/** With these settings every acknowledged write is on the disk, and Redis never drops a key because of missing memory. */
const SETTINGS = ["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]

/** Installs the program if it is missing. */
export const install: Effect.Effect<void, Child.ProcessError> = Install.provide(
  "redis-server",
  "redis-server",
  "--version"
)

/** Starts a server. `restart` kills the server and starts it again with the data on its disk. */
export const start: Effect.Effect<Redis, Child.ProcessError, Scope.Scope> = Effect.gen(function*() {
  yield* install
  const folder = yield* Place.folder("redis")
  const port = yield* Place.freePort
  const server = yield* Restartable.make(Child.start({
    command: "redis-server",
    args: ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, ...SETTINGS],
    isReady: (line) => line.includes("Ready to accept connections")
  }))
  return { ...server, url: `redis://127.0.0.1:${port}` }
})
