/**
 * Opens the sockets of the PostgreSQL client that `PgNodes` makes. Destroys a socket on which no data has come or gone for too long. The
 * reason is that the driver itself would wait for ever for the answer of a database that has stopped. Sockets that no statement uses are
 * not affected, because the driver closes unused connections earlier.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Socket } from "node:net"

interface Silence {
  bytes: number
  since: number
}

export interface Sockets {
  readonly open: () => Socket
  readonly destroyAll: Effect.Effect<void>
}

/** How often this module checks the sockets, in milliseconds. */
const LOOK = 250

/** Makes a `Sockets`. `limit` is how long a socket may be silent, in milliseconds. All sockets are destroyed when the scope closes. */
export const make = (limit: number): Effect.Effect<Sockets, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Map<Socket, Silence>()
    const destroyAll = Effect.sync(() => sockets.forEach((_, socket) => socket.destroy()))
    yield* Effect.addFinalizer(() => destroyAll)
    const look = Effect.map(Clock.currentTimeNanos, (nanos) => {
      const now = Number(nanos / 1_000_000n)
      for (const [socket, silence] of sockets) {
        // These numbers count the bytes of the TCP connection, so the check also works with TLS.
        const bytes = socket.bytesRead + socket.bytesWritten
        if (bytes !== silence.bytes) Object.assign(silence, { bytes, since: now })
        else if (now - silence.since > limit) {
          socket.destroy(new Error(`PostgreSQL has not answered within ${limit} ms`))
        }
      }
      return now
    })
    let now = yield* look
    yield* Effect.forkScoped(Effect.repeat(Effect.map(look, (at) => now = at), Schedule.spaced(LOOK)))
    return {
      destroyAll,
      open: () => {
        const socket = new Socket()
        sockets.set(socket, { bytes: 0, since: now })
        socket.once("close", () => sockets.delete(socket))
        return socket
      }
    }
  })
