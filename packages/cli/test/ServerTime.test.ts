/**
 * The time of a command for its server, on a test clock, and the words of a command that runs out of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inFlags } from "../src/CommandFailure.js"
import * as ServerTime from "../src/ServerTime.js"
import { folder, isAlive, run } from "./Program.js"

describe("The time of a command for its server", () => {
  it.effect("ends the command when it has passed, whatever the command does", () =>
    Effect.gen(function*() {
      const { limit } = yield* ServerTime.make(3)
      const fiber = yield* Effect.fork(Effect.flip(limit("weather")(Effect.never)))
      yield* TestClock.adjust("2999 millis")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      const { kind, message } = yield* Fiber.join(fiber)
      assert.strictEqual(kind, "timeout")
      assert.match(message, /^weather did not answer in time, within 3 seconds\. --timeout SECONDS waits longer$/)
    }))

  it.effect("stands still while a person answers", () =>
    Effect.gen(function*() {
      const { limit, stop } = yield* ServerTime.make(3)
      const answer = yield* Deferred.make<void>()
      const fiber = yield* Effect.sleep("2 seconds").pipe(
        Effect.zipRight(stop(Deferred.await(answer))),
        Effect.zipRight(Effect.never),
        limit("weather"),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("2 seconds")
      yield* TestClock.adjust("1 hour")
      assert.isNull(fiber.unsafePoll())
      yield* Deferred.succeed(answer, undefined)
      yield* TestClock.adjust("999 millis")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).kind, "timeout")
    }))

  it.scopedLive("is also that of a server that is deaf to its end", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const script = `require("node:fs").appendFileSync("pids", process.pid + " ")
        process.on("SIGTERM", () => {})
        setInterval(() => {}, 1000)`
      const { code, err } = yield* run(["ping", "--timeout", "1", "--", process.execPath, "-e", script], { cwd })
      assert.deepStrictEqual([code, err], [
        4,
        "node did not answer in time, within 1 second. --timeout SECONDS waits longer\n"
      ])
      const pids = readFileSync(`${cwd}/pids`, "utf8").trim().split(" ")
      assert.deepStrictEqual(pids.filter((pid) => isAlive(Number(pid))), [])
    }))
})

describe("What the library says to the author of a program", () => {
  it("reaches the user of a command with the options of the command line", () => {
    const packages = fileURLToPath(new URL("../..", import.meta.url))
    const files = ["core/src/client", "core/src/jsonrpc", "auth/src", "node/src"].flatMap((folder) =>
      readdirSync(join(packages, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts")).map((name) => join(packages, folder, name))
    )
    const texts = files.flatMap((file) =>
      readFileSync(file, "utf8").split("\n")
        .filter((line) => !/^\s*(\*|\/)/.test(line) && /option \\?`\w/.test(line))
        .map((line) => line.replaceAll("\\`", "`"))
    )
    assert.isAbove(texts.length, 8)
    assert.deepStrictEqual(texts.filter((text) => /option `(?!prior)/.test(inFlags(text))), [])
  })
})
