import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "@effect-mcp/core/Side"
import { Effect } from "effect"
import * as RequestOrigin from "../../../src/server/runtime/RequestOrigin.js"

const channel = (facts?: unknown): Channel => ({
  send: () => Effect.void,
  unsafeSend: () => true,
  ...(facts === undefined ? undefined : { origin: facts })
})

describe("RequestOrigin", () => {
  it.effect("is empty for the channel of a transport other than HTTP", () =>
    Effect.gen(function*() {
      const carrier = RequestOrigin.of(channel())
      assert.deepStrictEqual([carrier.sessionId, carrier.headers, carrier.principal], [undefined, {}, undefined])
      yield* carrier.closeStream
    }))

  it("is the origin that the channel has", () => {
    const facts: RequestOrigin.RequestOrigin = {
      ...RequestOrigin.none,
      sessionId: "s",
      headers: { host: "a" },
      principal: { id: "p" }
    }
    assert.strictEqual(RequestOrigin.of(channel(facts)), facts)
  })
})
