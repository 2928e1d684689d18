import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ResolvedOptions from "../../../src/server/http/ResolvedOptions.js"

describe("ResolvedOptions", () => {
  it("fills in the defaults", () => {
    assert.deepStrictEqual(ResolvedOptions.make({}), {
      path: undefined,
      ssePath: undefined,
      responses: "auto",
      sessions: true,
      handshakeTimeout: 30_000,
      sessionIdPrefix: "",
      limits: {
        bodyTimeout: 60_000,
        maxIncompleteBytes: 134_217_728,
        maxBodyBytes: 4_194_304,
        maxDepth: 64,
        maxNodes: 100_000,
        maxResponseNodes: 1_000_000,
        capacity: 256,
        maxQueued: 16_777_216,
        maxUnsent: 268_435_456,
        stallTimeout: 30_000,
        maxSessions: 10_000,
        maxSessionsPerPrincipal: 1000,
        sessionIdleTimeout: 1_800_000
      },
      keepAlive: 15_000,
      retry: 1000,
      closeTimeout: 5000,
      drainTimeout: undefined,
      documents: undefined
    })
  })

  it("has the values of the application, durations in milliseconds", () => {
    const resolved = ResolvedOptions.make({
      limits: { maxSessions: 7, sessionIdleTimeout: "1 minute", stallTimeout: Duration.seconds(2), maxDepth: 3 },
      keepAlive: Infinity
    })
    assert.isTrue(resolved.sessions)
    assert.deepStrictEqual(
      [
        resolved.limits.maxSessions,
        resolved.limits.sessionIdleTimeout,
        resolved.keepAlive,
        resolved.limits.stallTimeout,
        resolved.limits.maxDepth
      ],
      [7, 60_000, Infinity, 2000, 3]
    )
    assert.isFalse(ResolvedOptions.make({ legacy: { sessions: false } }).sessions)
    assert.isTrue(ResolvedOptions.make({ legacy: { sessions: true } }).sessions)
    assert.strictEqual(ResolvedOptions.make({ limits: { maxSessions: 7 } }).limits.maxSessionsPerPrincipal, 1)
    assert.strictEqual(
      ResolvedOptions.make({ limits: { maxSessionsPerPrincipal: 7 } }).limits.maxSessionsPerPrincipal,
      7
    )
  })
})
