import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Narrow from "@effect-mcp/protocol/modern/Narrow"
import { describe, expect, it } from "vitest"
import * as Canonical from "../Canonical.js"

const [, tools] = Canonical.modern["tools/list"]!

describe("modern/Narrow", () => {
  it("says nothing that ended with the legacy era", () => {
    const told = Narrow.compile(Methods.listTools.result, "2026-07-28")(tools as never) as typeof tools
    const { execution: _, ...tool } = Canonical.tool
    expect(told).toEqual({ ...tools, tools: [tool] })
  })

  it("passes on what needs no change", () => {
    const result = { tools: [] }
    expect(Narrow.compile(Methods.listTools.result, "2026-07-28")(result)).toBe(result)
  })

  it("says less of what a client can do", () => {
    const [params] = Canonical.modern["server/discover"]!
    const told = Narrow.compile(Methods.discover.params, "2026-07-28")(params as never)
    expect(JSON.stringify(told)).not.toContain("tasks")
    expect(JSON.stringify(told)).not.toContain("listChanged")
  })
})
