import * as ElicitationSchema from "@effect-mcp/core/protocol/ElicitationSchema"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const is = SchemaCheck.compile(ElicitationSchema.PrimitiveSchema)

describe("ElicitationSchema", () => {
  it("has fields of every kind", () => {
    for (const field of Object.values(Canonical.requestedSchema.properties)) expect(is(field)).toBe(true)
    expect(is({ type: "string", pattern: "^a" })).toBe(true)
  })

  it.each([
    [{ type: "object", properties: {} }],
    [{ type: "array", items: { type: "number" } }],
    [{ type: "array", items: {} }],
    [{ type: "null" }],
    [{ type: "string", format: "uuid" }],
    [{ type: "string", minLength: 1.5 }],
    [{ type: "number", minimum: "0" }],
    [{ type: "boolean", default: "yes" }],
    [{}],
    [null]
  ])("MUST be flat, and not %j", (field) => expect(is(field)).toBe(false))

  it("sends 2025-06-18 the one kind of choice that it knows", () => {
    const narrowed = Projection.compile(ElicitationSchema.RequestedSchema, "2025-06-18")(
      Canonical.requestedSchema as never
    )
    const words = { title: "T", description: "D" }
    const choice = { type: "string", ...words, enum: ["a"], enumNames: ["A"] }
    expect(narrowed).toEqual({
      type: "object",
      properties: {
        text: { type: "string", ...words, minLength: 1, maxLength: 9, format: "email" },
        number: { type: "integer", ...words, minimum: 0, maximum: 9 },
        yes: { type: "boolean", ...words, default: true },
        one: { type: "string", ...words, enum: ["a", "b"], enumNames: ["A", "B"] },
        oneTitled: choice,
        some: { type: "string", ...words, enum: ["a"] },
        someTitled: choice
      },
      required: ["text"]
    })
  })

  it("is sent unchanged to later revisions", () => {
    for (const version of ["2025-11-25", "2026-07-28"] as const) {
      const narrow = Projection.compile(ElicitationSchema.RequestedSchema, version)
      expect(narrow(Canonical.requestedSchema as never)).toBe(Canonical.requestedSchema)
    }
  })
})
