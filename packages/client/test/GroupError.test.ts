import { assert, describe, it } from "@effect/vitest"
import * as GroupError from "@effect-mcp/client/GroupError"

describe("A group's refusal", () => {
  it("names the collision, and what to do", () => {
    assert.strictEqual(
      new GroupError.DuplicateEntry({ server: "two", kind: "tools", names: ["a", "b"] }).message,
      "The server \"two\" has tools whose names are taken in the group: a, b. Give them other names with a `nameHook`"
    )
    assert.include(new GroupError.DuplicateServer({ server: "two" }).message, "\"two\" already")
    assert.include(new GroupError.UnknownServer({ server: "two" }).message, "no server named \"two\"")
    assert.include(new GroupError.UnknownEntry({ kind: "prompts", name: "p" }).message, "prompts named \"p\"")
  })
})
