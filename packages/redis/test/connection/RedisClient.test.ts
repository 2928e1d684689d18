import { assert, describe, it } from "@effect/vitest"
import * as Deadlines from "@effect-mcp/core/unstable/kit/Deadlines"
import { Effect, Exit, Fiber } from "effect"
import type { Redis } from "ioredis"
import { EventEmitter } from "node:events"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { Client } from "../../src/connection/RedisClient.js"

describe("A command that waits for a connection", () => {
  it.scopedLive("leaves its place wherever it is interrupted", () =>
    Effect.gen(function*() {
      const driver = Object.assign(new EventEmitter(), { status: "connecting" })
      const settings = { timeout: 60_000, maxWaiting: 1, maxWaitingSize: 1000 }
      const { ready } = new Client(
        driver as unknown as Redis,
        settings,
        yield* Deadlines.make()
      )
      yield* preempted(Effect.gen(function*() {
        const interrupted = yield* Effect.forkDaemon(ready)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(interrupted)
      }))
      const listening = driver.listenerCount("ready")
      const waiting = yield* Effect.forkDaemon(ready)
      yield* Effect.repeat(Effect.yieldNow(), {
        until: () => driver.listenerCount("ready") > listening || waiting.unsafePoll() !== null
      })
      driver.emit("ready")
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(waiting)))
    }))
})
