import { assert, describe, it } from "@effect/vitest"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { Either, Encoding, FastCheck as fc } from "effect"
import * as ListPage from "../../../src/server/features/ListPage.js"
import * as Paging from "../../../src/server/runtime/Paging.js"

const entries = (...keys: ReadonlyArray<string>) =>
  ListPage.sorted(keys.map((key) => [key, key.toUpperCase()] as const))

const page = (list: string, of: ReturnType<typeof entries>, cursor?: string, size?: number) =>
  Either.getOrThrow(ListPage.make(list, of, cursor, size))

describe("ListPage", () => {
  it("sorts by key, by code unit, and does not change the list", () => {
    const list = new Map([["b", 1], ["B", 2], ["ä", 3], ["a", 4]])
    assert.deepStrictEqual(ListPage.sorted(list), [["B", 2], ["a", 4], ["b", 1], ["ä", 3]])
    assert.deepStrictEqual([...list.keys()], ["b", "B", "ä", "a"])
  })

  it("holds a thousand entries by default", () => {
    const many = entries(...Array.from({ length: 1001 }, (_, i) => String(i)))
    assert.lengthOf(page("tools", many).items, 1000)
    assert.lengthOf(page("tools", many, undefined, 5).items, 5)
  })

  it("is empty, without a cursor, after the last entry", () => {
    const nothing = { items: [], nextCursor: undefined }
    assert.deepStrictEqual(page("tools", []), nothing)
    assert.deepStrictEqual(page("tools", entries("a"), Encoding.encodeBase64Url("tools:a")), nothing)
  })

  it("has no cursor when it ends exactly where the list does", () => {
    assert.isUndefined(page("tools", entries("a", "b"), undefined, 2).nextCursor)
    assert.isDefined(page("tools", entries("a", "b", "c"), undefined, 2).nextCursor)
  })

  it("refuses cursors of another list", () => {
    const of = entries("a", "b")
    const cursor = page("tools", of, undefined, 1).nextCursor!
    for (const foreign of ["!", "dG9vbHM", Encoding.encodeBase64Url("tools"), Encoding.encodeBase64Url(":a")]) {
      assert.instanceOf(Either.getOrThrow(Either.flip(ListPage.make("tools", of, foreign))), McpError.InvalidParams)
    }
    assert.isTrue(Either.isLeft(ListPage.make("prompts", of, cursor)))
    assert.isTrue(Either.isRight(ListPage.make("tools", of, cursor)))
  })

  it("accepts a cursor with any text in a key", () => {
    const of = entries("tools:", "a:b", "\u0000", "😀", "")
    const first = page("tools", of, undefined, 1)
    let { nextCursor } = first
    let items = first.items
    while (nextCursor !== undefined) {
      const next = page("tools", of, nextCursor, 1)
      items = items.concat(next.items)
      nextCursor = next.nextCursor
    }
    assert.deepStrictEqual(items, of.map(([, item]) => item))
  })

  it("after page gives every entry once and in order, whatever the size", () => {
    fc.assert(fc.property(
      fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 30 }),
      fc.integer({ min: -1, max: 7 }),
      (keys, size) => {
        const of = entries(...keys)
        let items: ReadonlyArray<string> = []
        let cursor: string | undefined
        for (let pages = 0; pages <= keys.length; pages++) {
          const next = page("tools", of, cursor, size)
          assert.isAtMost(next.items.length, Math.max(1, Math.floor(size)))
          items = items.concat(next.items)
          cursor = next.nextCursor
          if (cursor === undefined) break
        }
        assert.isUndefined(cursor)
        assert.deepStrictEqual(items, of.map(([, item]) => item))
      }
    ))
  })

  it("continues after a key that was removed, or never existed", () => {
    fc.assert(fc.property(
      fc.uniqueArray(fc.string({ maxLength: 2 }), { maxLength: 20 }),
      fc.string({ maxLength: 2 }),
      (keys, gone) => {
        const of = entries(...keys)
        const start = Either.getOrThrow(Paging.start("tools", of, Encoding.encodeBase64Url(`tools:${gone}`)))
        assert.deepStrictEqual(of.slice(start), of.filter(([key]) => key > gone))
      }
    ))
  })
})
