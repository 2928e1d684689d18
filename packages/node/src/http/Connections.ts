/**
 * The open connections of one HTTP server of Node, which `HttpServer` and `PlatformHttpServer` need to close their servers within a
 * deadline. Node's own `close` waits for every client: also for a client that sends nothing or never completes its request.
 *
 * This module keeps the last response of each connection: the connection may close when this response has been read. A request that comes
 * when the routes are closed already is refused here, because nothing else would answer; `NodeHandler` refuses in the same way.
 */
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Server as TlsServer } from "node:tls"

/** How long a connection may be open without a request when its server closes. */
const UNUSED = "200 millis"

export class Connections {
  private readonly sockets = new Set<Socket>()
  private readonly last = new Map<Socket, ServerResponse | undefined>()

  constructor(private readonly server: Server) {
    const add = (socket: Socket): void => {
      this.last.set(socket, undefined)
      socket.once("close", () => this.last.delete(socket))
    }
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket)
      socket.once("close", () => this.sockets.delete(socket))
      if (!(server instanceof TlsServer)) add(socket)
    })
    server.on("secureConnection", add)
    server.prependListener("request", ({ socket }, response) => {
      this.last.set(socket, response)
      // An application that has closed its routes before the server takes no request: nothing else would answer it.
      if (server.listenerCount("request") === 1) refuse(response)
    })
  }

  /**
   * Stops listening, runs `drain`, which ends what the requests have started, and waits until clients have read their
   * responses. A connection without a request stays open a little longer, because its first request may be under way. After
   * the timeout, destroys the connections that are left.
   */
  close(options: {
    readonly drain: Effect.Effect<void>
    readonly timeout: Duration.DurationInput
    /** Whether to refuse incomplete requests, because no handler runs before a request is complete. */
    readonly refuseIncomplete: boolean
  }): Effect.Effect<void> {
    const { drain, refuseIncomplete, timeout } = options
    return Effect.suspend(() => {
      if (!this.server.listening) return Effect.void
      const closed = this.stop()
      return Effect.timed(drain).pipe(
        Effect.flatMap(([elapsed]) => {
          const [used, unused] = Array.partition(this.last, ([, response]) => response === undefined)
          const close = (sockets: typeof used) =>
            sockets.forEach(([socket]) => this.closeWhenAnswered(socket, refuseIncomplete))
          close(used)
          const late = unused.length === 0 ? Effect.void : Effect.delay(Effect.sync(() => close(unused)), UNUSED)
          return TimeLimit.end(Effect.zipRight(late, closed), Duration.subtract(timeout, elapsed))
        }),
        Effect.zipRight(Effect.sync(() => this.sockets.forEach((socket) => socket.destroy()))),
        Effect.zipRight(TimeLimit.end(closed, "1 second"))
      )
    })
  }

  /** Stops listening. The effect waits until all connections are closed. */
  private stop(): Effect.Effect<void> {
    const { server } = this
    const { closeIdleConnections } = server
    let isClosed = false
    // `close` would close connections whose first request is under way.
    server.closeIdleConnections = () => {}
    server.close(() => {
      isClosed = true
    })
    server.closeIdleConnections = closeIdleConnections
    return Effect.async<void>((resume) => {
      if (isClosed) return resume(Effect.void)
      server.once("close", () => resume(Effect.void))
    })
  }

  /** Closes the connection when its last response has been sent: at once when no request runs. */
  private closeWhenAnswered(socket: Socket, refuseIncomplete: boolean): void {
    const response = this.last.get(socket)
    if (response === undefined || response.writableFinished || response.destroyed) return socket.destroySoon()
    response.once("close", () => this.closeWhenAnswered(socket, refuseIncomplete))
    if (refuseIncomplete && !response.req.complete) refuse(response)
  }
}

/** Refuses a request that no endpoint can answer, now or until the server has started again, unless it has an answer. */
export const refuse = (response: ServerResponse, status: 500 | 503 = 503): void => {
  if (response.headersSent) return
  response.writeHead(status, { connection: "close", "retry-after": "1" })
  response.end()
}
