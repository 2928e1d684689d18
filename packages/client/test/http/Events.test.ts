import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Played from "./Played.js"

/** A conversation that reads the standalone stream. */
const reading = (options?: Parameters<typeof Played.connect>[0]) =>
  Effect.gen(function*() {
    const talk = yield* Effect.orDie(Played.connect(options))
    yield* Played.shake(talk, { id: "s-1" })
    const stream = yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.events())
    return { stream, talk }
  })

describe("Events", () => {
  it.scoped("are the same, however their bytes are cut", () =>
    Effect.gen(function*() {
      const text = "\uFEFF: hi\r\n\r\nid: 1\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\r\ndata: \"ä€😀\"}\r\n\r\n" +
        "retry: 500\n\ndata\n\n"
      const bytes = new TextEncoder().encode(text)
      for (const size of [1, 2, 3, 7, 1000]) {
        const { stream, talk } = yield* reading()
        for (let at = 0; at < bytes.length; at += size) yield* stream.push(bytes.slice(at, at + size))
        yield* stream.end
        yield* talk.quiet
        assert.deepStrictEqual([talk.heard, talk.diagnostics], [["ä€😀"], []])
        yield* TestClock.adjust(499)
        yield* talk.quiet
        yield* TestClock.adjust(1)
        const { headers } = yield* talk.expect("GET")
        assert.strictEqual(headers["last-event-id"], "1")
      }
    }))

  it.scoped("that are too large cost themselves only", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* reading({ maxEventBytes: 100 })
      yield* stream.push(`data: ${"x".repeat(200)}\n\ndata: {"jsonrpc":"2.0","method":"next"}\n\n`)
      yield* talk.quiet
      assert.deepStrictEqual(talk.heard, ["next"])
      assert.deepStrictEqual(talk.diagnostics.map(({ _tag }) => _tag), ["Malformed"])
    }))
})
