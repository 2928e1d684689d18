import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as EndpointContext from "../../src/http/EndpointContext.js"
import { Visit } from "./Visit.js"

describe("EndpointContext", () => {
  it.scoped("opens streams as the options say", () =>
    Effect.gen(function*() {
      const context = yield* EndpointContext.make({ capacity: 1 })
      const visit = new Visit("GET", "/mcp", {})
      let closed = 0
      const stream = context.stream(visit, () => closed++, { "x-more": "y" })
      assert.strictEqual(visit.sent["x-more"], "y")
      visit.stalled = true
      stream.push("a")
      stream.push("b")
      assert.isTrue(stream.isFull)
      visit.hangUp()
      assert.strictEqual(closed, 1)
    }))
})
