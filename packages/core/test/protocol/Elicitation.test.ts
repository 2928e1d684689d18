import * as Elicitation from "@effect-mcp/core/protocol/Elicitation"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const schema = { type: "object", properties: {} } as const

describe("Elicitation", () => {
  it("is a form without a mode", () => {
    const is = SchemaCheck.compile(Elicitation.ElicitParams)
    expect([
      { message: "", requestedSchema: schema },
      { message: "", requestedSchema: schema, mode: "form" },
      { message: "", url: "https://a.b", mode: "url" }
    ].map(is)).toEqual([true, true, true])
    expect([
      { message: "" },
      { requestedSchema: schema },
      { message: "", url: "https://a.b" },
      { message: "", mode: "url" },
      { message: "", requestedSchema: schema, mode: "page" }
    ].map(is)).toEqual([false, false, false, false, false])
  })

  it("knows which capability it needs", () => {
    expect(Elicitation.capability({ mode: "url" })).toBe("elicitation.url")
    expect([Elicitation.capability({ mode: "form" }), Elicitation.capability({})])
      .toEqual(["elicitation.form", "elicitation.form"])
  })

  it("sends each revision the fields that it knows", () => {
    const form = { message: "m", mode: "form", requestedSchema: schema, task: {}, _meta: { a: 1 } } as const
    const narrow = (version: "2025-06-18" | "2026-07-28") => Projection.compile(Elicitation.ElicitParams, version)(form)
    expect(narrow("2025-06-18")).toEqual({ message: "m", requestedSchema: schema, _meta: { a: 1 } })
    expect(narrow("2026-07-28")).toEqual({ message: "m", mode: "form", requestedSchema: schema })
  })

  it("is answered with strings, numbers, booleans and lists of strings", () => {
    const is = SchemaCheck.compile(Elicitation.ElicitResult)
    expect([{ action: "cancel" }, { action: "accept", content: { a: "", b: 0.5, c: true, d: [] } }].map(is))
      .toEqual([true, true])
    expect([{}, { action: "ok" }, { action: "accept", content: { a: null } }, { action: "accept", content: { a: [1] } }]
      .map(is)).toEqual([false, false, false, false])
  })

  it("is answered without lists at 2025-06-18", () => {
    const [, result] = Canonical.legacy["elicitation/create"]!
    const narrow = Projection.compile(Elicitation.ElicitResult, "2025-06-18")
    expect(narrow({ action: "accept", content: { a: ["x", "y"], b: 1 } })).toEqual({
      action: "accept",
      content: { a: "x, y", b: 1 }
    })
    const plain = { action: "accept", content: { a: "x" } } as const
    expect(narrow(plain)).toBe(plain)
    expect(Projection.compile(Elicitation.ElicitResult, "2026-07-28")(result as never)).not.toHaveProperty("_meta")
  })
})
