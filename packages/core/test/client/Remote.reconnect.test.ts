import { assert, describe, it } from "@effect/vitest"
import * as Remote from "@effect-mcp/core/Remote"
import { Duration, Effect, Schedule } from "effect"

describe("Remote.reconnect", () => {
  it.effect("makes the waits before resuming longer each time, at random, up to 30 seconds", () =>
    Effect.gen(function*() {
      const millis: Array<number> = []
      const schedule = Schedule.modifyDelay(Remote.reconnect, (_, delay) => {
        millis.push(Duration.toMillis(delay))
        return Duration.zero
      })
      yield* Effect.repeat(Effect.void, { schedule, times: 19 })
      assert.lengthOf(millis, 20)
      for (const [i, wait] of millis.entries()) assert.isAtMost(wait, Math.min(1_000 * 1.5 ** i, 30_000))
    }))
})
