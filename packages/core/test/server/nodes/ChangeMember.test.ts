import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChangeMember from "../../../src/server/nodes/ChangeMember.js"
import { logbook } from "../Serving.js"

describe("A reader of changes", () => {
  it.effect("takes changes that it cannot read as unknown, and reports them once", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const reader = new ChangeMember.Reader("self", 0)
      const changes = [1, 2, 3].map((number) => ({ number, member: "other", text: "{}", key: `${number}` }))
      assert.deepStrictEqual(yield* reader.read(changes), changes.map(() => ChangeMember.unknown))
      assert.lengthOf(lines, 1)
      assert.include(lines[0]!.message, "a change of another node")
    }).pipe(Effect.provide(layer))
  })
})
