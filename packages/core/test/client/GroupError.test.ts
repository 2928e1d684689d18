import { assert, describe, it } from "@effect/vitest"
import * as GroupError from "@effect-mcp/core/GroupError"

describe("A group's refusal", () => {
  it("names the collision, and what to do", () => {
    assert.strictEqual(
      new GroupError.DuplicateEntry({ server: "two", kind: "tools", names: ["a", "b"] }).message,
      "The server \"two\" has tools whose names are taken in the group: \"a\", \"b\". Give them other names, or leave them " +
        "out, with the group's option `nameHook`; or let the group rename them with `onCollision: \"rename\"`"
    )
    for (const kind of ["resources", "templates"] as const) {
      const { message } = new GroupError.DuplicateEntry({ server: "two", kind, names: ["x:1"] })
      assert.include(message, "the group's option `uriHook`")
    }
    const { message } = new GroupError.DuplicateEntry({
      server: "two",
      kind: "tools",
      names: Array.from({ length: 5000 }, (_, i) => `${i}`.repeat(1000))
    })
    assert.include(message, " and 4990 more.")
    assert.isBelow(message.length, 2000)
    assert.include(new GroupError.DuplicateServer({ server: "two" }).message, "\"two\" already")
    assert.include(new GroupError.UnknownServer({ server: "two" }).message, "no server named \"two\"")
    const unknown = new GroupError.UnknownEntry({ kind: "prompts", entry: "p" })
    assert.include(unknown.message, "a prompt named \"p\"")
    assert.strictEqual(String(unknown), `UnknownEntry: ${unknown.message}`)
  })
})
