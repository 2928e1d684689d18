/**
 * A TCP proxy whose connections may stall: they stay open, and nothing passes them any more, also later. Or it cuts them, and each
 * new one.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export const make = (target: number) =>
  Effect.acquireRelease(
    Effect.async<
      {
        readonly port: number
        readonly stall: () => void
        readonly cut: () => void
        readonly forward: () => void
        close: () => void
      }
    >(
      (resume) => {
        const open = new Set<Socket>()
        let isStalled = false
        let isCut = false
        const add = (socket: Socket) => {
          open.add(socket)
          socket.on("error", () => {}).once("close", () => open.delete(socket))
        }
        const server = createServer((near) => {
          add(near)
          if (isCut) near.destroy()
          if (isStalled || isCut) return
          const far = connect(target, "127.0.0.1")
          add(far)
          near.pipe(far)
          far.pipe(near)
          near.once("close", () => far.destroy())
          far.once("close", () => near.destroy())
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as { readonly port: number }
          resume(Effect.succeed({
            port,
            stall: () => {
              isStalled = true
              for (const socket of open) socket.unpipe().pause()
            },
            cut: () => {
              isCut = true
              for (const socket of open) socket.destroy()
            },
            /** What has stalled stays so; new connections are forwarded. */
            forward: () => {
              isStalled = false
              isCut = false
            },
            close: () => {
              server.close()
              for (const socket of open) socket.destroy()
            }
          }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )
