import { describe, expect, it } from "vitest"
import * as ToolName from "../../src/rules/ToolName.js"

describe("ToolName", () => {
  it.each(["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "9", "x".repeat(128)])(
    "SHOULD be allowed: %s",
    (name) => expect(ToolName.isValid(name)).toBe(true)
  )

  it.each([
    ["", "needs a name"],
    ["x".repeat(129), "at most 128"],
    ["a b", "not of \" \""],
    ["a,b", "not of \",\""],
    ["a/b", "not of \"/\""],
    ["é", "not of \"é\""],
    ["a🙂", "not of \"🙂\""],
    ["a\n", "not of \"\n\""]
  ])("SHOULD NOT be: %j", (name, why) => expect(ToolName.problem(name)).toContain(why))

  it("SHOULD stand once in a list, and case matters", () => {
    expect(ToolName.repeated(["a", "b", "A"])).toEqual([])
    expect(ToolName.repeated(["a", "b", "a", "a", "b"])).toEqual(["a", "b"])
  })
})
