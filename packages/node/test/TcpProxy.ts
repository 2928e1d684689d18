/**
 * A proxy to a server on this machine that can cut its connections.
 */
import { Effect, type Scope } from "effect"
import * as net from "node:net"

export interface TcpProxy {
  /** Without a path. */
  readonly url: string
  readonly cut: Effect.Effect<void>
}

/** `port` is a function where the server starts after the proxy. */
export const tcpProxy = (port: number | (() => number)): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<net.Socket>()
    const proxy = net.createServer((near) => {
      const far = net.connect(typeof port === "number" ? port : port(), "127.0.0.1")
      for (const [one, other] of [[near, far], [far, near]] as const) {
        sockets.add(one)
        one.on("error", () => {})
        one.on("close", () => {
          sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
    const cut = Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        proxy.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.zipRight(
          Effect.sync(() => proxy.close()),
          cut
        )
    )
    return { url: `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`, cut }
  })
