import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, LogLevel } from "effect"
import * as StoreFailure from "../../../src/server/telemetry/StoreFailure.js"

describe("a store that fails", () => {
  it.effect("is logged as an error when that begins, and again after an answer; each failure between at level Debug", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
        lines.push(`${logLevel.label} ${String(message)}`)
      })
      const logged = StoreFailure.once<{ readonly message: string }>("The store", ({ message }) => message !== "limit")
      const fail = (message: string) => Effect.ignore(logged(Effect.fail({ message })))
      yield* Effect.all([fail("a"), fail("b"), logged(Effect.void), fail("c"), fail("limit"), fail("d")]).pipe(
        Effect.provide(Logger.add(logger)),
        Logger.withMinimumLogLevel(LogLevel.Debug)
      )
      assert.deepStrictEqual(lines, [
        "ERROR The store failed: a",
        "DEBUG The store failed: b",
        "ERROR The store failed: c",
        "ERROR The store failed: d"
      ])
    }))

  it.effect("that an application has written fails with its defects", () =>
    Effect.gen(function*() {
      const total = StoreFailure.total("The store", (message) => ({ message }))
      const runs: ReadonlyArray<() => Effect.Effect<void, { readonly message: string }>> = [
        () => Effect.die(new Error("a bug")),
        () => {
          throw new Error("another bug")
        },
        () => Effect.fail({ message: "no answer" })
      ]
      const messages = yield* Effect.forEach(
        runs,
        (run) => Effect.map(Effect.flip(total(run)), ({ message }) => message)
      )
      const begins = ["Error: a bug", "Error: another bug", "no answer"]
      assert.deepStrictEqual(messages.map((message, n) => message.slice(0, begins[n]!.length)), begins)
    }))
})
