import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Exit, Fiber, type Layer, Schedule, type Scope, Scope as Scopes } from "effect"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { talk, until } from "./Fixture.js"

const clients: Readonly<Record<string, Layer.Layer<HttpClient>>> = {
  "fetch": FetchHttpClient.layer,
  "undici": NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer
}

interface Wire {
  readonly url: string
  /** The headers of the received requests. */
  readonly heads: ReadonlyArray<string>
  /** All that it has received. */
  readonly text: () => string
  /** The number of connections with a request; a pool may open others in advance. */
  readonly sockets: () => number
}

/** A server that runs a function on every connection after a request. */
const wire = (act: (socket: Socket, head: string) => void): Effect.Effect<Wire, never, Scope.Scope> =>
  Effect.gen(function*() {
    const all = new Set<Socket>()
    const sockets = new Set<Socket>()
    const heads: Array<string> = []
    let received = ""
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      all.add(socket)
      socket.on("error", () => {})
      socket.on("end", () => socket.end())
      socket.on("close", () => {
        all.delete(socket)
        sockets.delete(socket)
      })
      socket.on("data", (data) => {
        const text = data.toString()
        received += text
        // The body may arrive in another chunk.
        if (!/^[A-Z]+ \//.test(text)) return
        sockets.add(socket)
        heads.push(text)
        act(socket, text)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of all) socket.destroy()
        })
    )
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, heads, text: () => received, sockets: () => sockets.size }
  })

const conversation = (url: string, options?: Options) =>
  Effect.gen(function*() {
    const transport = yield* Remote.connector(url, {
      transport: "streamable",
      reconnect: Schedule.spaced("10 millis"),
      limits: { maxResumes: 2 },
      ...options
    }).connect
    return (yield* talk(transport)).conversation
  })

const head = (status: string, headers: string) => `HTTP/1.1 ${status}\r\n${headers}\r\n\r\n`
const json = "content-type: application/json\r\ncontent-length: 100"
const events = "content-type: text/event-stream\r\ntransfer-encoding: chunked"
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

const faults: Readonly<Record<string, (socket: Socket) => void>> = {
  "closes at once": (socket) => socket.end(),
  "destroys the connection": (socket) => socket.destroy(),
  "resets the connection": (socket) => socket.resetAndDestroy(),
  "speaks another protocol": (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"),
  "ends in the middle of its head": (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-"),
  "ends in the middle of its body": (socket) => socket.end(head("200 OK", json) + "{"),
  "resets in the middle of its body": (socket) => {
    socket.write(head("200 OK", json) + "{", () => socket.resetAndDestroy())
  },
  "ends in the middle of a chunk": (socket) => socket.end(head("200 OK", events) + "ff\r\ndata: {"),
  "ends between two chunks": (socket) => socket.end(head("200 OK", events) + chunk("data: {\n")),
  "closes every stream that can be resumed": (socket) =>
    socket.end(head("200 OK", events) + chunk("id: \nretry: 100\ndata:\n\n")),
  "streams no response": (socket) => socket.end(head("200 OK", events) + chunk("data: {}\n\n") + "0\r\n\r\n"),
  "sends HTML": (socket) => socket.end(head("200 OK", "content-type: text/html\r\ncontent-length: 3") + "<p>"),
  "sends nothing": (socket) => socket.end(head("204 No Content", "a: b")),
  "fails": (socket) => socket.end(head("500 Oops", "content-length: 3") + "why"),
  "redirects elsewhere": (socket) =>
    socket.end(head("307 Elsewhere", "location: http://127.0.0.1:1/evil\r\ncontent-length: 0")),
  "redirects in circles": (socket) => socket.end(head("307 Here", "location: /mcp\r\ncontent-length: 0"))
}

for (const [name, layer] of Object.entries(clients)) {
  describe(`A server over ${name} that`, () => {
    for (const [what, act] of Object.entries(faults)) {
      it.scopedLive(`${what} fails each call once, and leaves no connection`, () =>
        Effect.gen(function*() {
          const server = yield* wire(act)
          const scope = yield* Scopes.make()
          const { request } = yield* Scopes.extend(conversation(server.url), scope)
          const errors = yield* Effect.replicateEffect(Effect.flip(request("ping")), 3).pipe(
            Effect.zipWith(Effect.flip(request("ping")), (many, one) => [...many, one], { concurrent: true })
          )
          for (const error of errors) assert.strictEqual(error._tag, "TransportError", String(error))
          yield* Scopes.close(scope, Exit.void)
          yield* until(() => server.sockets() === 0)
        }).pipe(Effect.provide(layer)))
    }

    for (
      const [what, act] of Object.entries<(socket: Socket) => void>({
        "sends one event for each reconnection": (socket) =>
          void socket.end(head("200 OK", events) + chunk("id: 1\nretry: 100\ndata:\n\n")),
        "never answers": () => {},
        "never completes its body": (socket) => void socket.write(head("200 OK", json) + "{"),
        "never continues its stream": (socket) => void socket.write(head("200 OK", events) + chunk(": hi\n\n"))
      })
    ) {
      it.scopedLive(`${what} lets a call time out, and leaves no connection`, () =>
        Effect.gen(function*() {
          const server = yield* wire(act)
          const scope = yield* Scopes.make()
          const { request } = yield* Scopes.extend(conversation(server.url, { closeTimeout: "50 millis" }), scope)
          const error = yield* Effect.flip(request("ping", undefined, { timeout: "50 millis" }))
          assert.strictEqual(error._tag, "RequestTimeout")
          const calling = yield* Effect.fork(Effect.flip(request("ping", { late: true })))
          // Not counted: the first call may time out before its request is sent.
          yield* until(() => server.text().includes("\"late\""))
          yield* Scopes.close(scope, Exit.void)
          assert.strictEqual((yield* Fiber.join(calling))._tag, "ConnectionClosed")
          yield* until(() => server.sockets() === 0)
        }).pipe(Effect.provide(layer)))
    }

    it.scopedLive("redirects is followed to allowed URLs only, with all headers and the body", () =>
      Effect.gen(function*() {
        const evil = yield* wire((socket) => socket.end(head("200 OK", "content-length: 0")))
        const server = yield* wire((socket, text) => {
          const [, path] = /^\w+ (\S+)/.exec(text)!
          if (path === "/mcp") {
            socket.end(head("308 There", "location: /there\r\ncontent-length: 0\r\nconnection: close"))
          } else socket.end(head("307 Elsewhere", `location: ${evil.url}\r\ncontent-length: 0\r\nconnection: close`))
        })
        const { request } = yield* conversation(server.url, { headers: { authorization: "Bearer secret" } })
        const error = yield* Effect.flip(request("ping"))
        assert.include(error.message, "is another origin")
        assert.deepStrictEqual(server.heads.map((text) => /^(\S+ \S+)/.exec(text)![1]), ["POST /mcp", "POST /there"])
        for (const text of server.heads) assert.match(text, /authorization: Bearer secret/i)
        assert.lengthOf(evil.heads, 0)
      }).pipe(Effect.provide(layer)))

    it.scopedLive("is not running fails each call, and is connected to when it runs", () =>
      Effect.gen(function*() {
        const scope = yield* Scopes.make()
        const { url } = yield* Scopes.extend(wire(() => {}), scope)
        yield* Scopes.close(scope, Exit.void)
        const { request } = yield* conversation(url)
        const error = yield* Effect.flip(request("ping"))
        assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
        assert.include(error.message, "ECONNREFUSED")
      }).pipe(Effect.provide(layer)))

    it.scopedLive("answers correctly is called on few connections", () =>
      Effect.gen(function*() {
        const server = yield* wire((socket, text) => {
          const { id } = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as Message.Request
          const body = JSON.stringify(Message.success(id, {}))
          socket.write(head("200 OK", `content-type: application/json\r\ncontent-length: ${body.length}`) + body)
        })
        const { request } = yield* conversation(server.url)
        for (let i = 0; i < 200; i++) yield* request("ping")
        // Node's own client closes its connections one by one.
        yield* until(() => server.sockets() <= 2)
      }).pipe(Effect.provide(layer)))
  })
}
