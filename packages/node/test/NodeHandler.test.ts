/**
 * What an endpoint in an application's own HTTP server finds: parsed bodies, changed URLs, services for one request, errors
 * of the application, and a server that is built and released apart from it.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import express from "express"
import { vi } from "vitest"
import { act, ask, call, info, initialize, listen, listening, open, until } from "./HttpFixture.js"

class User extends Context.Reference<User>()("test/User", { defaultValue: () => "nobody" }) {}

const Who = Tool.make("who", { success: Schema.Struct({ user: Schema.String }) })
const Server = McpServer.layer(
  info,
  Layer.merge(act(Effect.void), McpServer.tool(Who, () => Effect.map(User, (user) => ({ user }))))
)

const mounted = (
  mount: (app: express.Express, handler: NodeHandler.Handler) => unknown,
  options?: HttpOptions
) =>
  Effect.gen(function*() {
    const app = express().disable("x-powered-by")
    const { origin, server } = yield* listening(app)
    const { handler } = yield* NodeHandler.make(options).pipe(Effect.provide(yield* Layer.build(Server)))
    mount(app, handler)
    return { origin, server, url: `${origin}/mcp` }
  })

describe("A body", () => {
  it.scopedLive("that the application has read and not kept is refused, and the error tells what to do", () =>
    Effect.gen(function*() {
      const { url } = yield* mounted((app, handler) =>
        app.use((request, _, next) => void request.on("end", next).resume()).all("/mcp", handler)
      )
      const { json, status } = yield* ask(url, initialize())
      assert.strictEqual(status, 500)
      assert.strictEqual(
        json.error.message,
        "Internal error: the application has read the body of this request before the MCP endpoint: it must mount the " +
          "endpoint before its body parser, or pass the body on"
      )
    }))

  it.scopedLive("that the application passes on has the limits of the endpoint", () =>
    Effect.gen(function*() {
      const bodies = (body: unknown) =>
        Effect.gen(function*() {
          const { url } = yield* mounted(
            (app, handler) => app.all("/mcp", (request, response) => handler(request, response, { body })),
            { limits: { maxBodyBytes: 500 } }
          )
          return (yield* ask(url, initialize())).status
        })
      const text = JSON.stringify(initialize())
      for (const good of [initialize(), text, Buffer.from(text)]) assert.strictEqual(yield* bodies(good), 200)
      const long = "x".repeat(501)
      for (const large of [{ long }, long, Buffer.from(long)]) assert.strictEqual(yield* bodies(large), 413)
      const circle: Record<string, unknown> = {}
      circle["circle"] = circle
      for (const bad of [Buffer.of(0xff), circle, "{"]) assert.strictEqual(yield* bodies(bad), 400)
    }))

  it.scopedLive("that a parser leaves unread, because of its type, is the client's", () =>
    Effect.gen(function*() {
      const { url } = yield* mounted((app, handler) =>
        app.use(express.urlencoded({ extended: false }), (request, _, next) => {
          request.body ??= {}
          next()
        }).all("/mcp", handler)
      )
      assert.strictEqual((yield* ask(url, initialize())).status, 200)
      assert.strictEqual((yield* ask(url, "")).status, 400)
    }))
})

describe("A handler", () => {
  it.scopedLive("gives services for one request to the handlers of the server", () =>
    Effect.gen(function*() {
      const { url } = yield* mounted((app, handler) =>
        app.all("/mcp", (request, response) =>
          handler(request, response, { context: Context.make(User, request.get("x-user") ?? "a guest") }))
      )
      for (const user of ["ada", "grace"]) {
        for (const version of ["2025-11-25", "2026-07-28"] as const) {
          const client = yield* Client.make(Remote.connector(url, { headers: { "x-user": user } }), {
            versions: [version]
          })
          assert.deepStrictEqual((yield* client.callTool("who", {})).structuredContent, { user })
        }
      }
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("serves its paths below the path that it is mounted at, for HTTP+SSE too", () =>
    Effect.gen(function*() {
      const { origin } = yield* mounted((app, handler) => app.use("/api/v1", handler), {
        path: "/mcp",
        legacy: { ssePath: "/sse" }
      })
      assert.strictEqual((yield* ask(`${origin}/api/v1/mcp`, initialize())).status, 200)
      assert.strictEqual((yield* ask(`${origin}/api/v1/other`, initialize())).status, 404)
      const events = yield* listen(`${origin}/api/v1/sse`, {})
      yield* until(() => events.events.length > 0)
      assert.match(String(events.events[0]!.data), /^\/api\/v1\/sse\?/)
      const old = yield* Client.make(Remote.connector(`${origin}/api/v1/sse`, { transport: "sse" }))
      assert.deepStrictEqual((yield* old.callTool("who", {})).structuredContent, { user: "nobody" })
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("interrupts a request of 2026-07-28 that the application has answered in its place", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      let answer = () => {}
      const waits = Effect.onInterrupt(
        Effect.zipRight(Effect.sync(() => answer()), Effect.never),
        () => Deferred.succeed(interrupted, undefined)
      )
      const { handler } = NodeHandler.fromLayer(McpServer.layer(info, act(waits)))
      const { origin: url } = yield* listening((request, response) => {
        answer = () => void response.writeHead(504).end()
        handler(request, response)
      })
      const { status } = yield* ask(
        url,
        Message.request(1, "tools/call", { name: "act", arguments: {}, _meta: TestPeer.requestMeta() }),
        { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "act" }
      )
      assert.strictEqual(status, 504)
      yield* Deferred.await(interrupted)
    }))

  it.scopedLive("leaves the errors of the application to the application, and the client reports their status", () =>
    Effect.gen(function*() {
      const { url } = yield* mounted((app, handler) =>
        app.use(() => {
          throw Object.assign(new Error("no database"), { status: 503 })
        }).all("/mcp", handler)
      )
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        const error = yield* Effect.flip(Client.make(Remote.connector(url), { versions: [version] }))
        assert.include(String(error), "503")
      }
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.scopedLive("ends the streams of a server that has stopped listening, which can close then", () =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const { dispose, handler } = NodeHandler.fromLayer(
        McpServer.layer(info, act(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never)))
      )
      const { origin: url, server } = yield* listening(handler)
      const session = yield* open(url)
      const beside = yield* listen(url, session)
      const running = yield* Effect.fork(ask(url, call(1, "act"), session))
      yield* Deferred.await(began)
      const closed = yield* Deferred.make<void>()
      server.close(() => Deferred.unsafeDone(closed, Effect.void))
      yield* Effect.promise(() => dispose())
      yield* until(beside.ended)
      assert.strictEqual((yield* Fiber.join(running)).json.error.code, -32000)
      yield* Deferred.await(closed)
    }))

  it.scopedLive("cuts the connections that are left after the time of closing", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const { dispose, handler } = NodeHandler.fromLayer(McpServer.layer(info, act(Effect.void)), {
        closeTimeout: "50 millis"
      })
      const { origin: url } = yield* listening((request, response) => {
        // An answer that never ends.
        response.end = () => {
          Deferred.unsafeDone(answered, Effect.void)
          return response
        }
        handler(request, response)
      })
      const stuck = yield* Effect.fork(Effect.flip(ask(url, initialize())))
      yield* Deferred.await(answered)
      yield* Effect.promise(() => dispose())
      assert.include(String(yield* Fiber.join(stuck)), "socket hang up")
    }))
})

describe("A handler of a layer", () => {
  it.scopedLive("builds the server for the first request, again after a failure, and refuses once it is disposed", () =>
    Effect.gen(function*() {
      let builds = 0
      const { dispose, handler } = NodeHandler.fromLayer(
        Layer.unwrapEffect(Effect.suspend(() => ++builds === 1 ? Effect.fail("no database") : Effect.succeed(Server)))
      )
      const { origin: url } = yield* listening(handler)
      assert.strictEqual(builds, 0)
      assert.strictEqual((yield* ask(url, initialize())).status, 500)
      assert.strictEqual((yield* ask(url, initialize())).status, 200)
      assert.strictEqual((yield* ask(url, Message.request(1, "ping"))).status, 400)
      yield* Effect.promise(() => dispose())
      assert.deepStrictEqual([(yield* ask(url, initialize())).status, builds], [503, 2])
    }))

  it.scopedLive("says why the server cannot be built, also before the first request", () =>
    Effect.gen(function*() {
      const logged = vi.spyOn(console, "log").mockImplementation(() => {})
      yield* Effect.addFinalizer(() => Effect.sync(() => logged.mockRestore()))
      let builds = 0
      const { dispose, handler, ready } = NodeHandler.fromLayer(
        Layer.unwrapEffect(
          Effect.suspend(() =>
            ++builds === 1 ? Effect.fail({ _tag: "NoDatabase", host: "db" }) : Effect.succeed(Server)
          )
        )
      )
      const failure = yield* Effect.flip(Effect.tryPromise({ try: () => ready(), catch: String }))
      for (const text of [failure, logged.mock.calls.join()]) assert.match(text, /NoDatabase.*db/s)
      yield* Effect.promise(() => ready())
      const { origin: url } = yield* listening(handler)
      assert.deepStrictEqual([(yield* ask(url, initialize())).status, builds], [200, 2])
      yield* Effect.promise(() => dispose())
    }))

  it.scopedLive("changes no answer that the application gave before the server failed to build", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<never, string>()
      const { handler } = NodeHandler.fromLayer(Layer.unwrapEffect(Effect.as(Deferred.await(gate), Server)))
      const { origin: url } = yield* listening((request, response) => {
        handler(request, response)
        response.writeHead(504).end()
      })
      assert.strictEqual((yield* ask(url, initialize())).status, 504)
      const rejected: Array<unknown> = []
      const onRejected = (reason: unknown) => void rejected.push(reason)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("unhandledRejection", onRejected)),
        () => Effect.sync(() => process.off("unhandledRejection", onRejected))
      )
      yield* Deferred.fail(gate, "no database")
      assert.strictEqual((yield* ask(url, initialize())).status, 504)
      assert.deepStrictEqual(rejected, [])
    }))
})
