import * as Tools from "@effect-mcp/core/protocol/Tools"
import type { Version } from "@effect-mcp/core/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const isTool = SchemaCheck.compile(Tools.Tool)
const narrowed = (tool: unknown, version: Version) => Projection.compile(Tools.Tool, version)(tool as Tools.Tool)
const of = (inputSchema: unknown, outputSchema?: unknown) => ({ name: "x", inputSchema, outputSchema })

describe("Tool", () => {
  it("sends each revision the fields that it knows", () => {
    const { inputSchema } = Canonical.tool
    const old = { name: "search", description: "Searches notes", inputSchema }
    const { annotations } = Canonical.tool
    expect(narrowed(Canonical.tool, "2024-11-05")).toEqual(old)
    expect(narrowed(Canonical.tool, "2025-03-26")).toEqual({ ...old, annotations })
    const { execution, icons, ...rest } = Canonical.tool
    expect(narrowed(Canonical.tool, "2025-06-18")).toEqual(rest)
    expect(narrowed(Canonical.tool, "2025-11-25")).toEqual({ ...rest, icons, execution })
    expect(narrowed(Canonical.tool, "2026-07-28")).toEqual({ ...rest, icons })
  })

  it.each([
    [undefined],
    [null],
    [true],
    [{}],
    [{ type: "array" }],
    [{ type: ["object"] }],
    [{ type: "object", $schema: 1 }]
  ])("MUST have an object schema for its arguments, not %j", (schema) => expect(isTool(of(schema))).toBe(false))

  it("sends the legacy era schemas that it knows", () => {
    const wide = of(
      { type: "object", properties: { any: true, none: false, q: { type: "string" } }, required: "q", x: 1 },
      { type: "array", items: {} }
    )
    expect(isTool(wide)).toBe(true)
    expect(narrowed(wide, "2026-07-28")).toBe(wide)
    expect(narrowed(wide, "2025-11-25")).toEqual({
      name: "x",
      inputSchema: { type: "object", properties: { any: {}, none: { not: {} }, q: { type: "string" } }, x: 1 },
      outputSchema: { type: "object", properties: { result: { type: "array", items: {} } }, required: ["result"] }
    })
    expect(narrowed(of({ type: "object", properties: 5 }), "2025-11-25")).toEqual({
      name: "x",
      inputSchema: { type: "object" }
    })
  })

  it("sends the legacy era an output schema of other values as the member of an object, whose references are followed", () => {
    const output = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      anyOf: [{ $ref: "#/$defs/tree" }, { $ref: "#" }, { $ref: "https://example.com/a#/b" }, { $dynamicRef: "#node" }],
      default: { $ref: "#/$defs/tree" },
      properties: { default: { $ref: "#/$defs/tree" } },
      $defs: {
        tree: { items: { $ref: "#/$defs/tree" } },
        other: { $id: "https://example.com/other", items: { $ref: "#/a" } }
      }
    }
    expect(narrowed(of({ type: "object" }, output), "2025-06-18")).toEqual({
      name: "x",
      inputSchema: { type: "object" },
      outputSchema: {
        $schema: output.$schema,
        type: "object",
        required: ["result"],
        properties: {
          result: {
            anyOf: [
              { $ref: "#/properties/result/$defs/tree" },
              { $ref: "#/properties/result" },
              { $ref: "https://example.com/a#/b" },
              { $dynamicRef: "#node" }
            ],
            default: output.default,
            properties: { default: { $ref: "#/properties/result/$defs/tree" } },
            $defs: { tree: { items: { $ref: "#/properties/result/$defs/tree" } }, other: output.$defs.other }
          }
        }
      }
    })
  })
})

describe("CallToolResult", () => {
  const isResult = SchemaCheck.compile(Tools.CallToolResult)
  const narrow = (structuredContent: unknown, version: Version) =>
    Projection.compile(Tools.CallToolResult, version)({ content: [], structuredContent })

  it("needs content, possibly empty", () => {
    expect([isResult({ content: [] }), isResult({}), isResult({ content: null })]).toEqual([true, false, false])
    expect(isResult({ content: [], structuredContent: null })).toBe(true)
  })

  it("has structured content from 2025-06-18 on, an object up to 2025-11-25", () => {
    expect(narrow({ a: 1 }, "2025-03-26")).toEqual({ content: [] })
    expect(narrow({ a: 1 }, "2025-06-18")).toEqual({ content: [], structuredContent: { a: 1 } })
    for (const value of [null, 1, "x", [1]]) {
      expect(narrow(value, "2025-11-25")).toEqual({ content: [], structuredContent: { result: value } })
      expect(narrow(value, "2026-07-28")).toEqual({ content: [], structuredContent: value })
    }
  })
})

describe("CallToolParams", () => {
  it("has an object of arguments, or none", () => {
    const is = SchemaCheck.compile(Tools.CallToolParams)
    expect([{ name: "x" }, { name: "x", arguments: {} }].map(is)).toEqual([true, true])
    expect([{ name: "x", arguments: [] }, { name: "x", arguments: null }, { arguments: {} }].map(is))
      .toEqual([false, false, false])
  })

  it("asks for a task at 2025-11-25 only", () => {
    const wish = { name: "x", task: { ttl: 1 } }
    const narrow = (version: Version) => Projection.compile(Tools.CallToolParams, version)(wish)
    expect(narrow("2025-06-18")).toEqual({ name: "x" })
    expect(narrow("2025-11-25")).toBe(wish)
    expect(narrow("2026-07-28")).toEqual({ name: "x" })
  })
})
