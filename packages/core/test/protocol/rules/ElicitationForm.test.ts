import type { ElicitContent } from "@effect-mcp/core/protocol/Elicitation"
import type { PrimitiveSchema, RequestedSchema } from "@effect-mcp/core/protocol/ElicitationSchema"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as ElicitationForm from "../../../src/protocol/rules/ElicitationForm.js"
import * as Canonical from "../Canonical.js"

const form = (field: PrimitiveSchema, required: ReadonlyArray<string> = []): RequestedSchema => ({
  type: "object",
  properties: { a: field },
  required
})

const titled = [{ const: "x", title: "X" }, { const: "y", title: "Y" }]

describe("the rules of a form", () => {
  it("allow what the specification allows", () => {
    expect(ElicitationForm.problems(Canonical.requestedSchema as RequestedSchema)).toEqual([])
    expect(ElicitationForm.problems(form({ type: "string", pattern: "^a" } as PrimitiveSchema))).toEqual([])
  })

  it.each<[field: unknown, message: string]>([
    [{ type: "string", properties: {} }, "does not support \"properties\""],
    [{ type: "number", items: {} }, "does not support \"items\""],
    [{ type: "boolean", enum: [true] }, "does not support \"enum\""],
    [{ type: "string", $ref: "#/x" }, "does not support \"$ref\""],
    [{ type: "string", minLength: 3, maxLength: 2 }, "minLength is above maxLength"],
    [{ type: "number", minimum: 3, maximum: 2 }, "minimum is above maximum"],
    [{ type: "string", minLength: -1 }, "must not be negative"],
    [{ type: "array", minItems: 2, maxItems: 1, items: { type: "string", enum: ["x"] } }, "minItems is above maxItems"],
    [{ type: "string", enum: [] }, "no choices"],
    [{ type: "string", oneOf: [] }, "no choices"],
    [{ type: "string", enum: ["x", "x"] }, "two choices"],
    [{ type: "string", enum: ["x"], enumNames: ["X", "Y"] }, "differ in length"],
    [{ type: "string", enum: ["x"], default: "z" }, "the default does not fit: expected one"],
    [{ type: "integer", default: 1.5 }, "the default does not fit: expected an integer"],
    [{ type: "array", items: { anyOf: titled }, default: ["z"] }, "the default does not fit: expected some"],
    [{ type: "string", maxLength: 1, default: "xx" }, "the default does not fit: expected at most"]
  ])("is not %j", (field, message) => {
    expect(ElicitationForm.problems(form(field as PrimitiveSchema))).toContainEqual({
      path: "a",
      message: expect.stringContaining(message)
    })
  })

  it("refuse a required field that the form does not have", () => {
    expect(ElicitationForm.problems(form({ type: "boolean" }, ["a", "b", "toString"])).map(({ path }) => path))
      .toEqual(["b", "toString"])
  })
})

describe("an answer", () => {
  it.each<[field: PrimitiveSchema, fits: ReadonlyArray<unknown>, unfit: ReadonlyArray<unknown>]>([
    [{ type: "string" }, ["", "x"], [1, true, ["x"]]],
    [{ type: "string", minLength: 2, maxLength: 3 }, ["ab", "🙂🙂🙂"], ["a", "abcd", "🙂"]],
    [{ type: "string", format: "email" }, ["a@b.c"], ["a", "a@", ""]],
    [{ type: "number" }, [0, 1.5, -1], ["1", true, NaN]],
    [{ type: "integer", minimum: 0, maximum: 9 }, [0, 9], [1.5, -1, 10]],
    [{ type: "boolean" }, [true, false], ["true", 1]],
    [{ type: "string", enum: ["x", "y"] }, ["x", "y"], ["z", "", 1]],
    [{ type: "string", oneOf: titled }, ["x"], ["X", "z"]],
    [{ type: "array", items: { type: "string", enum: ["x", "y"] } }, [[], ["x"], ["x", "y"], "x"], [["z"], "z", 1]],
    [{ type: "array", minItems: 1, maxItems: 1, items: { anyOf: titled } }, [["x"]], [[], ["x", "y"]]]
  ])("to %j", (field, fits, unfit) => {
    const check = (a: unknown) => ElicitationForm.check(form(field), { a } as ElicitContent)
    for (const value of fits) expect(Either.isRight(check(value)), JSON.stringify(value)).toBe(true)
    for (const value of unfit) {
      expect(Either.getOrThrow(Either.flip(check(value)))).toEqual([{ path: "a", message: expect.any(String) }])
    }
  })

  it("becomes a list where a peer of 2025-06-18 chose one text", () => {
    const several = form({ type: "array", items: { type: "string", enum: ["x"] } })
    expect(Either.getOrThrow(ElicitationForm.check(several, { a: "x", b: 1 }))).toEqual({ a: ["x"], b: 1 })
  })

  it("has all required values, and may have others", () => {
    const required = form({ type: "string" }, ["a"])
    expect(ElicitationForm.check(required, {})).toEqual(Either.left([{ path: "a", message: "is missing" }]))
    expect(ElicitationForm.check(form({ type: "string" }), {})).toEqual(Either.right({}))
    const content = { a: "x", more: 1 }
    expect(Either.getOrThrow(ElicitationForm.check(required, content))).toBe(content)
  })

  it("costs no more than its length, however many choices and fields the form has", () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `name ${i}`)
    const choices = form({ type: "array", items: { type: "string", enum: names } })
    const fields: RequestedSchema = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      required: names.slice().reverse()
    }
    const start = process.cpuUsage().user
    const answer = { a: Array.from({ length: 200_000 }, () => "name 19999") }
    expect(Either.isRight(ElicitationForm.check(choices, answer))).toBe(true)
    expect(Either.isLeft(ElicitationForm.check(fields, {}))).toBe(true)
    expect(process.cpuUsage().user - start).toBeLessThan(2_000_000)
  })

  it("SHOULD have the defaults of the form", () => {
    const { properties } = Canonical.requestedSchema
    const filled = ElicitationForm.withDefaults(Canonical.requestedSchema as RequestedSchema, { number: 7, more: 1 })
    expect(filled).toEqual({
      text: properties.text.default,
      number: 7,
      yes: true,
      one: "a",
      oneTitled: "a",
      some: ["a"],
      someTitled: ["a"],
      more: 1
    })
    expect(ElicitationForm.withDefaults(form({ type: "string" }))).toEqual({})
    expect(Either.isRight(ElicitationForm.check(Canonical.requestedSchema as RequestedSchema, filled))).toBe(true)
  })
})
