import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "@effect-mcp/jsonrpc/InFlight"
import { Effect } from "effect"
import * as Carrier from "../src/Carrier.js"

const channel = (facts?: unknown): Channel => ({
  send: () => Effect.void,
  unsafeSend: () => true,
  ...(facts === undefined ? undefined : { facts })
})

describe("Carrier", () => {
  it.effect("is nothing for a channel that is no more than a pipe", () =>
    Effect.gen(function*() {
      const carrier = Carrier.of(channel())
      assert.deepStrictEqual([carrier.sessionId, carrier.headers, carrier.principal], [undefined, {}, undefined])
      yield* carrier.closeStream
    }))

  it("is what the channel knows of where it comes from", () => {
    const facts: Carrier.Carrier = { ...Carrier.none, sessionId: "s", headers: { host: "a" }, principal: { id: "p" } }
    assert.strictEqual(Carrier.of(channel(facts)), facts)
  })
})
