/**
 * Tests of a handler, in both eras: the answers of the person are scripted, and minutes pass at once. They need no test runner
 * of their own: here they run with Node's; docs/server/11-testing.md has the same for vitest.
 */
import * as Client from "@effect-mcp/core/Client"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import assert from "node:assert/strict"
import { test } from "node:test"
import { Late, Orders, OrdersLive, Shop } from "./server.js"

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  test(`orders what a person confirms, and does not wait for ever, at ${version}`, () =>
    Effect.gen(function*() {
      const person = TestFeatures.elicitation([
        { action: "accept", content: {} },
        { action: "accept", content: {} },
        { action: "decline" }
      ])
      // The shop tells the test of each order, so that no time passes before. It has tea within five minutes, and no milk.
      const ordered = yield* Queue.unbounded<string>()
      const shop = Shop.of({
        order: (item) =>
          Effect.zipRight(
            ordered.offer(item),
            item === "tea" ? Effect.delay(Effect.succeed(4), "5 minutes") : Effect.never
          )
      })
      const server = TestServer.layer(Orders, OrdersLive, { versions: [version], client: { features: person } })
      yield* Effect.gen(function*() {
        const orders = Client.of(yield* Client.Client, Orders)
        const tea = yield* Effect.fork(orders.order({ item: "tea" }, { timeout: "1 hour" }))
        assert.equal(yield* ordered.take, "tea")
        yield* TestClock.adjust("5 minutes")
        assert.deepEqual(yield* Fiber.join(tea), { price: 4 })
        const milk = yield* Effect.fork(Effect.flip(orders.order({ item: "milk" }, { timeout: "1 hour" })))
        assert.equal(yield* ordered.take, "milk")
        yield* TestClock.adjust("10 minutes")
        assert.deepEqual(yield* Fiber.join(milk), new Late({ item: "milk" }))
        assert.equal(yield* Effect.flip(orders.order({ item: "cake" })), "declined")
      }).pipe(Effect.provide(Layer.provide(server, Layer.succeed(Shop, shop))))
      const questions = (yield* person.requests).map(({ message }) => message)
      assert.deepEqual(questions, ["Order tea?", "Order milk?", "Order cake?"])
    }).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise))
}
