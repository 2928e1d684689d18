/**
 * The open connections of one HTTP server of Node. `HttpServer` and `PlatformHttpServer` use this module to close their servers within a
 * time limit. The `close` of Node waits for every client, even for a client that sends nothing or never completes its request.
 *
 * This module stores the last response of each connection, because it closes a connection after this response. When a request arrives after
 * the application has closed its routes, this module answers with status 503, because no other code would answer the request. `NodeHandler`
 * also uses `refuse`.
 */
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Server as TlsServer } from "node:tls"

/** How long a connection that has not had a request stays open after its server has begun to close. */
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
      // This is the only listener, so the application has already closed its routes, and no other code would answer the request.
      if (server.listenerCount("request") === 1) refuse(response)
    })
  }

  /**
   * Stops listening, runs `drain`, and waits until clients have read their responses. `drain` ends the work that the requests have started.
   * A connection without any request stays open for `UNUSED` longer, because its first request may be on the way. After `timeout`, destroys
   * the remaining connections.
   */
  close(options: {
    readonly drain: Effect.Effect<void>
    readonly timeout: Duration.DurationInput
    /** Whether incomplete requests are refused. Use `true` when no handler runs before its request is complete. */
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
    // Node's `close` would also close connections whose first request is on the way.
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

  /** Closes the connection when its last response was sent. Closes the connection at once when no request runs. */
  private closeWhenAnswered(socket: Socket, refuseIncomplete: boolean): void {
    const response = this.last.get(socket)
    if (response === undefined || response.writableFinished || response.destroyed) return socket.destroySoon()
    response.once("close", () => this.closeWhenAnswered(socket, refuseIncomplete))
    if (refuseIncomplete && !response.req.complete) refuse(response)
  }
}

/** Refuses a request that no endpoint can answer at the moment. Does nothing when the request already has an answer. */
export const refuse = (response: ServerResponse, status: 500 | 503 = 503): void => {
  if (response.headersSent) return
  response.writeHead(status, { connection: "close", "retry-after": "1" })
  response.end()
}
