import { describe, expect, it } from "vitest"
import * as NamingRules from "../../../src/server/features/NamingRules.js"

describe("The name of a tool", () => {
  it.each(["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "9", "x".repeat(128)])(
    "SHOULD accept %s",
    (name) => expect(NamingRules.nameProblem(name)).toBeUndefined()
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
  ])("SHOULD NOT accept %j", (name, why) => expect(NamingRules.nameProblem(name)).toContain(why))
})
