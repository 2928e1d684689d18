import { describe, expect, it } from "vitest"
import * as ToolName from "../../src/rules/ToolName.js"

describe("ToolName", () => {
  it.each(["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "9", "x".repeat(128)])(
    "SHOULD accept %s",
    (name) => expect(ToolName.problem(name)).toBeUndefined()
  )

  it.each([
    ["", "is empty"],
    ["x".repeat(129), "has 129 characters"],
    ["a b", "contains \" \""],
    ["a,b", "contains \",\""],
    ["a/b", "contains \"/\""],
    ["é", "contains \"é\""],
    ["a🙂", "contains \"🙂\""],
    ["a\n", "contains \"\n\""]
  ])("SHOULD NOT accept %j", (name, why) => expect(ToolName.problem(name)).toContain(why))
})
