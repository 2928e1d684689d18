/**
 * Servers that join and leave a group at the same time, under schedulers that take the next step of any fiber at random:
 * every operation ends, and nothing is left.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import { Effect, Exit, Fiber, Logger, LogLevel, Option, Scope } from "effect"
import { one } from "../Groups.js"
import { random, randomScheduler } from "../RandomScheduler.js"

const operations = Effect.gen(function*() {
  const connector = yield* InProcess.connector
  const scope = yield* Scope.make()
  const group = yield* Scope.extend(ClientSessionGroup.make(), scope)
  const turns = (count: number) => Effect.repeatN(Effect.yieldNow(), count)
  const connect = (name: string) => Effect.exit(group.connect(name, connector))
  return { group, scope, turns, connect }
})

describe("A group under random schedulers", () => {
  for (const ending of ["disconnect", "disconnect twice", "close", "interrupt"] as const) {
    it.live(`ends \`connect\` when a server is removed meanwhile: ${ending}`, () =>
      Effect.gen(function*() {
        for (let seed = 1; seed <= 60; seed++) {
          const next = random(seed)
          const wait = Math.floor(next() * 60)
          const run = Effect.gen(function*() {
            const { connect, group, scope, turns } = yield* operations
            const connecting = yield* Effect.forkDaemon(connect("a"))
            const other = yield* Effect.forkDaemon(connect("b"))
            yield* turns(wait)
            const disconnect = Effect.exit(group.disconnect("a"))
            if (ending === "disconnect") yield* disconnect
            if (ending === "disconnect twice") yield* Effect.all([disconnect, disconnect], { concurrency: 2 })
            if (ending === "interrupt") yield* Fiber.interrupt(connecting)
            if (ending === "close") yield* Scope.close(scope, Exit.void)
            yield* Fiber.await(connecting)
            yield* Fiber.await(other)
            // The name is free again.
            if (ending === "disconnect") assert.isTrue(Exit.isSuccess(yield* connect("a")))
            yield* Scope.close(scope, Exit.void)
          }).pipe(Effect.withScheduler(randomScheduler(next)), Logger.withMinimumLogLevel(LogLevel.None))
          const ended = yield* Effect.timeoutOption(Effect.disconnect(run), "30 seconds")
          assert.isTrue(Option.isSome(ended), `seed ${seed}, after ${wait} turns`)
        }
      }).pipe(Effect.provide(McpServer.layer({ name: "test", version: "1" }, one))), 60_000)
  }
})
