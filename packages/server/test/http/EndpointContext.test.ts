import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as EndpointContext from "../../src/http/EndpointContext.js"
import { TestExchange } from "./TestExchange.js"

describe("EndpointContext", () => {
  it.scoped("opens streams with the options of the endpoint", () =>
    Effect.gen(function*() {
      const context = yield* EndpointContext.make({ capacity: 1 })
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
})
