/**
 * Clients that send requests and never read what the server answers, over real sockets, in all shells.
 * It takes more than ten seconds: sockets must fill, which takes many megabytes, before a reader counts as stalled. A run takes each
 * test in one shell at most, always the same; `npm run test:long` takes all.
 */
import { assert, describe, it } from "@effect/vitest"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Effect, Layer, type Scope, TestClock } from "effect"
import type { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { ask, call, dial, info, listen, open, request, until } from "../HttpFixture.js"
import { shells } from "../Shells.js"
import { isTaken } from "../Third.js"

const text = (megabytes: number) => "x".repeat(megabytes * 1024 * 1024)

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

/** How often the tool `large` was called. */
let calls = 0

const features = Layer.mergeAll(
  McpServer.tool(Tool.make("large"), () =>
    Effect.sync(() => {
      calls++
      return text(20)
    })),
  McpServer.tool(Tool.make("short"), () =>
    Effect.sync(() => {
      calls++
      return "x".repeat(60_000)
    })),
  McpServer.tool(Tool.make("logs"), () => Effect.as(Effect.forEach(Array.from({ length: 20 }), () => log(text(1))), ""))
)

/** Sends a request, and reads nothing. Returns once the server has answered as much as fits. */
const stall = (port: number, message: string) =>
  Effect.map(dial(port), ({ closed, socket }) => {
    socket.pause()
    socket.write(message)
    return { closed, socket }
  })

/** Waits until the server has closed the connection: a paused socket does not notice before it reads. */
const closedByServer = ({ closed, socket }: { readonly closed: () => boolean; readonly socket: Socket }) =>
  Effect.zipRight(Effect.sync(() => socket.resume()), until(closed))

/** Gives the server time to write what fits, and lets more than `stallTimeout` pass. */
const timeout = Effect.gen(function*() {
  for (let round = 0; round < 30; round++) {
    let turns = 0
    yield* until(() => ++turns === 30)
    yield* TestClock.adjust("5 seconds")
  }
})

const collect = (() => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
})()

/** Megabytes in use after a collection. */
const memory = () => {
  collect()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 1024 / 1024
}

for (const [column, [shell, start]] of Object.entries(shells).entries()) {
  describe(`a client that reads nothing, on ${shell}`, () => {
    const run = <A, E>(
      options: HttpOptions,
      test: (port: number, url: string) => Effect.Effect<A, E, Scope.Scope>,
      store = false
    ) =>
      Effect.flatMap(start(options), (port) => test(port, `http://127.0.0.1:${port}/mcp`)).pipe(
        Effect.provide(McpServer.layer(info, features)),
        Effect.provide(store ? EventStore.layerMemory : Layer.empty as Layer.Layer<never>)
      )

    let row = 0
    const test = (name: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) => {
      if (isTaken(row++ + column)) it.scoped(name, body)
    }

    const quick: HttpOptions = { path: "/mcp", legacy: { ssePath: "/sse" } }

    for (const responses of ["json", "stream"] as const) {
      test(`is cut when it does not take a response as ${responses}`, () =>
        run({ ...quick, responses }, (port, url) =>
          Effect.gen(function*() {
            const session = yield* open(url)
            const stalled = yield* stall(port, request(JSON.stringify(call(1, "large")), session))
            yield* timeout
            let received = 0
            stalled.socket.on("data", (chunk) => received += chunk.length)
            yield* closedByServer(stalled)
            assert.isBelow(received, 20 * 1024 * 1024)
            assert.strictEqual((yield* ask(url, Message.request(2, "ping"), session)).status, 200)
          })))
    }

    test("is cut when it does not take the notifications of a request", () =>
      run(quick, (port, url) =>
        Effect.gen(function*() {
          const session = yield* open(url)
          const stalled = yield* stall(port, request(JSON.stringify(call(1, "logs")), session))
          yield* timeout
          yield* closedByServer(stalled)
        })))

    test("is cut when it does not take the events that it resumes", () =>
      run(quick, (port, url) =>
        Effect.gen(function*() {
          const session = yield* open(url)
          const first = yield* listen(url, session, call(1, "logs"))
          yield* until(() => first.messages().length === 21)
          const stalled = yield* stall(
            port,
            request("", { ...session, "last-event-id": first.events[0]!.id! }, "GET /mcp HTTP/1.1")
          )
          yield* timeout
          yield* closedByServer(stalled)
        }), true))

    test("is cut when it does not take the stream of HTTP+SSE", () =>
      run(quick, (port, url) =>
        Effect.gen(function*() {
          const { socket, text } = yield* dial(port)
          socket.write(request("", {}, "GET /sse HTTP/1.1"))
          yield* until(() => /sessionId=\w+/.test(text()))
          socket.pause()
          const path = /\/sse\?sessionId=\w+/.exec(text())![0]
          const send = (body: unknown) => ask(url.replace("/mcp", path), body)
          yield* send(Message.request(0, "initialize", {
            protocolVersion: "2024-11-05",
            capabilities: {},
            clientInfo: info
          }))
          for (let id = 1; id <= 3; id++) yield* Effect.ignore(send(call(id, "large")))
          let closed = false
          socket.on("close", () => closed = true)
          yield* timeout
          yield* closedByServer({ socket, closed: () => closed })
          assert.strictEqual((yield* send(Message.request(9, "ping"))).status, 404)
        })))

    /** Many requests on one connection, whose answers are short. */
    const pipelined = (count: number, session: Readonly<Record<string, string>>) =>
      Array.from({ length: count }, (_, id) => request(JSON.stringify(call(id, "short")), session)).join("")

    test("is served no more requests of a connection than fit into one read, though their answers are short", () =>
      run(quick, (port, url) =>
        Effect.gen(function*() {
          const session = yield* open(url)
          const earlier = calls
          yield* stall(port, pipelined(3000, session))
          yield* timeout
          assert.isBelow(calls - earlier, 600)
          assert.strictEqual((yield* ask(url, Message.request(2, "ping"), session)).status, 200)
        })))

    /** The server closes the connection, and has not sent all answers. */
    const isCut = (stalled: { readonly closed: () => boolean; readonly socket: Socket }, count: number) =>
      Effect.gen(function*() {
        let received = 0
        stalled.socket.on("data", (chunk) => received += chunk.length)
        yield* closedByServer(stalled)
        assert.isBelow(received, count * 60_000)
      })

    test(
      "costs no memory after it was cut, though there are 40 of them with 20 MB each",
      () =>
        run({ path: "/mcp" }, (port, url) =>
          Effect.gen(function*() {
            const session = yield* open(url)
            yield* ask(url, call(0, "large"), session)
            const [before, earlier] = [memory(), calls]
            const stalled = yield* Effect.forEach(
              Array.from({ length: 40 }, (_, id) => id),
              (id) => stall(port, request(JSON.stringify(call(id, "large")), session)),
              { concurrency: 8 }
            )
            yield* until(() => calls === earlier + 40)
            // What one endpoint may hold, and the sockets of the clients, which are in this process.
            assert.isBelow(memory() - before, 256 + 60)
            yield* timeout
            assert.isBelow(memory() - before, 100)
            yield* Effect.forEach(stalled, closedByServer)
          }))
    )

    // The HTTP server below a web handler has taken the answers: it must cut the connection.
    if (shell !== "a web handler") {
      for (const [what, responses] of [["short answers", "auto"], ["the ends of streams", "stream"]] as const) {
        test(`is cut when it does not take ${what}`, () =>
          run({ ...quick, responses }, (port, url) =>
            Effect.gen(function*() {
              const session = yield* open(url)
              const stalled = yield* stall(port, pipelined(200, session))
              yield* timeout
              yield* isCut(stalled, 200)
            })))
      }

      test("is cut at once when all short answers of the endpoint are more than `maxUnsent`", () =>
        run({ ...quick, limits: { maxUnsent: 1_000_000 } }, (port, url) =>
          Effect.gen(function*() {
            const session = yield* open(url)
            const earlier = calls
            const stalled = yield* stall(port, pipelined(200, session))
            let turns = 0
            yield* until(() => calls - earlier > 60 && ++turns > 500)
            yield* isCut(stalled, 200)
          })))
    }
  })
}
