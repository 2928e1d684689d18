import { assert, describe, it } from "@effect/vitest"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Outbound from "@effect-mcp/core/Outbound"
import { Effect } from "effect"

describe("Outbound.none", () => {
  it.effect("refuses every request and names it", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Outbound.none.request("roots/list", {}, { timeout: 0 }))
      assert.instanceOf(error, LocalError.NoBackChannel)
      assert.strictEqual(error.method, "roots/list")
      assert.include(error.message, "roots/list")
    }))

  it.effect("drops every notification", () => Outbound.none.notify("notifications/message", { data: 1 }))
})
