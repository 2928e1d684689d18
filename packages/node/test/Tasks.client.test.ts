/**
 * Clients whose calls become tasks, over HTTP and on pipes, in both eras: with connections that are cut, and after a restart.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Deferred, Effect, Fiber, type Layer, Option, Queue, type Scope, Stream } from "effect"
import { bundled, node } from "./Fixture.js"
import { Book, Server } from "./Restaurant.js"
import { shells } from "./Shells.js"
import { tcpProxy } from "./TcpProxy.js"

const eras = ["2025-11-25", "2026-07-28"] as const

const sure = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { sure: true } }))

const connect = (
  url: string,
  version: Version,
  features: Layer.Layer<never, never, ClientFeatures.ClientFeatures> = sure
) => Client.make(Remote.connector(url), { versions: [version], extensions: [TasksClient.extension], features })

const booked = (session: ClientSessionService) =>
  Effect.gen(function*() {
    const { structuredContent } = yield* session.callTool("book", { table: 1 })
    assert.deepStrictEqual<unknown>(structuredContent, { booked: true })
    const task = yield* TasksClient.start(session, Book, { table: 2 })
    assert.deepStrictEqual(yield* task.result, { booked: true })
    assert.deepInclude(Option.getOrThrow(yield* Stream.runLast(task.status)), { status: "completed" })
  })

const over = (
  shell: string,
  test: (port: number) => Effect.Effect<void, unknown, Scope.Scope | import("@effect/platform/HttpClient").HttpClient>
) =>
  Effect.flatMap(shells[shell]!({}), test).pipe(
    Effect.scoped,
    Effect.provide([Server, NodeHttpClient.layerUndici])
  )

for (const version of eras) {
  describe(`A call that becomes a task at ${version}`, () => {
    for (const shell of Object.keys(shells)) {
      it.live(
        `waits for its result, and has its questions answered, over ${shell}`,
        () => over(shell, (port) => Effect.flatMap(connect(`http://127.0.0.1:${port}/mcp`, version), booked))
      )
    }

    it.live("waits for its result, and has its questions answered, on a pipe", () =>
      Effect.gen(function*() {
        const connector = StdioClient.connector({ command: node, args: [yield* bundled("restaurant.ts")] })
        const options = { versions: [version], extensions: [TasksClient.extension], features: sure } as const
        yield* booked(yield* Client.make(connector, options))
      }).pipe(Effect.scoped))

    it.live(
      "goes on when all connections are cut while the user is asked",
      () =>
        over("node:http", (port) =>
          Effect.gen(function*() {
            const { cut, url } = yield* tcpProxy(port)
            const asked = yield* Queue.unbounded<string>()
            const answered = yield* Deferred.make<void>()
            const features = ClientFeatures.elicitation(({ message }) =>
              Queue.offer(asked, message).pipe(
                Effect.zipRight(Deferred.await(answered)),
                Effect.as({ action: "accept" as const, content: { sure: true } })
              )
            )
            const client = yield* connect(`${url}/mcp`, version, features)
            const calling = yield* Effect.fork(client.callTool("book", { table: 3 }))
            yield* Queue.take(asked)
            yield* cut
            yield* Effect.sleep(100)
            yield* cut
            yield* Deferred.succeed(answered, undefined)
            const { structuredContent } = yield* Fiber.join(calling)
            assert.deepStrictEqual<unknown>(structuredContent, { booked: true })
          }))
    )

    it.live(
      "takes no place of other requests while its user is asked",
      () =>
        over("node:http", (port) =>
          Effect.gen(function*() {
            const asked = yield* Queue.unbounded<string>()
            const answered = yield* Deferred.make<void>()
            const features = ClientFeatures.elicitation(({ message }) =>
              Queue.offer(asked, message).pipe(
                Effect.zipRight(Deferred.await(answered)),
                Effect.as({ action: "accept" as const, content: { sure: true } })
              )
            )
            const client = yield* Client.make(
              Remote.connector(`http://127.0.0.1:${port}/mcp`, { limits: { maxExchanges: 1 } }),
              {
                versions: [version],
                extensions: [TasksClient.extension],
                features
              }
            )
            const calling = yield* Effect.fork(
              Effect.all([1, 2, 3].map((table) => client.callTool("book", { table })), { concurrency: 3 })
            )
            yield* Queue.takeN(asked, 3)
            assert.strictEqual((yield* client.listTools()).tools.length, 1)
            yield* Deferred.succeed(answered, undefined)
            assert.strictEqual((yield* Fiber.join(calling)).length, 3)
          }))
    )

    it.live(
      "is collected by another client, after that which has begun it was asked and has gone",
      () =>
        over("the platform app", (port) =>
          Effect.gen(function*() {
            const url = `http://127.0.0.1:${port}/mcp`
            const asked = yield* Deferred.make<void>()
            const silent = ClientFeatures.elicitation(() =>
              Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never)
            )
            const taskId = yield* Effect.scoped(Effect.gen(function*() {
              const task = yield* TasksClient.start(yield* connect(url, version, silent), Book, { table: 4 })
              yield* Effect.forkScoped(Effect.ignore(task.result))
              yield* Deferred.await(asked)
              return Option.getOrThrow(task.taskId)
            }))
            const later = yield* connect(url, version)
            assert.deepStrictEqual(yield* (yield* TasksClient.attach(later, Book, taskId)).result, { booked: true })
          }))
    )
  })
}
