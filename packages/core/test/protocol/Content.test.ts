import * as Content from "@effect-mcp/core/protocol/Content"
import type { Version } from "@effect-mcp/core/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const isBlock = SchemaCheck.compile(Content.ContentBlock)

const narrowed = (block: unknown, version: Version): unknown =>
  Projection.compile(Content.ContentBlock, version)(block as Content.ContentBlock)

describe("Content", () => {
  it("has five kinds of block", () => {
    const { audio, embedded, image, link, text } = Canonical
    for (const block of [text, image, audio, link, embedded]) expect(isBlock(block)).toBe(true)
    expect(isBlock({ type: "resource", resource: Canonical.blobContents })).toBe(true)
  })

  it.each([
    [{ type: "video", data: "" }],
    [{ type: "text" }],
    [{ type: "text", text: null }],
    [{ type: "image", data: "aGk=" }],
    [{ type: "resource", resource: { uri: "a:b" } }],
    [{ type: "resource_link", uri: "a:b" }],
    [{ type: "text", text: "x", annotations: { priority: 1.1 } }],
    [{ type: "text", text: "x", annotations: { audience: ["system"] } }],
    [{ type: "text", text: "x", _meta: [] }]
  ])("refuses %j", (block) => expect(isBlock(block)).toBe(false))

  it("does not check base64", () => {
    expect(isBlock({ type: "image", data: "not base64!", mimeType: "image/png" })).toBe(true)
  })

  it("sends a kind that a revision does not know as text", () => {
    expect(narrowed(Canonical.audio, "2024-11-05")).toEqual({
      type: "text",
      text: "[audio: audio/wav]",
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(narrowed(Canonical.audio, "2025-03-26")).toMatchObject({ type: "audio" })
    expect(narrowed(Canonical.link, "2025-03-26")).toEqual({
      type: "text",
      text: "[resource: search] file:///notes/a.md",
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(narrowed(Canonical.link, "2025-06-18")).not.toHaveProperty("icons")
    expect(narrowed(Canonical.link, "2025-11-25")).toBe(Canonical.link)
  })

  it("sends _meta from 2025-06-18 on", () => {
    expect(narrowed(Canonical.embedded, "2025-03-26")).toEqual({
      type: "resource",
      resource: { uri: "file:///notes/a.md", mimeType: "text/markdown", text: "# A" },
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(narrowed(Canonical.embedded, "2025-06-18")).toBe(Canonical.embedded)
  })

  it("replaces content by text with its annotations", () => {
    expect(Content.asText("x")).toEqual({ type: "text", text: "x" })
    expect(Content.asText("x", { annotations: {} })).toEqual({ type: "text", text: "x", annotations: {} })
  })
})
