import { assert, describe, it } from "@effect/vitest"
import * as RemoteOptions from "@effect-mcp/client/RemoteOptions"
import { Chunk, Duration, Effect, Schedule } from "effect"

describe("The options of a remote server", () => {
  it("have bounds that hold when nothing is said", () => {
    const { headers, headersEffect, reconnect: _, ...rest } = RemoteOptions.resolve({})
    assert.deepStrictEqual({ ...headers }, {})
    assert.isUndefined(headersEffect)
    assert.deepStrictEqual(rest, {
      transport: "auto",
      authorize: undefined,
      onRenewed: undefined,
      standalone: true,
      maxResumes: 5,
      maxRedirects: 3,
      maxInFlight: 64,
      capacity: 256,
      maxBodyBytes: 10 * 1024 * 1024,
      maxEventBytes: 10 * 1024 * 1024,
      maxDepth: 64,
      maxNodes: 100_000,
      maxResponseNodes: 1_000_000,
      acceptTimeout: 30_000,
      closeTimeout: 1_000,
      tracing: false
    })
  })

  it("take headers by any case, without those of the protocol, or an effect that makes them", () => {
    const { headers } = RemoteOptions.resolve({ headers: { "X-A": "1", ACCEPT: "x", "Mcp-Session-Id": "y" } })
    assert.deepStrictEqual({ ...headers }, { "x-a": "1" })
    const effect = Effect.succeed({})
    assert.strictEqual(RemoteOptions.resolve({ headers: effect }).headersEffect, effect)
  })

  it.effect("wait longer each time, by chance, and never for more than 30 seconds", () =>
    Effect.gen(function*() {
      const waits = yield* Schedule.run(Schedule.delays(RemoteOptions.reconnect), 0, Array.from({ length: 20 }))
      const millis = Chunk.toArray(waits).map(Duration.toMillis)
      assert.lengthOf(millis, 20)
      for (const [i, wait] of millis.entries()) assert.isAtMost(wait, Math.min(1_000 * 1.5 ** i, 30_000))
    }))
})
