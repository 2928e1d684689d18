import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as ToolHeaders from "../../../src/client/modern/ToolHeaders.js"

const make = () => {
  const headers: ToolHeaders.ToolHeaders = new Map()
  return {
    of: (params: JsonObject | undefined) => ToolHeaders.of(headers, params),
    learn: (page: JsonObject) => ToolHeaders.learn(headers, page)
  }
}

const marked = (name: unknown, header: unknown = "Region", type = "string") => ({
  name,
  inputSchema: { type: "object", properties: { region: { type, "x-mcp-header": header } } }
})

const plain = (name: string) => ({ name, inputSchema: { type: "object", properties: { region: { type: "string" } } } })

const call = (name: string, region: unknown): JsonObject => ({ name, arguments: { region } })

describe("The headers of a tool", () => {
  it("MUST repeat the arguments that the listed schema marks", () => {
    const headers = make()
    const page = { tools: [marked("a"), plain("b")], nextCursor: "2" }
    assert.deepStrictEqual(headers.learn(page), { page, problems: [] })
    assert.deepStrictEqual(headers.of(call("a", "eu")), { "Mcp-Param-Region": "eu" })
    assert.deepStrictEqual(headers.of(call("a", null)), {})
    assert.deepStrictEqual(headers.of({ name: "a" }), {})
    assert.deepStrictEqual(headers.of(call("b", "eu")), {})
  })

  it("do not exist for a tool that was never listed, or that has no name", () => {
    const headers = make()
    assert.deepStrictEqual(headers.of(call("a", "eu")), {})
    assert.deepStrictEqual(headers.of(undefined), {})
    assert.deepStrictEqual(headers.of({ name: 1 }), {})
  })

  it("MUST be those of the newest schema", () => {
    const headers = make()
    headers.learn({ tools: [marked("a")] })
    headers.learn({ tools: [marked("a", "Area")] })
    assert.deepStrictEqual(headers.of(call("a", "eu")), { "Mcp-Param-Area": "eu" })
    headers.learn({ tools: [plain("a")] })
    assert.deepStrictEqual(headers.of(call("a", "eu")), {})
  })

  for (
    const [what, tool, why] of [
      ["an empty name", marked("bad", ""), "is not a valid header name"],
      ["a name with a space", marked("bad", "a b"), "is not a valid header name"],
      ["a type that no header can repeat", marked("bad", "A", "number"), "is not a string, an integer or a boolean"]
    ] as const
  ) {
    it(`MUST NOT have ${what}: the tool is left out with the reason, and the others stay`, () => {
      const headers = make()
      headers.learn({ tools: [marked("bad")] })
      const { page, problems } = headers.learn({ tools: [plain("one"), tool, marked("two")], nextCursor: "2" })
      assert.deepStrictEqual<unknown>(page, { tools: [plain("one"), marked("two")], nextCursor: "2" })
      assert.lengthOf(problems, 1)
      assert.include(problems[0], "\"bad\" (")
      assert.include(problems[0], why)
      // The headers that an older list gave it are forgotten, too.
      assert.deepStrictEqual(headers.of(call("bad", "eu")), {})
    })
  }

  it("are not looked for in what is not a list of tools", () => {
    const headers = make()
    for (
      const page of [{}, { tools: null }, { tools: [null, 1, "a", {}, marked(7), { name: "a", inputSchema: null }] }]
    ) {
      assert.deepStrictEqual<unknown>(headers.learn(page as JsonObject), { page, problems: [] })
    }
  })

  it("are kept for 1,000 tools, those that were listed last", () => {
    const headers = make()
    headers.learn({ tools: Array.from({ length: 1000 }, (_, i) => marked(`t${i}`)) })
    headers.learn({ tools: [marked("t0")] })
    headers.learn({ tools: [marked("new")] })
    assert.deepStrictEqual(headers.of(call("t1", "eu")), {})
    for (const name of ["t0", "t2", "new"]) assert.property(headers.of(call(name, "eu")), "Mcp-Param-Region")
  })

  it("are not kept when their names are longer than HTTP carries: the tool is left out", () => {
    const headers = make()
    const many = Array.from({ length: 1000 }, (_, i) => [`p${i}`, { type: "string", "x-mcp-header": `Header-${i}` }])
    const { page, problems } = headers.learn({
      tools: [{ name: "many", inputSchema: { type: "object", properties: Object.fromEntries(many) } }]
    })
    assert.deepStrictEqual<unknown>(page, { tools: [] })
    assert.deepStrictEqual(problems, ["\"many\" (the names of its headers have more than 16384 characters)"])
    assert.deepStrictEqual(headers.of({ name: "many", arguments: { p0: "a" } }), {})
  })

  it("never look for a name among the properties of an object", () => {
    const headers = make()
    headers.learn({ tools: [marked("a")] })
    for (const name of ["__proto__", "constructor", "toString"]) {
      assert.deepStrictEqual(headers.of(call(name, "eu")), {})
    }
  })
})

describe("The warning about tools that are left out", () => {
  it("names at most ten of them, shortened", () => {
    const headers = make()
    const tools = Array.from({ length: 12 }, (_, i) => marked(`${i}`.padEnd(500, "x"), ""))
    const { problems } = headers.learn({ tools })
    const sentence = ToolHeaders.sentence(problems)
    assert.include(sentence, "Tools are left out of the list, because they name invalid headers: \"0x")
    assert.include(sentence, ", and 2 more")
    assert.isBelow(sentence.length, 10 * 350)
  })

  it("is one line, whatever the tools are called", () => {
    const { problems } = make().learn({ tools: [marked("a\nERROR \u001b[31mb", "c\r\nd")] })
    assert.match(ToolHeaders.sentence(problems), /"a ERROR {2}\[31mb" \(/)
    assert.notMatch(ToolHeaders.sentence(problems), /\p{Cc}/u)
  })
})
