/**
 * A proxy between the clients of a test and a Redis, which sees what clients send: it passes that on, keeps it back, or cuts the
 * connection. Or its connections stall: they stay open, and nothing passes them any more; later ones are not affected.
 */
import { Effect } from "effect"
import { connect, createServer } from "node:net"

export interface Sent {
  readonly text: string
  readonly pass: (instead?: string) => void
  readonly cut: () => void
}

/** Calls `onSent` with each piece that a client sends, until the scope closes. */
export const make = (url: string, onSent: (sent: Sent) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<
        {
          readonly url: string
          readonly close: () => void
          readonly cut: () => void
          readonly stall: () => void
        }
      >((resume) => {
        const { hostname, port } = new URL(url)
        const cuts = new Set<() => void>()
        const stalls = new Set<() => void>()
        const cutAll = () => cuts.forEach((cut) => cut())
        const server = createServer((client) => {
          const redis = connect(Number(port), hostname)
          const cut = () => {
            cuts.delete(cut)
            stalls.delete(stall)
            client.destroy()
            redis.destroy()
          }
          const stall = () => {
            client.removeAllListeners("data").pause()
            redis.unpipe().pause()
          }
          cuts.add(cut)
          stalls.add(stall)
          for (const socket of [client, redis]) socket.on("error", cut).on("close", cut)
          redis.pipe(client)
          client.on("data", (chunk) =>
            onSent({ text: String(chunk), pass: (instead) => void redis.write(instead ?? chunk), cut }))
        })
        server.listen(0, "127.0.0.1", () => {
          const own = server.address() as { readonly port: number }
          const stall = () =>
            stalls.forEach((stall) => stall())
          const close = () => {
            cutAll()
            server.close()
          }
          resume(Effect.succeed({ url: `redis://127.0.0.1:${own.port}`, close, cut: cutAll, stall }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ cut, stall, url }) => ({ url, cut: Effect.sync(cut), stall: Effect.sync(stall) })
  )
