import { assert, describe, it } from "@effect/vitest"
import * as SealKeysLaws from "@effect-mcp/testing/SealKeysLaws"
import { Effect, Encoding, Option } from "effect"
import * as KeyRing from "../../../src/server/nodes/KeyRing.js"
import { logbook } from "../Serving.js"

const day = 24 * 60 * 60 * 1000

const key = (id: string, from: number) => ({ id, secret: Encoding.encodeBase64(new Uint8Array(32)), from })

/** Keys over this text, at the time 0. */
const make = (elements: unknown) => {
  const store = { text: JSON.stringify(elements), time: 0 }
  const keys = KeyRing.make({
    read: Effect.sync(() => ({ ...store })),
    swap: (before, after) =>
      Effect.sync(() => {
        if (store.text === before) store.text = after
      })
  }, SealKeysLaws.rotation)
  return { store, keys, ring: () => JSON.parse(store.text) }
}

const odd = { id: "odd", secret: { algorithm: "another" }, from: 0 }

describe("A ring of keys", () => {
  it.effect("keeps the keys that it can read when there are others, and reports these once", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const { keys, ring } = make([odd, key("good", 0)])
      assert.strictEqual((yield* keys.current).id, "good")
      assert.isTrue(Option.isSome(yield* keys.find("good")))
      assert.isTrue(Option.isNone(yield* keys.find("odd")))
      assert.deepStrictEqual(ring(), [odd, key("good", 0)])
      assert.deepStrictEqual(lines.map(({ level }) => level), ["Warning"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps what it cannot read when it replaces a key, up to a number", () =>
    Effect.gen(function*() {
      const old = key("old", -day)
      const odds = Array.from({ length: 20 }, (_, n) => ({ ...odd, n }))
      const { keys, ring } = make([old, ...odds])
      const { id } = yield* keys.current
      assert.notStrictEqual(id, old.id)
      assert.deepStrictEqual(ring().slice(1), [old, ...odds.slice(0, 10)])
      assert.strictEqual(ring()[0].id, id)
    }).pipe(Effect.provide(logbook().layer)))

  it.effect("is replaced when it is not an array", () =>
    Effect.gen(function*() {
      const { keys, ring } = make({ odd })
      const { id } = yield* keys.current
      assert.deepStrictEqual(ring().map((key: { readonly id: string }) => key.id), [id])
    }).pipe(Effect.provide(logbook().layer)))
})
