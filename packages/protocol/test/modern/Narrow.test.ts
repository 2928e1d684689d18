import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Narrow from "@effect-mcp/protocol/modern/Narrow"
import { describe, expect, it } from "vitest"
import * as Canonical from "../Canonical.js"

const [, tools] = Canonical.modern["tools/list"]!

describe("modern/Narrow", () => {
  it("sends no field that ended with the legacy era", () => {
    const narrowed = Narrow.compile(Methods.listTools.result, "2026-07-28")(tools as never) as typeof tools
    const { execution: _, ...tool } = Canonical.tool
    expect(narrowed).toEqual({ ...tools, tools: [tool] })
  })

  it("returns an unchanged value as the same object", () => {
    const result = { tools: [] }
    expect(Narrow.compile(Methods.listTools.result, "2026-07-28")(result)).toBe(result)
  })

  it("sends no capabilities that ended with the legacy era", () => {
    const [params] = Canonical.modern["server/discover"]!
    const narrowed = Narrow.compile(Methods.discover.params, "2026-07-28")(params as never)
    expect(JSON.stringify(narrowed)).not.toContain("tasks")
    expect(JSON.stringify(narrowed)).not.toContain("listChanged")
  })
})
