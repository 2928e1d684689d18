/**
 * Makes the place in which a process runs: a folder for its files, and a port at which no other program listens. Only this machine can
 * reach the port.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes a new folder. The folder is removed when the scope closes, and also when this program ends first. */
export const folder = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const folder = mkdtempSync(join(tmpdir(), `${name}-`))
        const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
        process.once("exit", remove)
        return { folder, remove }
      }),
      ({ remove }) =>
        Effect.sync(() => {
          process.off("exit", remove)
          remove()
        })
    ),
    ({ folder }) => folder
  )

/**
 * The range of the ports. Linux gives clients ports of 32768 and higher, and such a client could take the port of a server that restarts.
 */
const PORTS = [10_000, 32_000] as const

/** The ports that were already given to a server. Such a port looks free until its server listens, and while its server restarts. */
const given = new Set<number>()

/** Gives a port at which no program listens at the moment. */
export const freePort: Effect.Effect<number> = Effect.async<number, Error>((resume) => {
  const port = randomInt(...PORTS)
  if (given.has(port)) return resume(Effect.fail(new Error(`The port ${port} was given before`)))
  given.add(port)
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.retry({ times: 100 }), Effect.orDie)
