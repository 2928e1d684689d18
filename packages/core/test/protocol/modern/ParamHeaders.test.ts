import * as ParamHeaders from "@effect-mcp/core/protocol/modern/ParamHeaders"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"

const text = (name: unknown) => ({ type: "string", "x-mcp-header": name })
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more })

const schema = object({
  region: text("Region"),
  dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
  deep: object({ count: { type: "integer", "x-mcp-header": "Count" } }),
  free: { type: "number" }
})
const headers = Either.getOrThrow(ParamHeaders.of(schema))

describe("the marks of a tool", () => {
  it("name headers and lead to arguments", () => {
    expect(headers).toEqual([
      { header: "Mcp-Param-Region", path: ["region"] },
      { header: "Mcp-Param-Dry-Run", path: ["dry"] },
      { header: "Mcp-Param-Count", path: ["deep", "count"] }
    ])
    expect(ParamHeaders.of({ type: "object" })).toEqual(Either.right([]))
    expect(ParamHeaders.of(object({ a: text("Method") }))).toEqual(
      Either.right([{ header: "Mcp-Param-Method", path: ["a"] }])
    )
    expect(ParamHeaders.of(object({ "x-mcp-header": { type: "string" } }))).toEqual(Either.right([]))
    expect(ParamHeaders.of(object({ a: { type: "string", default: { "x-mcp-header": "A" } } }))).toEqual(
      Either.right([])
    )
  })

  it.each<[what: string, schema: object, why: string]>([
    ["an empty name", object({ a: text("") }), "not a valid header name"],
    ["a name with a space", object({ a: text("a b") }), "not a valid header name"],
    ["a name with a colon", object({ a: text("a:b") }), "not a valid header name"],
    ["a name beyond ASCII", object({ a: text("é") }), "not a valid header name"],
    ["a name with a line end", object({ a: text("a\r\nb") }), "not a valid header name"],
    ["a name that is not a text", object({ a: text(1) }), "not a valid header name"],
    ["a name that is null", object({ a: text(null) }), "not a valid header name"],
    ["the same name twice", object({ a: text("X"), b: text("x") }), "two properties"],
    ["the same name deeper", object({ a: text("X"), b: object({ c: text("X") }) }), "two properties"],
    ["a number", object({ a: { type: "number", "x-mcp-header": "A" } }), "not a string, an integer or a boolean"],
    ["a list", object({ a: { type: "array", "x-mcp-header": "A" } }), "not a string, an integer or a boolean"],
    ["an object", object({ a: { type: "object", "x-mcp-header": "A" } }), "not a string, an integer or a boolean"],
    ["nothing", object({ a: { type: "null", "x-mcp-header": "A" } }), "not a string, an integer or a boolean"],
    [
      "one of several types",
      object({ a: { type: ["string"], "x-mcp-header": "A" } }),
      "not a string, an integer or a boolean"
    ],
    ["no type", object({ a: { "x-mcp-header": "A" } }), "not a string, an integer or a boolean"],
    ["the arguments themselves", { type: "object", "x-mcp-header": "A" }, "itself is marked"],
    ["what is in a list", object({ a: { type: "array", items: text("A") } }), "not reached"],
    ["what is in a list of lists", object({ a: { type: "array", prefixItems: [text("A")] } }), "not reached"],
    ["one of several", object({}, { oneOf: [object({ a: text("A") })] }), "not reached"],
    ["any of several", object({}, { anyOf: [object({ a: text("A") })] }), "not reached"],
    ["all of several", object({}, { allOf: [object({ a: text("A") })] }), "not reached"],
    ["what is not", object({}, { not: object({ a: text("A") }) }), "not reached"],
    ["what is if", object({}, { if: object({ a: text("A") }) }), "not reached"],
    ["what is then", object({}, { then: object({ a: text("A") }) }), "not reached"],
    ["what is else", object({}, { else: object({ a: text("A") }) }), "not reached"],
    ["what is referred to", object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: text("A") } }), "not reached"],
    ["a pattern of names", object({}, { patternProperties: { a: text("A") } }), "not reached"],
    ["any other name", object({}, { additionalProperties: text("A") }), "not reached"]
  ])("MUST NOT be on %s", (_, schema, why) => {
    expect(Either.getOrThrow(Either.flip(ParamHeaders.of(schema as {})))).toContain(why)
  })

  it("cost no more for the names of the objects that they are in", () => {
    const marked = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`n${i}`, text(`H${i}`)]))
    const long = object({ ["x".repeat(2_000_000)]: object(marked) })
    const start = process.cpuUsage().user
    expect(Either.getOrThrow(ParamHeaders.of(long))).toHaveLength(20_000)
    expect(process.cpuUsage().user - start).toBeLessThan(1_000_000)
  })

  it("are not searched without a depth limit", () => {
    let deep: object = text("A")
    for (let i = 0; i < 10_000; i++) deep = object({ a: deep })
    expect(Either.isLeft(ParamHeaders.of(deep as {}))).toBe(true)
    let items: object = text("A")
    for (let i = 0; i < 10_000; i++) items = { type: "array", items }
    expect(Either.isLeft(ParamHeaders.of(object({ a: items })))).toBe(true)
  })
})

describe("the headers of a call", () => {
  it.each<[args: object | undefined, sent: object]>([
    [undefined, {}],
    [{}, {}],
    [{ region: null, dry: null, deep: null }, {}],
    [{ region: "", dry: false, deep: { count: 0 } }, {
      "Mcp-Param-Region": "",
      "Mcp-Param-Dry-Run": "false",
      "Mcp-Param-Count": "0"
    }],
    [{ region: "日本語", dry: true, deep: { count: -42 } }, {
      "Mcp-Param-Region": "=?base64?5pel5pys6Kqe?=",
      "Mcp-Param-Dry-Run": "true",
      "Mcp-Param-Count": "-42"
    }],
    [{ region: { a: 1 }, deep: { count: 1.5 } }, {}],
    [{ deep: { count: 2 ** 53 } }, {}],
    [{ deep: [1] }, {}],
    [Object.create({ region: "inherited" }) as object, {}]
  ])("MUST repeat the arguments of %j", (args, sent) => {
    expect(ParamHeaders.make(headers, args as {} | undefined)).toEqual(sent)
  })

  const check = (args: object, sent: Readonly<Record<string, string>>) =>
    ParamHeaders.check(headers, args as {}, (name) => sent[name])

  it.each<[args: object, sent: Record<string, string>]>([
    [{}, {}],
    [{ region: null }, {}],
    [{ region: null }, { "mcp-param-region": "x" }],
    [{ region: "x" }, { "mcp-param-region": "=?base64?eA==?=", "mcp-param-other": "y" }],
    [{ deep: { count: 42 } }, { "mcp-param-count": "42.0" }],
    [{ deep: { count: -1 } }, { "mcp-param-count": " -1 " }]
  ])("agree: %j and %j", (args, sent) => expect(check(args, sent)).toEqual(Either.right(undefined)))

  it.each<[args: object, sent: Record<string, string>]>([
    [{ region: "x" }, {}],
    [{ region: "x" }, { "mcp-param-region": "X" }],
    [{ region: "x" }, { "mcp-param-region": "=?base64?eA?=" }],
    [{ region: "é" }, { "mcp-param-region": "é" }],
    [{ dry: true }, { "mcp-param-dry-run": "True" }],
    [{ deep: { count: 42 } }, { "mcp-param-count": "43" }],
    [{ deep: { count: 42 } }, { "mcp-param-count": "4.2e1" }],
    [{ deep: { count: 42 } }, { "mcp-param-count": "0x2a" }],
    [{ deep: { count: 0 } }, { "mcp-param-count": "" }]
  ])("MUST be refused: %j and %j", (args, sent) => {
    expect(Either.getOrThrow(Either.flip(check(args, sent)))._tag).toBe("HeaderMismatch")
  })
})
