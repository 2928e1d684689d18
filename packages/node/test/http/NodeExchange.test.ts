import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Deferred, Effect, Layer, TestClock } from "effect"
import * as http from "node:http"
import { NodeExchange } from "../../src/http/NodeExchange.js"
import { act, ask, call, dial, initialize, listen, listening, open, request, served, until } from "../HttpFixture.js"

const ping = (id: number) => JSON.stringify(Message.request(id, "ping"))

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

const plain = served(act(Effect.void))

/** The statuses of the responses on a socket. */
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

describe("a body", () => {
  it.scopedLive("may arrive in any chunks, also cut inside characters", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const { socket, text } = yield* dial(port)
      const bytes = Buffer.from(request(JSON.stringify(Message.request("é😀", "ping")), session))
      socket.setNoDelay(true)
      for (const byte of bytes) socket.write(Buffer.of(byte))
      yield* until(() => text().includes("\"result\""))
      assert.include(text(), `"id":"é😀"`)
    }).pipe(Effect.provide(plain)))

  it.scopedLive("may be chunked, and empty", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const chunked = yield* dial(port)
      const body = ping(1)
      chunked.socket.write(
        request("", { ...session, "transfer-encoding": "chunked" }) +
          `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`
      )
      yield* until(() => statuses(chunked.text()).length === 1)
      assert.deepStrictEqual(statuses(chunked.text()), [200])
      assert.strictEqual((yield* ask(url, "", session)).status, 400)
      assert.strictEqual((yield* ask(url, Buffer.of(0x22, 0xff, 0x22), session)).json.error.code, -32700)
    }).pipe(Effect.provide(plain)))

  it.scopedLive("that is too large is refused with 413, and the client can read the response", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const large = "x".repeat(8 * 1024 * 1024)
      const honest = yield* ask(url, large)
      assert.strictEqual(honest.status, 413)
      assert.match(honest.json.error.message, /4194304 bytes/)
      const silent = yield* ask(url, large, { "transfer-encoding": "chunked" })
      assert.strictEqual(silent.status, 413)
      // The connection serves further requests.
      const { socket, text } = yield* dial(port)
      socket.write(request("x".repeat(5 * 1024 * 1024)))
      socket.write(request(JSON.stringify(initialize())))
      yield* until(() => statuses(text()).length === 2)
      assert.deepStrictEqual(statuses(text()), [413, 200])
    }).pipe(Effect.provide(plain)))

  it.scopedLive("that never ends affects only its connection", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      for (let i = 0; i < 20; i++) {
        const { socket } = yield* dial(port)
        socket.write(request("{", { ...session, "content-length": "100" }), () => socket.resetAndDestroy())
      }
      assert.strictEqual((yield* ask(url, ping(1), session)).status, 200)
    }).pipe(Effect.provide(plain)))
})

describe("headers", () => {
  it.scopedLive("are found in any case", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const { socket, text } = yield* dial(port)
      const body = ping(1)
      socket.write(
        "POST /mcp HTTP/1.1\r\nHOST: localhost\r\ncontent-TYPE: application/json\r\nACCEPT: */*\r\n" +
          `MCP-SESSION-ID: ${session["mcp-session-id"]}\r\nmcp-protocol-version: 2025-11-25\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`
      )
      yield* until(() => statuses(text()).length === 1)
      assert.deepStrictEqual(statuses(text()), [200])
    }).pipe(Effect.provide(plain)))

  it.scopedLive("that are repeated are not reduced to the first", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const id = session["mcp-session-id"]
      const cases: ReadonlyArray<[string, number]> = [
        ["host: localhost\r\nhost: evil.com\r\n", 403],
        ["host: localhost\r\norigin: http://localhost\r\norigin: http://localhost\r\n", 403],
        ["host: localhost\r\ncontent-type: application/json\r\ncontent-type: text/plain\r\n", 415],
        [`host: localhost\r\ncontent-type: application/json\r\nmcp-session-id: ${id}\r\nmcp-session-id: ${id}\r\n`, 404]
      ]
      for (const [headers, status] of cases) {
        const { socket, text } = yield* dial(port)
        const body = ping(1)
        socket.write(`POST /mcp HTTP/1.1\r\naccept: */*\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`)
        yield* until(() => statuses(text()).length === 1)
        assert.deepStrictEqual(statuses(text()), [status], headers)
      }
    }).pipe(Effect.provide(plain)))

  it.scopedLive("decide, with the method and the path, which requests are refused", () =>
    Effect.gen(function*() {
      const { port } = yield* HttpServer.HttpServer
      const cases: ReadonlyArray<[string, Readonly<Record<string, string>>, number]> = [
        ["GET http://evil.com/mcp HTTP/1.1", {}, 404],
        ["GET /mcp HTTP/1.1", { host: "evil.com" }, 403],
        ["OPTIONS /mcp HTTP/1.1", { origin: "http://localhost:5173" }, 204],
        ["OPTIONS /mcp HTTP/1.1", { origin: "http://evil.com" }, 403],
        ["BREW /mcp HTTP/1.1", {}, 400],
        ["PUT /mcp HTTP/1.1", {}, 405]
      ]
      for (const [line, headers, status] of cases) {
        const { socket, text } = yield* dial(port)
        socket.write(request("", headers, line))
        yield* until(() => statuses(text()).length === 1)
        assert.deepStrictEqual(statuses(text()), [status], line)
      }
    }).pipe(Effect.provide(plain)))
})

describe("one connection", () => {
  it.scopedLive("carries many concurrent requests, whose responses arrive in order", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const { socket, text } = yield* dial(port)
      const count = 50
      socket.write(Array.from({ length: count }, (_, id) => request(ping(id), session)).join(""))
      yield* until(() => statuses(text()).length === count && text().endsWith("}"))
      assert.deepStrictEqual(
        [...text().matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)),
        Array.from({ length: count }, (_, id) => id)
      )
    }).pipe(Effect.provide(plain)))

  it.scopedLive("can be lost without an effect on handlers, sessions or other connections", () =>
    Effect.gen(function*() {
      let done = 0
      const gate = yield* Deferred.make<void>()
      const live = act(Effect.zipRight(Deferred.await(gate), Effect.sync(() => done++)))
      yield* Effect.gen(function*() {
        const { port, url } = yield* HttpServer.HttpServer
        const session = yield* open(url)
        for (let id = 1; id <= 20; id++) {
          const { socket } = yield* dial(port)
          socket.write(request(JSON.stringify(call(id, "act")), session), () => socket.resetAndDestroy())
        }
        yield* ask(url, ping(1), session)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* ask(url, ping(1), session)).status, 200)
        yield* until(() => done > 0)
      }).pipe(Effect.provide(served(live)))
    }))
})

describe("a client that does not read", () => {
  it.scoped("suspends the sender, is then disconnected, and its memory is freed", () =>
    Effect.gen(function*() {
      let sent = 0
      const piece = "x".repeat(10_000)
      const live = act(
        Effect.forEach(Array.from({ length: 20_000 }), () => Effect.zipRight(log(piece), Effect.sync(() => sent++)), {
          discard: true
        })
      )
      yield* Effect.gen(function*() {
        const { port, url } = yield* HttpServer.HttpServer
        const session = yield* open(url)
        const { closed, socket } = yield* dial(port)
        socket.pause()
        socket.write(request(JSON.stringify(call(1, "act")), session))
        yield* until(() => sent > 300)
        let before = -1
        // Until one turn of the event loop writes nothing new.
        while (before !== sent) {
          before = sent
          yield* Effect.repeatN(ask(url, ping(1), session), 5)
        }
        assert.isBelow(sent, 20_000)
        yield* TestClock.adjust("31 seconds")
        // The client is disconnected, so the sender does not wait.
        yield* until(() => sent === 20_000)
        socket.resume()
        yield* until(closed)
      }).pipe(Effect.provide(served(live)))
    }))
})

describe("an event stream", () => {
  it.scopedLive("ends when its client disconnects in any way", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      for (const leave of ["end", "destroy", "resetAndDestroy"] as const) {
        const { socket, text } = yield* dial(port)
        socket.write(request("", session, "GET /mcp HTTP/1.1"))
        yield* until(() => statuses(text()).length === 1)
        assert.deepStrictEqual(statuses(text()), [200])
        socket[leave]()
        // Another stream can open once this one has ended.
        const next = yield* Effect.repeat(Effect.scoped(Effect.map(listen(url, session), ({ response }) => response)), {
          until: ({ statusCode }) => statusCode === 200
        })
        assert.strictEqual(next.statusCode, 200)
        yield* Effect.repeat(
          Effect.scoped(
            Effect.map(listen(url, { ...session, accept: "text/event-stream" }), ({ response }) => response)
          ),
          { until: ({ statusCode }) => statusCode === 200 }
        )
      }
    }).pipe(Effect.provide(plain)))

  it.scopedLive("sends its headers before there is an event", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const stream = yield* listen(url, session)
      assert.strictEqual(stream.response.statusCode, 200)
      assert.strictEqual(stream.response.headers["x-accel-buffering"], "no")
      assert.deepStrictEqual(stream.events, [])
    }).pipe(Effect.provide(plain)))

  it.scopedLive("sends the events of one turn in few chunks", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const { socket } = yield* dial(port)
      let pieces = 0
      let text = ""
      socket.on("data", (chunk) => {
        pieces++
        text += chunk.toString()
      })
      socket.write(request(JSON.stringify(call(1, "act")), session))
      yield* until(() => text.includes("\"id\":1"))
      assert.isBelow(pieces, 50)
      assert.lengthOf([...text.matchAll(/notifications\/message/g)], 200)
    }).pipe(
      Effect.provide(served(act(Effect.forEach(Array.from({ length: 200 }), () => log("x"), { discard: true }))))
    ))
})

describe("a streamed response", () => {
  const logs = (count: number) =>
    Effect.forEach(Array.from({ length: count }, (_, n) => n), (n) => log(n), { discard: true })

  // Written in one turn of the event loop, and in two of them.
  const live = Layer.mergeAll(
    act(logs(3), "at-once"),
    act(Effect.zipRight(logs(2), Effect.zipRight(Effect.promise(() => new Promise(setImmediate)), logs(1))), "in-turns")
  )

  /** The data of the log messages in an event stream, and the ids of its results. */
  const parts = (text: string): ReadonlyArray<unknown> =>
    [...text.matchAll(/^data: (\{.*\})$/gm)]
      .map(([, json]) => JSON.parse(json!))
      .map((message) => "id" in message ? `answer ${message.id}` : message.params.data)

  it.scopedLive("arrives whole and in order, and the connection serves the next request", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const free = () => Object.values(agent.freeSockets).flat()
      const sockets = new Set<unknown>()
      for (let id = 1; id <= 20; id++) {
        for (const [name, data] of [["at-once", [0, 1, 2]], ["in-turns", [0, 1, 0]]] as const) {
          const answer = yield* ask(url, call(id, name), session, agent)
          assert.strictEqual(answer.status, 200)
          assert.deepStrictEqual(parts(answer.text), [...data, `answer ${id}`])
          yield* until(() => free().length === 1)
          sockets.add(free()[0])
        }
        const plain = yield* ask(url, ping(id), session, agent)
        assert.deepStrictEqual([plain.status, plain.json.id], [200, id])
      }
      assert.strictEqual(sockets.size, 1)
    }).pipe(Effect.provide(served(live))))

  it.scopedLive("arrives whole when the client has pipelined further requests", () =>
    Effect.gen(function*() {
      const { port, url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const { socket, text } = yield* dial(port)
      const count = 20
      const body = (id: number) => JSON.stringify(call(id, id % 2 === 0 ? "at-once" : "in-turns"))
      socket.write(Array.from({ length: count }, (_, id) => request(body(id), session)).join(""))
      yield* until(() => [...text().matchAll(/^0\r\n\r\n/gm)].length === count)
      assert.deepStrictEqual(
        parts(text().replaceAll("\r", "")),
        Array.from({ length: count }, (_, id) => [...id % 2 === 0 ? [0, 1, 2] : [0, 1, 0], `answer ${id}`]).flat()
      )
    }).pipe(Effect.provide(served(live))))

  // Some versions of Node count one buffer in characters and the other in bytes.
  it.scoped("of long non-ASCII text does not stall while its client reads", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const answer = yield* ask(url, call(1, "act"), yield* open(url))
      assert.lengthOf(parts(answer.text), 301)
    }).pipe(
      Effect.provide(
        served(act(Effect.forEach(Array.from({ length: 300 }), () => log("日".repeat(7_000)), { discard: true })))
      )
    ))
})

describe("the head of a stream", () => {
  it.scopedLive("leaves with what is written in the same turn, in one write to the socket", () =>
    Effect.gen(function*() {
      for (const isEnded of [false, true]) {
        let writes = 0
        const { port } = yield* listening((request, response) => {
          for (const name of ["_write", "_writev"] as const) {
            const own = Reflect.get(request.socket, name) as unknown as (...args: Array<unknown>) => unknown
            Reflect.set(request.socket, name, (...args: Array<unknown>) => {
              writes++
              return own.apply(request.socket, args)
            })
          }
          const writer = new NodeExchange(request, response).stream(200, {}, { drained: () => {}, gone: () => {} })
          writer.write("first")
          if (isEnded) writer.end()
        })
        const { socket, text } = yield* dial(port)
        socket.write(request(""))
        yield* until(() => text().includes("first"))
        assert.strictEqual(writes, 1)
      }
    }))
})

describe("a response", () => {
  it.scopedLive("keeps the connection open for further requests", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const session = yield* open(url)
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* ask(url, ping(i), session, agent)).status, 200)
      assert.strictEqual((yield* ask(url, "{", session, agent)).status, 400)
      assert.lengthOf(Object.values(agent.freeSockets).flat(), 1)
    }).pipe(Effect.provide(plain)))
})

describe("a client that disconnects", () => {
  it.scopedLive("is reported to the listener that was set last; the response has one for all of them", () =>
    Effect.gen(function*() {
      const told: Array<number> = []
      let added: number | undefined
      const { port } = yield* listening((request, response) => {
        const exchange = new NodeExchange(request, response)
        const before = response.listenerCount("close")
        for (const n of [1, 2, 3]) exchange.onGone(() => told.push(n))
        added = response.listenerCount("close") - before
      })
      const { socket } = yield* dial(port)
      socket.write(request(""))
      yield* until(() => added !== undefined)
      socket.destroy()
      yield* until(() => told.length > 0)
      assert.deepStrictEqual([added, told], [1, [3]])
    }))

  it.scopedLive("is not reported after it has its whole answer, at once or as a stream", () =>
    Effect.gen(function*() {
      for (const isStream of [false, true]) {
        let told = false
        let closed = false
        const { port } = yield* listening((request, response) => {
          const exchange = new NodeExchange(request, response)
          exchange.onGone(() => {
            told = true
          })
          response.on("close", () => {
            closed = true
          })
          if (!isStream) return exchange.reply(200, {}, "done")
          const writer = exchange.stream(200, {}, { drained: () => {}, gone: () => {} })
          writer.write("done")
          writer.end()
        })
        const { socket, text } = yield* dial(port)
        socket.write(request(""))
        yield* until(() => closed && text().includes("done"))
        assert.isFalse(told)
      }
    }))
})
