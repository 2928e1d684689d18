import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import { Effect } from "effect"
import * as RequestOrigin from "../../src/runtime/RequestOrigin.js"

const channel = (facts?: unknown): Channel => ({
  send: () => Effect.void,
  unsafeSend: () => true,
  ...(facts === undefined ? undefined : { origin: facts })
})

describe("Carrier", () => {
  it.effect("is nothing for a channel that is no more than a pipe", () =>
    Effect.gen(function*() {
      const carrier = RequestOrigin.of(channel())
      assert.deepStrictEqual([carrier.sessionId, carrier.headers, carrier.principal], [undefined, {}, undefined])
      yield* carrier.closeStream
    }))

  it("is what the channel knows of where it comes from", () => {
    const facts: RequestOrigin.RequestOrigin = {
      ...RequestOrigin.none,
      sessionId: "s",
      headers: { host: "a" },
      principal: { id: "p" }
    }
    assert.strictEqual(RequestOrigin.of(channel(facts)), facts)
  })
})
