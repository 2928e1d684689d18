import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, TestClock } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

/** A conversation that reads the standalone stream. */
const reading = (options?: Parameters<typeof ScriptedServer.connect>[0]) =>
  Effect.gen(function*() {
    const pair = yield* Effect.orDie(ScriptedServer.connect(options))
    yield* ScriptedServer.initialize(pair, { id: "s-1" })
    const stream = yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.events())
    return { stream, pair }
  })

describe("Events", () => {
  it.scoped("count as cut off when no byte comes for as long as `readTimeout`; a comment is enough", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* reading({ readTimeout: "1 minute", reconnect: Schedule.spaced("1 second") })
      yield* stream.push("id: 7\ndata: \n\n")
      yield* TestClock.adjust("50 seconds")
      yield* stream.push(": still here\n\n")
      yield* TestClock.adjust("59 seconds")
      yield* pair.quiet
      assert.isFalse(stream.isOver())
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* pair.expect("GET")).headers["last-event-id"], "7")
      assert.isTrue(stream.isOver())
    }))

  it.scoped("that are too large cost themselves only", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* reading({ limits: { maxEventBytes: 100 } })
      yield* stream.push(`data: ${"x".repeat(200)}\n\ndata: {"jsonrpc":"2.0","method":"next"}\n\n`)
      yield* pair.quiet
      assert.deepStrictEqual(pair.received, ["next"])
      assert.deepStrictEqual(pair.diagnostics.map(({ _tag }) => _tag), ["Malformed"])
    }))

  it.scoped("let the event loop turn while many of them come at once", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* reading()
      let turns = 0
      let isOver = false
      const count = () => {
        turns++
        if (!isOver) setImmediate(count)
      }
      yield* stream.push("data: {no}\n\n".repeat(20_000) + "data: {\"jsonrpc\":\"2.0\",\"method\":\"next\"}\n\n")
      setImmediate(count)
      yield* pair.quiet
      while (pair.received.length === 0) {
        yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
      }
      isOver = true
      assert.deepStrictEqual(pair.received, ["next"])
      // The client reads a thousand of them in one turn.
      assert.isAtLeast(turns, 15)
    }))
})
