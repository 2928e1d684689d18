import { describe, expect, it } from "vitest"
import * as MetaKey from "../../../src/protocol/rules/MetaKey.js"

describe("the name of a key", () => {
  it.each([
    "a",
    "a-b_c.d",
    "9",
    "",
    "com.example/",
    "com.example/a",
    "com.example-x.y2/a.b",
    "x/a",
    "traceparent",
    `x/${"a".repeat(500)}`
  ])("MUST be allowed: %j", (key) => expect(MetaKey.isValid(key)).toBe(true))

  it.each([
    "a b",
    "-a",
    "a-",
    "_a",
    ".a",
    "a.",
    "a/b/c",
    "/a",
    "1x.y/a",
    "com.-x/a",
    "com.x-/a",
    "com..x/a",
    ".com/a",
    "com./a",
    "com.ex_ample/a",
    "é/a",
    "com.example/é",
    "a\n",
    `x/${"a".repeat(600)}`
  ])("MUST NOT be: %j", (key) => expect(MetaKey.isValid(key)).toBe(false))

  it("has labels and a name", () => {
    expect(MetaKey.parse("com.example/trace")).toEqual({ labels: ["com", "example"], name: "trace" })
    expect(MetaKey.parse("trace")).toEqual({ labels: [], name: "trace" })
    expect(MetaKey.parse("a b")).toBeUndefined()
  })
})

describe("a reserved key", () => {
  it.each([
    ["io.modelcontextprotocol/x", true],
    ["dev.mcp/x", true],
    ["org.modelcontextprotocol.api/x", true],
    ["com.mcp.tools/x", true],
    ["com.example.mcp/x", false],
    ["com.example/x", false],
    ["mcp/x", false],
    ["modelcontextprotocol.io/x", false],
    ["progressToken", true],
    ["traceparent", true],
    ["baggage", true],
    ["anything", false],
    ["io.modelcontextprotocol/x y", false]
  ])("from 2025-11-25 on %j is one: %s", (key, reserved) => {
    expect(MetaKey.isReserved(key)).toBe(reserved)
    expect(MetaKey.isReserved(key, "2025-11-25")).toBe(reserved)
  })

  it.each([
    ["modelcontextprotocol.io/x", true],
    ["mcp.dev/x", true],
    ["api.modelcontextprotocol.org/x", true],
    ["tools.mcp.com/x", true],
    ["io.modelcontextprotocol/x", false],
    ["com.example.mcp/x", false]
  ])("at 2025-06-18 %j is one: %s", (key, reserved) => {
    expect(MetaKey.isReserved(key, "2025-06-18")).toBe(reserved)
  })

  it("names an extension only with a prefix and a name", () => {
    const names = ["io.modelcontextprotocol/tasks", "com.example/", "tasks", "a/b/c"]
    expect(names.map(MetaKey.isExtension)).toEqual([true, false, false, false])
  })
})

describe("a key of an application", () => {
  it.each([
    ["com.example/trace", undefined],
    ["trace", undefined],
    ["traceparent", undefined],
    ["io.modelcontextprotocol/x", "the specification reserves the prefix of the key"],
    ["com.mcp.tools/x", "the specification reserves the prefix of the key"],
    ["a b", "the key is not valid"]
  ])("MUST NOT have a reserved prefix: %s", (key, problem) => expect(MetaKey.problem(key)).toBe(problem))

  it("is left out where it is not valid, and reported where it should not be used", () => {
    expect(MetaKey.flaw({ traceparent: "x", "com.example/a": 1 })).toBeUndefined()
    expect(MetaKey.flaw({ "a b": 1, "io.modelcontextprotocol/x": 2, c: 3 })).toEqual({
      reason: "_meta \"a b\": the key is not valid and was left out; " +
        "_meta \"io.modelcontextprotocol/x\": the specification reserves the prefix of the key",
      valid: { "io.modelcontextprotocol/x": 2, c: 3 }
    })
  })

  it("is named in a report of bounded length, however many and long the keys are", () => {
    const keys = Array.from({ length: 12 }, (_, n) => `${n} ${"x".repeat(1000)}`)
    const flaw = MetaKey.flaw(Object.fromEntries(keys.map((key) => [key, 1])))
    expect(flaw?.reason).toMatch(/; 2 more$/)
    expect(flaw?.reason.length).toBeLessThan(2_000)
    expect(flaw?.valid).toEqual({})
  })
})
