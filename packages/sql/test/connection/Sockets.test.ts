import { assert, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { createServer, type Socket } from "node:net"
import * as Sockets from "../../src/connection/Sockets.js"

it.scoped("a socket lasts while bytes come or go, and ends when none have for longer than the limit", () =>
  Effect.gen(function*() {
    const [peer, port] = yield* Effect.acquireRelease(
      Effect.async<readonly [Promise<Socket>, number, () => void]>((resume) => {
        let accept: (socket: Socket) => void
        const peer = new Promise<Socket>((resolve) => {
          accept = resolve
        })
        const server = createServer((socket) => accept(socket))
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed([peer, port, () => server.close()]))
        })
      }),
      ([, , close]) => Effect.sync(close)
    )
    const socket = (yield* Sockets.make(1000)).open()
    let error: unknown
    socket.on("error", (cause) => {
      error = cause
    })
    socket.connect(port, "127.0.0.1")
    const other = yield* Effect.promise(() => peer)
    for (let n = 1; n <= 4; n++) {
      yield* Effect.async<void>((resume) => {
        socket.once("data", () => resume(Effect.void))
        other.write("x")
      })
      yield* TestClock.adjust("750 millis")
      assert.isFalse(socket.destroyed, `after message ${n}`)
    }
    yield* TestClock.adjust("1 second")
    assert.isTrue(socket.destroyed)
    yield* Effect.async<void>((resume) => {
      if (socket.closed) resume(Effect.void)
      else socket.once("close", () => resume(Effect.void))
    })
    assert.include(String(error), "PostgreSQL has not answered within 1000 ms")
  }))
