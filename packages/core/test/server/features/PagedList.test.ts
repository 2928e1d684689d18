import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { EntryTable } from "../../../src/server/features/EntryTable.js"
import * as PagedList from "../../../src/server/features/PagedList.js"

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
  return { list: (cursor?: string) => Either.getOrThrow(list(cursor)), asked: () => asked }
}

describe("PagedList", () => {
  it.scoped("gives the same object until an entry changes, and encodes no entry twice", () =>
    Effect.gen(function*() {
      const { asked, list } = listing(yield* tableOf("a", "b", "c"))
      const first = list()
      const second = list(first.nextCursor)
      assert.strictEqual(list(), first)
      assert.strictEqual(list(first.nextCursor), second)
      assert.strictEqual(asked(), 3)
    }))
})
