/**
 * Waits for tasks that are interrupted at the same time as others, under schedulers that take the next step of any fiber at
 * random: they leave nothing behind that a later wait would wait for, and ask the user no question again that has an answer.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, Schema } from "effect"
import { random, randomScheduler } from "./RandomScheduler.js"

const SEEDS = process.env.EFFECT_MCP_TEST_LONG === undefined ? 6 : 25

const server = McpServer.layer(
  { name: "test", version: "1" },
  Layer.merge(
    McpServer.tool(
      Tool.make("sure", { task: "required" }),
      () =>
        Effect.flatMap(
          ServerSession,
          ({ elicit }) => Effect.asVoid(elicit({ message: "?", schema: Schema.Struct({ sure: Schema.Boolean }) }))
        )
    ),
    TasksServer.layerWith({ pollInterval: 1, limits: { maxRunning: 1000 } })
  ),
  { extensions: [TasksServer.extension] }
).pipe(Layer.provide(TaskStore.layerMemory))

const accepts = ClientFeatures.elicitation(() =>
  Effect.as(Effect.repeatN(Effect.yieldNow(), 3), { action: "accept", content: { sure: true } } as const)
)

const waits: Readonly<
  Record<string, (client: ClientSessionService) => Effect.Effect<Effect.Effect<unknown, ClientError>, ClientError>>
> = {
  "for one task": (client) => Effect.map(TasksClient.start(client, "sure"), ({ result }) => result),
  "for the tasks of calls": (client) => Effect.succeed(client.callTool("sure"))
}

describe("Waits that are interrupted under random schedulers", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    for (const [name, make] of Object.entries(waits)) {
      it.live(`end, and so do the waits beside and after them: ${name}, at ${version}`, () =>
        Effect.gen(function*() {
          const connector = yield* InProcess.connector
          for (let seed = 1; seed <= SEEDS; seed++) {
            const next = random(seed)
            const wait = Math.floor(next() * 400)
            const run = Effect.gen(function*() {
              const client = yield* Client.make(connector, {
                versions: [version],
                checkOutputs: false,
                extensions: [TasksClient.extension],
                features: accepts
              })
              const waiting = yield* make(client)
              const [first, second, third] = yield* Effect.forEach([0, 1, 2], () => Effect.forkDaemon(waiting))
              yield* Effect.repeatN(Effect.yieldNow(), wait)
              yield* Fiber.interruptFork(first!)
              yield* Effect.repeatN(Effect.yieldNow(), Math.floor(next() * 5))
              yield* Fiber.interruptFork(second!)
              yield* Fiber.awaitAll([first!, second!])
              assert.isTrue(Exit.isSuccess(yield* Fiber.await(third!)))
              yield* waiting
            }).pipe(Effect.scoped, Effect.withScheduler(randomScheduler(next)))
            const ended = yield* Effect.timeoutOption(Effect.disconnect(run), "30 seconds")
            assert.isTrue(Option.isSome(ended), `seed ${seed}, after ${wait} turns`)
          }
        }).pipe(Effect.provide(server), Logger.withMinimumLogLevel(LogLevel.None)), 60_000)
    }
  }
})
