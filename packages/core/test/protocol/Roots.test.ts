import * as Roots from "@effect-mcp/core/protocol/Roots"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Roots", () => {
  it("are URIs with an optional name", () => {
    const is = SchemaCheck.compile(Roots.ListRootsResult)
    expect([{ roots: [] }, { roots: [{ uri: "file:///a" }, { uri: "file:///b", name: "B" }] }].map(is))
      .toEqual([true, true])
    expect([{}, { roots: [{ name: "x" }] }, { roots: ["file:///a"] }].map(is)).toEqual([false, false, false])
  })

  it("have _meta in the revisions that know it", () => {
    const result = { roots: [{ uri: "file:///a", _meta: { a: 1 } }], _meta: { b: 1 } }
    expect(Projection.compile(Roots.ListRootsResult, "2025-03-26")(result)).toEqual({
      roots: [{ uri: "file:///a" }],
      _meta: { b: 1 }
    })
    expect(Projection.compile(Roots.ListRootsResult, "2025-11-25")(result)).toBe(result)
    expect(Projection.compile(Roots.ListRootsResult, "2026-07-28")(result)).toEqual({ roots: result.roots })
  })
})
