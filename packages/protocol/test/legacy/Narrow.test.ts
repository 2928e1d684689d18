import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/schema/Projection.js"
import * as Canonical from "../Canonical.js"

const [, result] = Canonical.legacy["tools/call"]!

describe("legacy/Narrow", () => {
  it("is the projection to a legacy revision", () => {
    const narrow = Narrow.compile(Methods.callTool.result, "2024-11-05")
    expect(narrow).toBe(Projection.compile(Methods.callTool.result, "2024-11-05"))
    const narrowed = narrow(result as never) as typeof result & {
      readonly content: ReadonlyArray<{ readonly type: string }>
    }
    expect(narrowed).not.toHaveProperty("structuredContent")
    expect(narrowed!.content.map(({ type }) => type)).toEqual(["text", "image", "text", "text", "resource"])
  })

  it("adds nothing of the modern era", () => {
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const) {
      const narrowed = Narrow.compile(Methods.listTools.result, version)({ tools: [] })
      expect(narrowed).toEqual({ tools: [] })
    }
  })
})
