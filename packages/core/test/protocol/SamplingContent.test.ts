import * as SamplingContent from "@effect-mcp/core/protocol/SamplingContent"
import type { Version } from "@effect-mcp/core/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const is = SchemaCheck.compile(SamplingContent.SamplingBlock)
const narrowed = (block: unknown, version: Version) =>
  Projection.compile(SamplingContent.SamplingBlock, version)(block as SamplingContent.SamplingContent)

describe("SamplingContent", () => {
  it("is text, images, audio, tool uses and tool results", () => {
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

  it("is sent as text where a revision does not know it", () => {
    expect(narrowed(Canonical.toolUse, "2025-06-18")).toEqual({
      type: "text",
      text: "[tool use: search] {\"q\":\"x\"}"
    })
    const result = {
      type: "tool_result",
      toolUseId: "u",
      content: [Canonical.embedded, Canonical.image],
      isError: true
    }
    expect(narrowed(result, "2025-06-18")).toEqual({ type: "text", text: "[tool error]\n# A\n[image: image/png]" })
    const blob = {
      type: "tool_result",
      toolUseId: "u",
      content: [{ type: "resource", resource: Canonical.blobContents }]
    }
    expect(narrowed(blob, "2025-06-18")).toEqual({
      type: "text",
      text: "[tool result]\n[resource] file:///notes/a.png"
    })
    expect(narrowed(Canonical.toolUse, "2025-11-25")).toBe(Canonical.toolUse)
  })

  it("has structured results that are objects, up to 2025-11-25", () => {
    const result = { type: "tool_result", toolUseId: "u", content: [], structuredContent: [1] }
    expect(narrowed(result, "2025-11-25")).toEqual({ type: "tool_result", toolUseId: "u", content: [] })
    expect(narrowed(result, "2026-07-28")).toBe(result)
  })

  it("becomes one block", () => {
    const [a, b] = [{ type: "text", text: "a" }, { type: "text", text: "b" }] as const
    expect(SamplingContent.asOneBlock(a)).toBe(a)
    expect(SamplingContent.asOneBlock([a])).toBe(a)
    expect(SamplingContent.asOneBlock([a, b])).toEqual({ type: "text", text: "a\nb" })
    expect(SamplingContent.asOneBlock([])).toEqual({ type: "text", text: "" })
  })
})
