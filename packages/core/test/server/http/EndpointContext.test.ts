import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, TestClock } from "effect"
import * as EndpointContext from "../../../src/server/http/EndpointContext.js"
import { TestExchange } from "./TestExchange.js"

describe("EndpointContext", () => {
  it.scoped("opens streams with the options of the endpoint", () =>
    Effect.gen(function*() {
      const context = yield* EndpointContext.make({ limits: { capacity: 1 } })
      const exchange = new TestExchange("GET", "/mcp", {})
      let closed = 0
      const stream = context.stream(exchange, () => closed++, { "x-more": "y" })
      assert.strictEqual(exchange.sent["x-more"], "y")
      exchange.stalled = true
      stream.push("a")
      stream.push("b")
      assert.isTrue(stream.isFull)
      exchange.hangUp()
      assert.strictEqual(closed, 1)
    }))

  it.scoped("keeps deadlines for a request by a timer that ends when it is stopped", () =>
    Effect.gen(function*() {
      // A layer is built uninterruptibly, and so it makes the runtime of the timer.
      const context = yield* Effect.uninterruptible(EndpointContext.make({ keepAlive: "10 seconds" }))
      let sweeps = 0
      context.sweeper.watch({ sweep: () => (sweeps++, Infinity) }, Infinity)
      const stop = context.tick()
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual(sweeps, 2)
      stop()
      yield* TestClock.adjust("25 seconds")
      assert.deepStrictEqual([sweeps, yield* TestClock.sleeps()], [2, Chunk.empty()])
      const never = yield* EndpointContext.make({ keepAlive: Infinity })
      never.tick()()
      assert.deepStrictEqual(yield* TestClock.sleeps(), Chunk.empty())
    }))

  it.scoped("sweeps no more often for the timers of many requests, and misses no deadline by more than a second", () =>
    Effect.gen(function*() {
      const context = yield* EndpointContext.make({ keepAlive: "10 seconds" })
      const sweeps: Array<number> = []
      context.sweeper.watch({ sweep: (now) => (sweeps.push(now), Infinity) }, Infinity)
      const stops = Array.from({ length: 50 }, () => context.tick())
      yield* TestClock.adjust("500 millis")
      stops.push(context.tick())
      yield* TestClock.adjust("12 seconds")
      assert.isBelow(sweeps.length, 5)
      // The last timer is due half a second after a sweep.
      assert.isTrue(sweeps.some((at) => at >= 10_500 && at <= 11_500), sweeps.join())
      for (const stop of stops) stop()
    }))
})
