import * as SamplingContent from "@effect-mcp/protocol/SamplingContent"
import type { Version } from "@effect-mcp/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Projection from "../src/schema/Projection.js"
import * as SchemaCheck from "../src/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const is = SchemaCheck.compile(SamplingContent.SamplingBlock)
const told = (block: unknown, version: Version) =>
  Projection.compile(SamplingContent.SamplingBlock, version)(block as SamplingContent.SamplingContent)

describe("SamplingContent", () => {
  it("is text, pictures, sound, and the use of tools", () => {
    const { audio, image, text, toolResult, toolUse } = Canonical
    for (const block of [text, image, audio, toolUse, toolResult]) expect(is(block)).toBe(true)
    for (
      const block of [Canonical.link, Canonical.embedded, { ...toolUse, input: [] }, {
        type: "tool_result",
        content: []
      }]
    ) {
      expect(is(block)).toBe(false)
    }
  })

  it("is told in words where a revision does not know it", () => {
    expect(told(Canonical.toolUse, "2025-06-18")).toEqual({ type: "text", text: "[tool use: search] {\"q\":\"x\"}" })
    const result = {
      type: "tool_result",
      toolUseId: "u",
      content: [Canonical.embedded, Canonical.image],
      isError: true
    }
    expect(told(result, "2025-06-18")).toEqual({ type: "text", text: "[tool error]\n# A\n[image: image/png]" })
    const blob = {
      type: "tool_result",
      toolUseId: "u",
      content: [{ type: "resource", resource: Canonical.blobContents }]
    }
    expect(told(blob, "2025-06-18")).toEqual({ type: "text", text: "[tool result]\n[resource] file:///notes/a.png" })
    expect(told(Canonical.toolUse, "2025-11-25")).toBe(Canonical.toolUse)
  })

  it("has structured results that are objects, up to 2025-11-25", () => {
    const result = { type: "tool_result", toolUseId: "u", content: [], structuredContent: [1] }
    expect(told(result, "2025-11-25")).toEqual({ type: "tool_result", toolUseId: "u", content: [] })
    expect(told(result, "2026-07-28")).toBe(result)
  })

  it("fits in one block", () => {
    const [a, b] = [{ type: "text", text: "a" }, { type: "text", text: "b" }] as const
    expect(SamplingContent.inOneBlock(a)).toBe(a)
    expect(SamplingContent.inOneBlock([a])).toBe(a)
    expect(SamplingContent.inOneBlock([a, b])).toEqual({ type: "text", text: "a\nb" })
    expect(SamplingContent.inOneBlock([])).toEqual({ type: "text", text: "" })
  })
})
