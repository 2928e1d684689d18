import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Queue, Scope } from "effect"
import { PassThrough } from "node:stream"
import * as Stderr from "../../src/subprocess/Stderr.js"

const bytes = (text: string) => new TextEncoder().encode(text)

const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("Stderr", () => {
  it("keeps the last lines, whole", () => {
    const tail = new Stderr.Tail()
    assert.strictEqual(tail.text, "")
    tail.push(bytes("first\n"))
    assert.strictEqual(tail.text, "first")
    for (let n = 0; n < 1000; n++) tail.push(bytes(`line ${n}\n`))
    const lines = tail.text.split("\n")
    assert.strictEqual(lines.at(-1), "line 999")
    assert.isTrue(lines.every((line) => /^line \d+$/.test(line)))
    assert.isAtMost(tail.text.length, Stderr.TAIL_BYTES)
    assert.isAbove(tail.text.length, Stderr.TAIL_BYTES - 20)
  })

  it("keeps the end of one long chunk, and of one long line nothing but its end", () => {
    const tail = new Stderr.Tail()
    tail.push(bytes("x".repeat(100_000) + "\nlast\n"))
    assert.strictEqual(tail.text, "last")
    const long = new Stderr.Tail()
    long.push(bytes("x".repeat(100_000)))
    assert.strictEqual(long.text, "x".repeat(Stderr.TAIL_BYTES))
  })

  it("cuts lines wherever the chunks are cut", () => {
    const all = bytes("one\r\ntwo €\n\nlast")
    for (const size of [1, 2, 5, 100]) {
      const lines: Array<string> = []
      const cutter = new Stderr.Lines((line) => lines.push(line))
      for (let at = 0; at < all.length; at += size) cutter.push(all.subarray(at, at + size))
      cutter.end()
      assert.deepStrictEqual(lines, ["one", "two €", "", "last"])
    }
  })

  it("hands a line that is too long over in parts", () => {
    const lines: Array<string> = []
    const cutter = new Stderr.Lines((line) => lines.push(line))
    for (let n = 0; n < 10; n++) cutter.push(bytes("x".repeat(Stderr.MAX_LINE / 4)))
    cutter.end()
    assert.strictEqual(lines.length, 3)
    assert.isTrue(lines.every((line) => line.length <= Stderr.MAX_LINE))
  })

  it.scoped("gives each line to a function, one after another, whatever that does", () =>
    Effect.gen(function*() {
      const heard = yield* Queue.unbounded<string>()
      const log = yield* Stderr.make((line) =>
        line === "bad" ? Effect.die("wet") : Effect.asVoid(Queue.offer(heard, line))
      )
      const stream = new PassThrough()
      log.attach(stream)
      stream.end("one\nbad\ntwo\nthree")
      yield* log.ended
      assert.deepStrictEqual(
        yield* Effect.all([Queue.take(heard), Queue.take(heard), Queue.take(heard)]),
        ["one", "two", "three"]
      )
      assert.strictEqual(log.tail(), "one\nbad\ntwo\nthree")
    }))

  it.scoped("reads on while the function is slow, and says how many lines it lost", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const go = yield* Deferred.make<void>()
      const log = yield* Stderr.make((line) =>
        Effect.zipRight(
          Deferred.await(go),
          Effect.sync(() => {
            heard.push(line)
          })
        )
      )
      const stream = new PassThrough()
      log.attach(stream)
      stream.write("x\n".repeat(Stderr.MAX_LINES * 3))
      yield* turn
      yield* turn
      assert.strictEqual(stream.readableLength, 0)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.repeat(turn, { until: () => heard.length >= Stderr.MAX_LINES })
      stream.end("last\n")
      yield* log.ended
      yield* Effect.repeat(turn, { until: () => heard.includes("last") })
      assert.match(heard.at(-2)!, /^\[\d+ lines were lost\]$/)
    }))

  it.scoped("reports the lines that it lost at the very end", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const go = yield* Deferred.make<void>()
      const log = yield* Stderr.make((line) =>
        Effect.zipRight(
          Deferred.await(go),
          Effect.sync(() => {
            heard.push(line)
          })
        )
      )
      const stream = new PassThrough()
      log.attach(stream)
      const count = Stderr.MAX_LINES * 3
      stream.end("x\n".repeat(count))
      yield* log.ended
      yield* Deferred.succeed(go, undefined)
      yield* Effect.repeat(turn, { until: () => heard.some((line) => line !== "x") })
      assert.strictEqual(heard.at(-1), `[${count - (heard.length - 1)} lines were lost]`)
    }))

  it.effect("hears the last lines out when it closes", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const scope = yield* Scope.make()
      const log = yield* Scope.extend(
        Stderr.make((line) =>
          Effect.zipRight(
            turn,
            Effect.sync(() => {
              heard.push(line)
            })
          )
        ),
        scope
      )
      const stream = new PassThrough()
      log.attach(stream)
      stream.write("one\ntwo\nthree")
      yield* turn
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(heard, ["one", "two", "three"])
    }))

  it.scoped("has nothing to wait for when the server inherits our stderr", () =>
    Effect.gen(function*() {
      const log = yield* Stderr.make("inherit")
      yield* log.ended
      assert.strictEqual(log.tail(), "")
    }))
})
