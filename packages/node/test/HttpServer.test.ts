import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import {
  Config,
  ConfigError,
  ConfigProvider,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  Scope,
  TestClock
} from "effect"
import * as http from "node:http"
import { act, ask, call, dial, info, initialize, listen, open, passing, request, served, until } from "./HttpFixture.js"

const ping = Message.request(1, "ping")

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

/** A server that can be closed before the test ends. */
const closable = (...args: Parameters<typeof served>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const context = yield* Layer.buildWithScope(served(...args), scope)
    return {
      server: yield* Effect.provide(HttpServer.HttpServer, context),
      close: Scope.close(scope, Exit.void)
    }
  })

describe("HttpServer", () => {
  it.scoped("logs one line with its URL", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel.label} ${String(message)}`))
      const context = yield* Layer.build(
        Layer.provide(served(act(Effect.void)), Logger.replace(Logger.defaultLogger, logger))
      )
      const { url } = yield* Effect.provide(HttpServer.HttpServer, context)
      assert.deepStrictEqual(lines, [`INFO The MCP server listens at ${url}`])
    }))

  it.scopedLive("listens on loopback only, and reports its port", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      assert.strictEqual(server.host, "127.0.0.1")
      assert.isAbove(server.port, 0)
      assert.strictEqual(server.url, `http://127.0.0.1:${server.port}/mcp`)
      const session = yield* open(server.url)
      const answer = yield* ask(server.url, call(1, "act"), session)
      assert.deepStrictEqual([answer.status, answer.json.result.content], [200, []])
      assert.strictEqual(answer.headers["content-length"], String(answer.text.length))
      assert.strictEqual(server.sessions(), 1)
      const accepted = yield* ask(server.url, Message.notification("notifications/initialized"), session)
      assert.deepStrictEqual([accepted.status, accepted.text], [202, ""])
      assert.strictEqual((yield* ask(server.url.replace("/mcp", "/other"), ping)).status, 404)
    }).pipe(Effect.provide(served(act(Effect.void)))))

  it.scopedLive("listens on the given host", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      assert.strictEqual(server.url, `http://[::1]:${server.port}/deep/mcp`)
      assert.strictEqual((yield* ask(server.url, initialize())).status, 200)
    }).pipe(Effect.provide(served(act(Effect.void), { host: "::1", path: "/deep/mcp" }))))

  it.scopedLive("treats an IPv4 address in IPv6 notation as loopback, and reports it as IPv4", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      assert.strictEqual((yield* ask(server.url, initialize())).status, 200)
      assert.strictEqual(server.url, `http://127.0.0.1:${server.port}/mcp`)
      assert.strictEqual((yield* ask(server.url, initialize(), { host: "evil.com" })).status, 403)
      const page = { origin: `http://localhost:${server.port}` }
      assert.strictEqual((yield* ask(server.url, initialize(), page)).status, 200)
    }).pipe(Effect.provide(served(act(Effect.void), { host: "::ffff:127.0.0.1" }))))

  it.scopedLive("allows all hosts and no origins on an address that other machines can reach", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      const { url } = server
      assert.strictEqual(url, `http://127.0.0.1:${server.port}/mcp`)
      assert.strictEqual((yield* ask(url, initialize(), { host: "mcp.example.com" })).status, 200)
      assert.strictEqual((yield* ask(url, initialize(), { origin: "http://localhost" })).status, 403)
    }).pipe(Effect.provide(served(act(Effect.void), { host: "0.0.0.0" }))))

  it.scopedLive("names the loopback address where it listens on every address", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      assert.deepInclude(server, { host: "::", url: `http://[::1]:${server.port}/mcp` })
      assert.strictEqual((yield* ask(server.url, initialize())).status, 200)
    }).pipe(Effect.provide(served(act(Effect.void), { host: "::" }))))

  it.scopedLive("fails with the reason when the port is in use", () =>
    Effect.gen(function*() {
      const { port } = yield* HttpServer.HttpServer
      const error = yield* Effect.flip(Effect.scoped(Layer.build(served(act(Effect.void), { port }))))
      assert.instanceOf(error, HttpServer.ServeError)
      assert.strictEqual(error.code, "EADDRINUSE")
      assert.match(error.message, new RegExp(`^Cannot listen on 127.0.0.1:${port}: another program uses the port`))
    }).pipe(Effect.provide(served(act(Effect.void)))))

  it.scopedLive("takes its options from the configuration of the program, and fails when one is missing", () =>
    Effect.gen(function*() {
      const live = (values: ReadonlyArray<readonly [string, string]>) =>
        HttpServer.layerConfig({ port: Config.integer("PORT"), path: Config.succeed("/tools") }).pipe(
          Layer.provide(McpServer.layer(info, act(Effect.void))),
          Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(values))))
        )
      const { url } = Context.get(yield* Layer.build(live([["PORT", "0"]])), HttpServer.HttpServer)
      assert.match(url, /:\d+\/tools$/)
      assert.isTrue(ConfigError.isConfigError(yield* Effect.flip(Layer.build(live([])))))
    }))

  it.scoped("and other doors take their options from the configuration, and name what is missing", () =>
    Effect.gen(function*() {
      const missing = Layer.setConfigProvider(ConfigProvider.fromMap(new Map()))
      const dispatcher = McpServer.layer(info, act(Effect.void))
      const doors: ReadonlyArray<Layer.Layer<never, unknown, Dispatcher>> = [
        StdioServer.layerConfig({ maxBacklog: Config.integer("MAX_BACKLOG") }),
        HttpEndpoint.layerConfig({ path: Config.string("MCP_PATH") }).pipe(
          Layer.provide(PlatformHttpServer.layer(http.createServer, { port: 0 }))
        )
      ]
      for (const door of doors) {
        const error = yield* Effect.flip(Layer.build(Layer.provide(door, [dispatcher, missing])))
        assert.isTrue(ConfigError.isConfigError(error))
      }
    }))

  it.scopedLive("serves next to other transports of the same server", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const server = yield* HttpServer.HttpServer
      yield* open(server.url)
      assert.strictEqual(dispatcher.conversations(), 1)
    }).pipe(Effect.provide(
      HttpServer.layer({ port: 0 }).pipe(Layer.provideMerge(McpServer.layer(info, act(Effect.void))))
    )))

  it.scopedLive("streams messages as they are sent, on the stream of each request and on the standalone stream", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const { url } = yield* HttpServer.HttpServer
        const session = yield* open(url)
        const beside = yield* listen(url, session)
        assert.strictEqual(beside.response.headers["content-type"], "text/event-stream")
        const stream = yield* listen(url, session, call(1, "act"))
        yield* until(() => stream.messages().length === 1)
        yield* Deferred.succeed(gate, undefined)
        yield* until(stream.ended)
        assert.deepStrictEqual(stream.messages().map(({ id, params }) => id ?? params.data), ["hello", 1])
        assert.isFalse(beside.ended())
        assert.strictEqual((yield* ask(url, ping, { ...session })).status, 200)
      }).pipe(Effect.provide(served(act(Effect.zipRight(log("hello"), Deferred.await(gate))))))
    }))

  it.scoped("sends comments on silent streams, by the clock of the application", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpServer.HttpServer
      const session = yield* open(url)
      const beside = yield* listen(url, session)
      let text = ""
      beside.response.on("data", (chunk: Buffer) => text += chunk.toString())
      yield* TestClock.adjust("15 seconds")
      yield* until(() => text === ": \n\n")
    }).pipe(Effect.provide(served(act(Effect.void)))))
})

describe("closing an HttpServer", () => {
  it.scopedLive("answers open requests, ends streams, and leaves nothing", () =>
    Effect.gen(function*() {
      const [began, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const forever = Effect.zipRight(Deferred.succeed(began, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      const { close, server } = yield* closable(act(forever), {
        legacy: { ssePath: "/sse" },
        closeTimeout: "1 minute"
      })
      const agent = new http.Agent({ keepAlive: true })
      const session = yield* open(server.url)
      const beside = yield* listen(server.url, session)
      const old = yield* listen(server.url.replace("/mcp", "/sse"), {})
      const idle = yield* dial(server.port)
      const silent = yield* dial(server.port)
      idle.socket.write("POST /mcp HT")
      const flying = yield* Effect.fork(ask(server.url, call(1, "act"), session, agent))
      yield* Deferred.await(began)
      yield* close
      yield* Deferred.await(stopped)
      assert.deepStrictEqual((yield* flying).json.error, { code: -32000, message: "Connection closed" })
      yield* until(() => beside.ended() && old.ended() && idle.closed() && silent.closed())
      assert.isTrue(beside.response.complete && old.response.complete)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ask(server.url, ping))))
      agent.destroy()
    }))

  for (
    const [what, text, answers] of [
      ["nothing", "", 0],
      ["half of a header", "POST /mcp HTTP/1.1\r\nhost: loc", 0],
      ["half of a body", request("{", { "content-length": "100" }), 0],
      ["half of a second request", `${request(JSON.stringify(ping))}POST /mcp HT`, 1]
    ] as const
  ) {
    it.scopedLive(`does not wait for a client that sends ${what}`, () =>
      Effect.gen(function*() {
        const { close, server } = yield* closable(act(Effect.void), { closeTimeout: "1 hour" })
        const client = yield* dial(server.port)
        client.socket.write(text)
        if (answers > 0) yield* until(() => client.text() !== "")
        // The server accepts connections in order, so it has the first one.
        yield* Effect.repeat(ask(server.url, ping), { times: 3 })
        yield* close
        yield* until(client.closed)
        if (what === "half of a body") assert.match(client.text(), /^HTTP\/1.1 503 /)
      }))
  }

  it.scoped("takes no longer than `closeTimeout`, whatever clients do", () =>
    Effect.gen(function*() {
      const many = Effect.forEach(Array.from({ length: 1000 }), () => log("x".repeat(100_000)), { discard: true })
      const { close, server } = yield* closable(act(many), { closeTimeout: "200 millis" })
      const session = yield* open(server.url)
      // Does not read its response.
      const stalled = yield* dial(server.port)
      stalled.socket.pause()
      stalled.socket.write(request(JSON.stringify(call(1, "act")), session))
      // Does not complete its request.
      const half = yield* dial(server.port)
      half.socket.write(request("{", { ...session, "content-length": "100" }))
      yield* Effect.repeat(ask(server.url, ping, session), { times: 3 })
      const [time] = yield* passing("50 millis")(Effect.timed(close))
      assert.isBelow(Duration.toMillis(time), 3000)
      stalled.socket.resume()
      yield* until(() => stalled.closed() && half.closed())
    }))

  it.scopedLive("waits for uninterruptible handlers no longer than the server does", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const stubborn = Effect.uninterruptible(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never))
      const { close, server } = yield* closable(act(stubborn), { closeTimeout: "100 millis" }, undefined, {
        closeTimeout: "200 millis"
      })
      const session = yield* open(server.url)
      const flying = yield* Effect.fork(Effect.exit(ask(server.url, call(1, "act"), session)))
      yield* Deferred.await(began)
      yield* Effect.fork(close)
      assert.isTrue(Exit.isFailure(yield* flying))
    }).pipe(Effect.provide(Logger.minimumLogLevel(LogLevel.None))))
})
