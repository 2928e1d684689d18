import * as Content from "@effect-mcp/protocol/Content"
import type { Version } from "@effect-mcp/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Projection from "../src/schema/Projection.js"
import * as SchemaCheck from "../src/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const isBlock = SchemaCheck.compile(Content.ContentBlock)

const told = (block: unknown, version: Version): unknown =>
  Projection.compile(Content.ContentBlock, version)(block as Content.ContentBlock)

describe("Content", () => {
  it("knows five kinds of block, with what they carry", () => {
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

  it("leaves base64 as it is, whatever it is", () => {
    expect(isBlock({ type: "image", data: "not base64!", mimeType: "image/png" })).toBe(true)
  })

  it("tells a kind that a revision does not know as text, without what else it does not know", () => {
    expect(told(Canonical.audio, "2024-11-05")).toEqual({
      type: "text",
      text: "[audio: audio/wav]",
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(told(Canonical.audio, "2025-03-26")).toMatchObject({ type: "audio" })
    expect(told(Canonical.link, "2025-03-26")).toEqual({
      type: "text",
      text: "[resource: search] file:///notes/a.md",
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(told(Canonical.link, "2025-06-18")).not.toHaveProperty("icons")
    expect(told(Canonical.link, "2025-11-25")).toBe(Canonical.link)
  })

  it("keeps _meta from 2025-06-18 on", () => {
    expect(told(Canonical.embedded, "2025-03-26")).toEqual({
      type: "resource",
      resource: { uri: "file:///notes/a.md", mimeType: "text/markdown", text: "# A" },
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    expect(told(Canonical.embedded, "2025-06-18")).toBe(Canonical.embedded)
  })

  it("puts text in place of something, with its annotations", () => {
    expect(Content.inWords("x")).toEqual({ type: "text", text: "x" })
    expect(Content.inWords("x", { annotations: {} })).toEqual({ type: "text", text: "x", annotations: {} })
  })
})
