import { assert, describe, it } from "@effect/vitest"
import { ByteBuffer } from "../../../src/jsonrpc/runtime/ByteBuffer.js"

const collected = (pieces: ReadonlyArray<ReadonlyArray<number>>, maxBytes: number): ByteBuffer => {
  const buffer = new ByteBuffer(maxBytes)
  for (const piece of pieces) buffer.add(Uint8Array.from(piece))
  return buffer
}

describe("bytes that arrive in pieces", () => {
  it("are all there, in order", () => {
    assert.deepStrictEqual([...collected([], 9).all], [])
    assert.deepStrictEqual([...collected([[], [1], [], [2, 3], [4]], 9).all], [1, 2, 3, 4])
    assert.deepStrictEqual([...collected([[1, 2], [3]], 3).all], [1, 2, 3])
  })

  it("are not copied when they are one piece", () => {
    const piece = Uint8Array.of(1, 2)
    const buffer = new ByteBuffer(2)
    buffer.add(piece)
    assert.strictEqual(buffer.all.buffer, piece.buffer)
  })

  it("leave the pieces as they were", () => {
    const first = Uint8Array.of(1, 0, 0).subarray(0, 1)
    const buffer = new ByteBuffer(9)
    buffer.add(first)
    buffer.add(Uint8Array.of(2))
    assert.deepStrictEqual([...new Uint8Array(first.buffer)], [1, 0, 0])
  })

  it("take no more memory than twice their number, or than there may be", () => {
    const many = collected(Array.from({ length: 1000 }, () => [7]), 1000)
    assert.strictEqual(many.all.buffer.byteLength, 1000)
    assert.isAtMost(collected(Array.from({ length: 700 }, () => [7]), 100_000).all.buffer.byteLength, 1400)
  })

  it("are kept as far as they fit, and counted", () => {
    const buffer = new ByteBuffer(3)
    assert.isTrue(buffer.add(Uint8Array.of(1, 2)))
    assert.isTrue(buffer.add(Uint8Array.of(3)))
    assert.isFalse(buffer.add(Uint8Array.of(4)))
    assert.isFalse(buffer.add(Uint8Array.of()))
    assert.deepStrictEqual([...buffer.all], [1, 2, 3])
    assert.strictEqual(buffer.size, 4)
    assert.deepStrictEqual([...collected([[1, 2], [3, 4, 5]], 3).all], [1, 2, 3])
    assert.deepStrictEqual([...collected([[1, 2, 3, 4, 5]], 3).all], [1, 2, 3])
  })

  it("are counted when they are not needed, and begin again when all were used", () => {
    const buffer = collected([[1], [2]], 9)
    buffer.clear()
    assert.deepStrictEqual([buffer.size, ...buffer.all], [0])
    buffer.skip(Uint8Array.of(3, 4))
    assert.deepStrictEqual([buffer.size, ...buffer.all], [2])
    buffer.clear()
    buffer.add(Uint8Array.of(5))
    assert.deepStrictEqual([...buffer.all], [5])
  })

  it("can be freed when there are too many", () => {
    const buffer = collected([[1], [2, 3]], 2)
    buffer.free()
    assert.isFalse(buffer.add(Uint8Array.of(4)))
    assert.deepStrictEqual([...buffer.all], [])
  })
})
