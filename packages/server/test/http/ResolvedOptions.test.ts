import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ResolvedOptions from "../../src/http/ResolvedOptions.js"

describe("ResolvedOptions", () => {
  it("fills in the defaults", () => {
    assert.deepStrictEqual(ResolvedOptions.make({}), {
      path: undefined,
      ssePath: undefined,
      responses: "auto",
      sessions: true,
      maxSessions: 10_000,
      maxPerPrincipal: 1000,
      maxQueued: 16_777_216,
      maxUnsent: 268_435_456,
      idleTimeout: 1_800_000,
      handshakeTimeout: 30_000,
      idPrefix: "",
      maxBodyBytes: 4_194_304,
      maxDepth: 64,
      maxNodes: 100_000,
      maxResponseNodes: 1_000_000,
      capacity: 256,
      keepAlive: 15_000,
      stallTimeout: 30_000,
      retry: 1000,
      closeTimeout: 5000,
      drainTimeout: undefined,
      documents: undefined
    })
  })

  it("has the values of the application, durations in milliseconds", () => {
    const resolved = ResolvedOptions.make({
      legacy: { sessions: { max: 7, idleTimeout: "1 minute" } },
      keepAlive: Infinity,
      stallTimeout: Duration.seconds(2),
      maxDepth: 3
    })
    assert.isTrue(resolved.sessions)
    assert.deepStrictEqual(
      [resolved.maxSessions, resolved.idleTimeout, resolved.keepAlive, resolved.stallTimeout, resolved.maxDepth],
      [7, 60_000, Infinity, 2000, 3]
    )
    assert.isFalse(ResolvedOptions.make({ legacy: { sessions: false } }).sessions)
    assert.isTrue(ResolvedOptions.make({ legacy: { sessions: true } }).sessions)
    assert.strictEqual(ResolvedOptions.make({ legacy: { sessions: { max: 7 } } }).maxPerPrincipal, 1)
    assert.strictEqual(ResolvedOptions.make({ legacy: { sessions: { maxPerPrincipal: 7 } } }).maxPerPrincipal, 7)
  })
})
