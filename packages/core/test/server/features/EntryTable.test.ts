import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Scope } from "effect"
import { EntryTable } from "../../../src/server/features/EntryTable.js"

interface Book {
  readonly title: string
  readonly pages?: number
}

const books = () => new EntryTable<Book>("books named", ({ title }) => title)

describe("EntryTable", () => {
  it.effect("has an entry as long as the scope of its registration is open", () =>
    Effect.gen(function*() {
      const shelf = books()
      const scope = yield* Scope.make()
      const emma = { title: "Emma" }
      yield* Scope.extend(shelf.register(emma), scope)
      assert.strictEqual(shelf.get("Emma"), emma)
      assert.isTrue(shelf.has("Emma"))
      assert.deepStrictEqual([shelf.size, [...shelf.keys()], [...shelf.values()]], [1, ["Emma"], [emma]])
      assert.deepStrictEqual([...shelf], [["Emma", emma]])
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(shelf.get("Emma"))
      assert.isFalse(shelf.has("Emma"))
      assert.deepStrictEqual([shelf.size, [...shelf]], [0, []])
    }))

  it.scoped("dies when a key is taken, and names it; the first entry stays", () =>
    Effect.gen(function*() {
      const shelf = books()
      const first = { title: "Emma", pages: 1 }
      yield* shelf.register(first)
      const revision = shelf.revision
      const exit = yield* Effect.exit(Effect.scoped(shelf.register({ title: "Emma", pages: 2 })))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        `Two features of this server are books named "Emma"`
      )
      assert.strictEqual(shelf.get("Emma"), first)
      assert.strictEqual(shelf.revision, revision)
    }))

  it.effect("accepts a key again after its entry was removed", () =>
    Effect.gen(function*() {
      const shelf = books()
      yield* Effect.scoped(shelf.register({ title: "Emma", pages: 1 }))
      yield* Effect.scoped(Effect.zipRight(
        shelf.register({ title: "Emma", pages: 2 }),
        Effect.sync(() => assert.strictEqual(shelf.get("Emma")?.pages, 2))
      ))
    }))

  it.scoped("accepts keys that are members of every object", () =>
    Effect.gen(function*() {
      const shelf = books()
      for (const title of ["constructor", "__proto__", "toString", ""]) {
        assert.isFalse(shelf.has(title))
        yield* shelf.register({ title })
        assert.strictEqual(shelf.get(title)?.title, title)
      }
    }))

  it.effect("increments its revision whenever an entry is added or removed", () =>
    Effect.gen(function*() {
      const shelf = books()
      const seen = [shelf.revision]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* shelf.register({ title: "a" })
        seen.push(shelf.revision)
        yield* shelf.register({ title: "b" })
        seen.push(shelf.revision)
      }))
      seen.push(shelf.revision)
      assert.deepStrictEqual(seen, [0, 1, 2, 4])
    }))

  it.effect("remembers that it had an entry", () =>
    Effect.gen(function*() {
      const shelf = books()
      assert.isFalse(shelf.wasUsed)
      yield* Effect.scoped(shelf.register({ title: "a" }))
      assert.isTrue(shelf.wasUsed)
      assert.strictEqual(shelf.size, 0)
    }))

  it.effect("calls listeners after a change can be seen, until the listener's scope closes", () =>
    Effect.gen(function*() {
      const shelf = books()
      const heard: Array<ReadonlyArray<string>> = []
      yield* Effect.scoped(Effect.gen(function*() {
        yield* shelf.onChange(() => heard.push([...shelf.keys()]))
        yield* Effect.scoped(shelf.register({ title: "a" }))
      }))
      yield* Effect.scoped(shelf.register({ title: "b" }))
      assert.deepStrictEqual(heard, [["a"], []])
    }))

  it.effect("has no entry of a layer that was interrupted while it was built", () =>
    Effect.gen(function*() {
      const shelf = books()
      const fiber = yield* Effect.fork(Effect.scoped(Effect.zipRight(shelf.register({ title: "a" }), Effect.never)))
      yield* Effect.yieldNow()
      assert.strictEqual(shelf.size, 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(shelf.size, 0)
    }))
})
