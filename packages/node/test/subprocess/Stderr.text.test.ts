import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import * as Stderr from "../../src/subprocess/Stderr.js"

const bytes = (text: string) => new TextEncoder().encode(text)

const tailOf = (...chunks: ReadonlyArray<string>) =>
  Stderr.textOfTail(chunks.map(bytes).reduce(Stderr.appendTail, Stderr.emptyTail))

const linesOf = (chunks: ReadonlyArray<Uint8Array>) =>
  Effect.map(Stream.runCollect(Stderr.linesOf(Stream.fromIterable(chunks))), Chunk.toArray)

describe("The text of stderr", () => {
  it("keeps the last complete lines", () => {
    assert.strictEqual(tailOf(), "")
    assert.strictEqual(tailOf("first\n"), "first")
    const tail = tailOf("first\n", ...Array.from({ length: 1000 }, (_, n) => `line ${n}\n`))
    const lines = tail.split("\n")
    assert.strictEqual(lines.at(-1), "line 999")
    assert.isTrue(lines.every((line) => /^line \d+$/.test(line)))
    assert.isAtMost(tail.length, Stderr.TAIL_BYTES)
    assert.isAbove(tail.length, Stderr.TAIL_BYTES - 20)
  })

  it("keeps the end of a long chunk, and only the end of a long line", () => {
    assert.strictEqual(tailOf("x".repeat(100_000) + "\nlast\n"), "last")
    assert.strictEqual(tailOf("x".repeat(100_000)), "x".repeat(Stderr.TAIL_BYTES))
  })

  it.effect("gives the same lines however the bytes are cut into chunks", () =>
    Effect.gen(function*() {
      const all = bytes("one\r\ntwo €\n\nlast")
      for (const size of [1, 2, 5, 100]) {
        const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
          all.subarray(n * size, (n + 1) * size))
        assert.deepStrictEqual(yield* linesOf(chunks), ["one", "two €", "", "last"])
      }
      assert.deepStrictEqual(yield* linesOf([bytes("one\n")]), ["one"])
      assert.deepStrictEqual(yield* linesOf([]), [])
    }))

  it.effect("delivers a line that is too long in parts", () =>
    Effect.gen(function*() {
      const part = bytes("x".repeat(Stderr.MAX_LINE / 4))
      const lines = yield* linesOf(Array.from({ length: 10 }, () => part))
      assert.strictEqual(lines.length, 3)
      assert.isTrue(lines.every((line) => line.length <= Stderr.MAX_LINE))
    }))
})
