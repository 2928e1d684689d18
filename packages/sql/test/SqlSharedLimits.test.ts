import { assert, describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlSharedLimits from "@effect-mcp/sql/SqlSharedLimits"
import * as SharedLimitsLaws from "@effect-mcp/testing/SharedLimitsLaws"
import { Effect } from "effect"
import { engines } from "./Engines.js"

describe.each(engines)("limits in $engine", ({ pair }) => {
  for (const { check, name } of [...SharedLimitsLaws.laws, ...SharedLimitsLaws.timed]) {
    it.scopedLive(name, () => check(pair(SqlSharedLimits.make)))
  }

  it.scopedLive("limits rates of more than one in a millisecond", () =>
    Effect.gen(function*() {
      const [{ take }] = yield* pair(SqlSharedLimits.make)
      const taking = take("k", { burst: 10, every: "400 micros" }, 10)
      const waits = yield* Effect.all(Array.from({ length: 100 }, () => taking), { concurrency: "unbounded" })
      assert.isTrue(waits.some((wait) => wait > 0))
    }))

  it.scopedLive("allows as much as at first, and no more, when a time has passed, before its row is deleted", () =>
    Effect.gen(function*() {
      const [[{ run, sql, table }, { once, take }]] = yield* pair(
        Effect.zip(SqlConnection.SqlConnection, SqlSharedLimits.make)
      )
      const taking = take("k", { burst: 3, every: "1 hour" })
      for (const round of ["first", "second"]) {
        for (let n = 0; n < 3; n++) assert.strictEqual(yield* taking, 0, round)
        assert.isAbove(yield* taking, 3_500_000)
        assert.isTrue(yield* once("k", "1 hour"))
        assert.isFalse(yield* once("k", "1 hour"))
        for (const name of ["rates", "uses"]) {
          const passed = yield* run("let the time pass", sql`UPDATE ${table(name)} SET expires = 1 RETURNING key`)
          assert.lengthOf(passed, 1)
        }
      }
    }))

  it.scopedLive("counts keys of any length, and with any characters", () =>
    Effect.gen(function*() {
      const [{ once, take }] = yield* pair(SqlSharedLimits.make)
      for (const key of ["\0", "\0\0", "\ud800", "\ud801", "x".repeat(100_000)]) {
        assert.isTrue(yield* once(key, "1 hour"))
        assert.isFalse(yield* once(key, "1 hour"))
        assert.strictEqual(yield* take(key, { burst: 1, every: "1 hour" }), 0)
      }
    }))
})
