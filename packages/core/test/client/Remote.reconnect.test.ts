import { assert, describe, it } from "@effect/vitest"
import * as Remote from "@effect-mcp/core/Remote"
import { Chunk, Duration, Effect, Schedule } from "effect"

describe("Remote.reconnect", () => {
  it.effect("makes the waits before resuming longer each time, at random, up to 30 seconds", () =>
    Effect.gen(function*() {
      const waits = yield* Schedule.run(Schedule.delays(Remote.reconnect), 0, Array.from({ length: 20 }))
      const millis = Chunk.toArray(waits).map(Duration.toMillis)
      assert.lengthOf(millis, 20)
      for (const [i, wait] of millis.entries()) assert.isAtMost(wait, Math.min(1_000 * 1.5 ** i, 30_000))
    }))
})
