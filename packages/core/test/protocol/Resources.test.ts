import * as Resources from "@effect-mcp/core/protocol/Resources"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

describe("Resources", () => {
  it("send each revision the fields that it knows", () => {
    const narrow = (version: "2024-11-05" | "2025-06-18" | "2025-11-25") =>
      Projection.compile(Resources.Resource, version)(Canonical.resource as never)
    expect(narrow("2024-11-05")).toEqual({
      name: "search",
      uri: "file:///notes/a.md",
      description: "A note",
      mimeType: "text/markdown",
      size: 12,
      annotations: { audience: ["user", "assistant"], priority: 0.5 }
    })
    const { icons, ...rest } = Canonical.resource
    expect(narrow("2025-06-18")).toEqual(rest)
    expect(narrow("2025-11-25")).toEqual({ ...rest, icons })
  })

  it("need a URI and a name", () => {
    const is = SchemaCheck.compile(Resources.Resource)
    expect([{ uri: "a:b", name: "x" }, { uri: "a:b" }, { name: "x" }].map(is)).toEqual([true, false, false])
    expect([1.5, "1", null].map((size) => is({ uri: "a:b", name: "x", size }))).toEqual([false, false, false])
    expect(is({ uri: "a:b", name: "x", size: 2 ** 54 })).toBe(true)
  })

  it("have text or bytes", () => {
    const is = SchemaCheck.compile(Resources.ReadResourceResult)
    expect(is({ contents: [Canonical.textContents, Canonical.blobContents] })).toBe(true)
    expect(is({ contents: [{ uri: "a:b" }] })).toBe(false)
    expect(is({ contents: {} })).toBe(false)
  })

  it("are also described by templates", () => {
    const is = SchemaCheck.compile(Resources.ListResourceTemplatesResult)
    expect(is({ resourceTemplates: [{ name: "x", uriTemplate: "n://{id}" }], nextCursor: "" })).toBe(true)
    expect(is({ resourceTemplates: [{ name: "x", uri: "n://1" }] })).toBe(false)
  })

  it("name the one that changed", () => {
    const is = SchemaCheck.compile(Resources.ResourceUpdated)
    expect([{ uri: "a:b" }, {}, { uri: null }].map(is)).toEqual([true, false, false])
  })
})
