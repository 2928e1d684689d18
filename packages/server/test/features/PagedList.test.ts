import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Encoding, Exit, Scope } from "effect"
import { EntryTable } from "../../src/features/EntryTable.js"
import * as PagedList from "../../src/features/PagedList.js"

interface Entry {
  readonly name: string
}

const tableOf = (...names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const table = new EntryTable<Entry>("entries named", ({ name }) => name)
    for (const name of names) yield* table.register({ name })
    return table
  })

const listing = (entries: EntryTable<Entry>, pageSize = 2) => {
  let asked = 0
  const list = PagedList.make({
    list: "entries",
    entries,
    pageSize,
    advertised: ({ name }) => {
      asked++
      return name.toUpperCase()
    },
    result: (names) => ({ names })
  })
  return { list: (cursor?: string) => Either.getOrThrow(list(cursor)), raw: list, asked: () => asked }
}

describe("PagedList", () => {
  it.scoped("gives page after page, in the order of keys", () =>
    Effect.gen(function*() {
      const { list } = listing(yield* tableOf("c", "a", "e", "b", "d"))
      const first = list()
      assert.deepStrictEqual(first.names, ["A", "B"])
      const second = list(first.nextCursor)
      assert.deepStrictEqual(second.names, ["C", "D"])
      assert.deepStrictEqual(list(second.nextCursor), { names: ["E"] })
    }))

  it.scoped("gives an empty page of an empty table", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(listing(yield* tableOf()).list(), { names: [] })
    }))

  it.scoped("gives the same object until an entry changes, and encodes no entry twice", () =>
    Effect.gen(function*() {
      const { asked, list } = listing(yield* tableOf("a", "b", "c"))
      const first = list()
      const second = list(first.nextCursor)
      assert.strictEqual(list(), first)
      assert.strictEqual(list(first.nextCursor), second)
      assert.strictEqual(asked(), 3)
    }))

  it.effect("gives the current entries after one was added or removed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const table = yield* Scope.extend(tableOf("b", "d"), scope)
      const { list } = listing(table)
      const before = list()
      const one = yield* Scope.make()
      yield* Scope.extend(table.register({ name: "a" }), one)
      const between = list()
      assert.deepStrictEqual(between.names, ["A", "B"])
      assert.deepStrictEqual(list(between.nextCursor).names, ["D"])
      yield* Scope.close(one, Exit.void)
      assert.deepStrictEqual(list(), before)
      assert.notStrictEqual(list(), before)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(list(), { names: [] })
    }))

  it.scoped("caches no page for a cursor that it does not give itself", () =>
    Effect.gen(function*() {
      const { asked, list } = listing(yield* tableOf("a", "b", "c", "d"))
      const madeUp = Encoding.encodeBase64Url("entries:a")
      const page = list(madeUp)
      assert.deepStrictEqual(page.names, ["B", "C"])
      const count = asked()
      assert.notStrictEqual(list(madeUp), page)
      assert.strictEqual(asked(), count + 2)
    }))

  it.scoped("refuses a cursor of another list", () =>
    Effect.gen(function*() {
      const { raw } = listing(yield* tableOf("a", "b", "c"))
      for (const cursor of ["", "nonsense", Encoding.encodeBase64Url("others:a")]) {
        const refused = raw(cursor)
        assert.strictEqual(Either.isLeft(refused) && refused.left._tag, "InvalidParams")
      }
    }))

  it.scoped("gives at least one entry on a page", () =>
    Effect.gen(function*() {
      for (const pageSize of [0, -1, NaN, 0.5]) {
        const { list } = listing(yield* tableOf("a", "b"), pageSize)
        const first = list()
        assert.deepStrictEqual(first.names, ["A"])
        assert.strictEqual(list(), first)
        assert.deepStrictEqual(list(first.nextCursor), { names: ["B"] })
      }
    }))
})
