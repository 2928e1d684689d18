import * as Completion from "@effect-mcp/core/protocol/Completion"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

const many = Array.from({ length: 150 }, (_, i) => `${i}`)

describe("Completion", () => {
  it("refers to a prompt or a template", () => {
    const is = SchemaCheck.compile(Completion.CompleteParams)
    const argument = { name: "a", value: "" }
    expect(is({ ref: { type: "ref/prompt", name: "p" }, argument })).toBe(true)
    expect(is({ ref: { type: "ref/resource", uri: "n://{id}" }, argument, context: { arguments: { b: "c" } } })).toBe(
      true
    )
    expect(is({ ref: { type: "ref/resource", name: "p" }, argument })).toBe(false)
    expect(is({ ref: { type: "ref/tool", name: "p" }, argument })).toBe(false)
    expect(is({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "a" } })).toBe(false)
    expect(is({ ref: { type: "ref/prompt", name: "p" }, argument, context: { arguments: { b: 1 } } })).toBe(false)
  })

  it("sends older revisions the parameters that they know", () => {
    const params = {
      ref: { type: "ref/prompt", name: "p", title: "P" },
      argument: { name: "a", value: "x" },
      context: {}
    } as const
    expect(Projection.compile(Completion.CompleteParams, "2025-03-26")(params)).toEqual({
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "x" }
    })
  })

  it("sends a hundred values at most, at every revision", () => {
    for (const version of ["2024-11-05", "2025-11-25", "2026-07-28"] as const) {
      const narrow = Projection.compile(Completion.CompleteResult, version)
      expect(narrow({ completion: { values: many } })).toEqual({
        completion: { values: many.slice(0, 100), total: 150, hasMore: true }
      })
      const few = { completion: { values: many.slice(0, 100) } }
      expect(narrow(few)).toBe(few)
    }
    expect(Completion.truncate({ values: many, total: 900, hasMore: false })).toMatchObject({
      total: 900,
      hasMore: true
    })
  })

  it("accepts more values from a peer", () => {
    expect(SchemaCheck.compile(Completion.CompleteResult)({ completion: { values: many } })).toBe(true)
  })
})
