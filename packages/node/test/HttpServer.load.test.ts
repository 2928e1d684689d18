import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Effect, Layer, TestClock } from "effect"
import * as http from "node:http"
import { act, ask, call, info, initialize, listen, open, served, until } from "./HttpFixture.js"

const ping = Message.request(1, "ping")

const agent = Effect.acquireRelease(
  Effect.sync(() => new http.Agent({ keepAlive: true, maxSockets: 20 })),
  (agent) => Effect.sync(() => agent.destroy())
)

const times = (count: number) => Array.from({ length: count }, (_, i) => i)

/** The resources that keep this process alive. */
const resources = () =>
  process.getActiveResourcesInfo().filter((name) => /TCP|HTTP|Timeout|Immediate/.test(name)).length

describe("a server over HTTP", () => {
  it.scoped("closes a thousand abandoned sessions", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const server = yield* HttpServer.HttpServer
      const sockets = yield* agent
      yield* Effect.forEach(times(1000), () => ask(server.url, initialize(), {}, sockets), {
        concurrency: 20,
        discard: true
      })
      assert.strictEqual(server.sessions(), 1000)
      assert.strictEqual(dispatcher.conversations(), 1000)
      yield* TestClock.adjust("15 minutes")
      const used = yield* open(server.url)
      yield* ask(server.url, ping, used)
      yield* TestClock.adjust("16 minutes")
      yield* until(() => dispatcher.conversations() === 1)
      assert.strictEqual(server.sessions(), 1)
      assert.strictEqual((yield* ask(server.url, ping, used)).status, 200)
    }).pipe(Effect.provide(
      HttpServer.layer({ port: 0 }).pipe(Layer.provideMerge(McpServer.layer(info, act(Effect.void))))
    )))

  it.scoped("keeps no more sessions than its limit, however many clients open", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const server = yield* HttpServer.HttpServer
      const sockets = yield* agent
      yield* Effect.forEach(times(200), () => ask(server.url, initialize(), {}, sockets), {
        concurrency: 20,
        discard: true
      })
      assert.isAtMost(server.sessions(), 50)
      yield* until(() => dispatcher.conversations() === server.sessions())
    }).pipe(Effect.provide(
      HttpServer.layer({ port: 0, limits: { maxSessions: 50 } }).pipe(
        Layer.provideMerge(McpServer.layer(info, act(Effect.void)))
      )
    )))

  it.scopedLive("leaves nothing of a thousand streams", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      const before = resources()
      const sessions = yield* Effect.forEach(times(100), () => open(server.url))
      for (const _ of times(10)) {
        yield* Effect.scoped(Effect.forEach(
          sessions,
          (session) =>
            Effect.repeat(listen(server.url, session), { until: ({ response }) => response.statusCode === 200 }),
          { concurrency: 20, discard: true }
        ))
      }
      yield* until(() => resources() <= before)
      // Each session can open a stream again.
      for (const session of sessions.slice(0, 5)) {
        yield* Effect.scoped(Effect.repeat(listen(server.url, session), {
          until: ({ response }) => response.statusCode === 200
        }))
      }
    }).pipe(Effect.provide(served(act(Effect.void)))))

  it.scopedLive("answers a thousand requests with equal ids, each with its own result", () =>
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      const sockets = yield* agent
      const sessions = yield* Effect.forEach(times(10), () => open(server.url))
      const answers = yield* Effect.forEach(
        times(1000),
        (n) => ask(server.url, call(1, "act"), sessions[n % 10], sockets),
        { concurrency: 20 }
      )
      assert.isTrue(answers.every(({ json, status }) => status === 200 && json.id === 1))
    }).pipe(Effect.provide(served(act(Effect.yieldNow())))))
})
