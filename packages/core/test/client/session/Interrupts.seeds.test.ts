/**
 * Calls that are interrupted at the same time as others, under schedulers that take the next step of any fiber at random:
 * those that wait for the same list, for the same subscription, or for answers of one round, leave nothing behind that a later
 * call would wait for.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, Schema } from "effect"
import { random, randomScheduler } from "../RandomScheduler.js"

const yes = Ask.elicit({ message: "?", schema: Schema.Struct({ sure: Schema.Boolean }) })

const server = McpServer.layer(
  { name: "test", version: "1" },
  Layer.mergeAll(
    McpServer.tool(
      Tool.make("count", { success: Schema.Struct({ n: Schema.Number }) }),
      () => Effect.succeed({ n: 1 })
    ),
    McpServer.tool(
      Tool.make("sure"),
      () => Effect.flatMap(ServerSession, (session) => Effect.asVoid(session.ask({ a: yes, b: yes, c: yes })))
    ),
    ...["test:a", "test:b", "test:c", "test:d"].map((uri) =>
      McpServer.resource(Resource.make(uri, { uri }), Effect.succeed("a note"))
    )
  )
)

const accepts = ClientFeatures.elicitation(() =>
  Effect.as(Effect.repeatN(Effect.yieldNow(), 3), { action: "accept", content: { sure: true } } as const)
)

interface Case {
  readonly versions?: Client.Options["versions"]
  /** A call; it is made several times at once, and afterwards. */
  readonly call: (client: ClientSessionService, n: number) => Effect.Effect<unknown, unknown>
}

const cases: Readonly<Record<string, Case>> = {
  "that wait for a list of output schemas": { call: (client) => client.callTool("count") },
  "that wait for a list of output schemas, in the legacy era": {
    versions: Version.legacy,
    call: (client) => client.callTool("count")
  },
  "that change the subscription": { call: (client, n) => client.subscribeResource(`test:${"abcd"[n]}`) },
  "that need several answers": { call: (client) => client.callTool("sure") }
}

describe("Calls that are interrupted under random schedulers", () => {
  for (const [name, { call, versions = Version.all }] of Object.entries(cases)) {
    it.live(`end, and so do the calls beside and after them: ${name}`, () =>
      Effect.gen(function*() {
        const connector = yield* InProcess.connector
        for (let seed = 1; seed <= 100; seed++) {
          const next = random(seed)
          const wait = Math.floor(next() * 60)
          const run = Effect.gen(function*() {
            const client = yield* Client.make(connector, { versions, checkOutputs: true, features: accepts })
            const [first, second, third] = yield* Effect.forEach(
              [0, 1, 2] as const,
              (n) => Effect.forkDaemon(call(client, n))
            )
            yield* Effect.repeatN(Effect.yieldNow(), wait)
            yield* Fiber.interruptFork(first!)
            yield* Effect.repeatN(Effect.yieldNow(), Math.floor(next() * 5))
            yield* Fiber.interruptFork(second!)
            yield* Fiber.awaitAll([first!, second!])
            assert.isTrue(Exit.isSuccess(yield* Fiber.await(third!)))
            yield* call(client, 3)
          }).pipe(
            Effect.scoped,
            Effect.withScheduler(randomScheduler(next)),
            Logger.withMinimumLogLevel(LogLevel.None)
          )
          const ended = yield* Effect.timeoutOption(Effect.disconnect(run), "30 seconds")
          assert.isTrue(Option.isSome(ended), `seed ${seed}, after ${wait} turns`)
        }
      }).pipe(Effect.provide(server)), 60_000)
  }
})
