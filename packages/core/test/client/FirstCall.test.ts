/** What a server sends during the first call of a client, which follows the connection at once. */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Deferred, Effect, Fiber, Queue, TestClock } from "effect"

const Server = McpServer.layer(
  { name: "chatty", version: "1.0.0" },
  McpServer.tool(
    Tool.make("chat"),
    () =>
      Effect.flatMap(ServerSession, (session) =>
        Effect.all([
          session.log("info", "one"),
          session.log("warning", "two"),
          session.progress(1),
          session.progress(2)
        ], { discard: true }))
  )
)

const connectors: ReadonlyArray<readonly [name: string, Effect.Effect<Connector, never, Dispatcher>]> = [
  ["in process", InProcess.connector],
  ["over a wire", TestServer.connector()]
]

for (const [name, connector] of connectors) {
  describe(`The first call of a client, ${name}`, () => {
    for (const version of Version.all) {
      it.scoped(`loses no log message and no progress at ${version}`, () =>
        Effect.gen(function*() {
          const logged = yield* Queue.unbounded<unknown>()
          const reported: Array<number> = []
          const client = yield* Client.make(yield* connector, {
            versions: [version],
            features: ClientFeatures.logging(({ data }) => Queue.offer(logged, data))
          })
          yield* client.callTool("chat", {}, {
            onProgress: ({ progress }) => Effect.sync(() => void reported.push(progress))
          })
          assert.deepStrictEqual(reported, [1, 2])
          assert.deepStrictEqual([yield* Queue.take(logged), yield* Queue.take(logged)], ["one", "two"])
        }).pipe(Effect.provide(Server)))

      it.effect(`handles the log messages that came before its answer also when the client closes at once (${version})`, () =>
        Effect.gen(function*() {
          const logged: Array<unknown> = []
          yield* Effect.scoped(Effect.gen(function*() {
            const client = yield* Client.make(yield* connector, {
              versions: [version],
              features: ClientFeatures.logging(({ data }) => Effect.sync(() => logged.push(data)))
            })
            yield* client.callTool("chat")
          }))
          assert.deepStrictEqual(logged, ["one", "two"])
        }).pipe(Effect.provide(Server)))
    }
  })
}

describe("A client whose handler of log messages waits for ever", () => {
  /** A client that has called "chat"; the scope closes with the exit of `after`. */
  const closing = (after: Effect.Effect<unknown, string>) =>
    Effect.gen(function*() {
      const [begun, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const handling = Effect.onInterrupt(
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
        () => Deferred.succeed(interrupted, undefined)
      )
      const fiber = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
        const client = yield* Client.make(yield* TestServer.connector(), {
          closeTimeout: "3 seconds",
          features: ClientFeatures.logging(() => handling)
        })
        yield* client.callTool("chat", {}, { logLevel: "debug" })
        yield* Deferred.await(begun)
        return yield* after
      })))
      yield* Deferred.await(begun)
      return { fiber, interrupted }
    })

  it.scoped("closes after closeTimeout", () =>
    Effect.gen(function*() {
      const { fiber, interrupted } = yield* closing(Effect.void)
      yield* TestClock.adjust("2999 millis")
      assert.isFalse(yield* Deferred.isDone(interrupted))
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }).pipe(Effect.provide(Server)))

  it.scoped("closes at once after a failure", () =>
    Effect.gen(function*() {
      const { fiber, interrupted } = yield* closing(Effect.fail("a failure"))
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "a failure")
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }).pipe(Effect.provide(Server)))
})
