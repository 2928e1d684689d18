// The report shows declarations without comments, and finds a hidden module behind every way to mention it.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { declarationsOf, hiddenIn } from "./api.mjs"

const server = { name: "server" }

describe("the API report", () => {
  it("shows declarations without comments and source maps", () =>
    assert.equal(
      declarationsOf("/** What it is. */\nexport declare const a: 1;\n//# sourceMappingURL=a.d.ts.map\n"),
      "export declare const a: 1;"
    ))

  it("sorts the members of types, whose order differs between builds", () => {
    const report = (type) => declarationsOf(`export declare const a: ${type};\n`)
    assert.equal(report("{ b: 1; a: \"y\" | \"x\" }"), report("{ a: \"x\" | \"y\"; b: 1 }"))
  })

  it("leaves out what the schemas of a vocabulary have inside, and nothing else", () => {
    const report = (declaration) => declarationsOf(`export declare const a: ${declaration};\n`, true)
    for (
      const [declaration, shown] of [
        ["Schema.Struct<{ a: Schema.optional<typeof Schema.String> }>", "Schema.Struct<…>"],
        ["Schema.Schema<Result>", "Schema.Schema<Result>"],
        [
          "ReadonlyMap<string, Method.Request<\"a\", { readonly b: 1 }, Result>>",
          "ReadonlyMap<string, Method.Request<\"a\", …, Result>>"
        ],
        ["Extension.Extension<{ a: Extension.RequestDefinition<\"client\", { b: 1 }> }>", "<\"client\", …>"]
      ]
    ) assert.ok(report(declaration).includes(shown), report(declaration))
    const others = [
      "export declare const a: (options: Schema.Schema<{\n    b: 1;\n}>) => void;",
      "export interface A extends Schema.Schema<{\n    b: 1;\n}> {\n}"
    ]
    for (const one of others) assert.equal(declarationsOf(one, true), one)
  })

  for (
    const [what, text] of [
      ["an import", "import type { Router } from \"./runtime/Router.js\";\nexport declare const a: Router;\n"],
      ["an import type", "export declare const a: import(\"./runtime/Router.js\").Router;\n"],
      [
        "a sibling's module",
        "import * as Json from \"@effect-mcp/core/unstable/jsonrpc/Json\";\nexport declare const a: Json.Refused;\n"
      ]
    ]
  ) {
    it(`finds a hidden module behind ${what}`, () => assert.equal(hiddenIn(server, "McpServer", text).length, 1))
  }

  it("takes public modules", () => {
    const text = "import type { A } from \"./Registry.js\";\nimport type { B } from \"@effect-mcp/core/Message\";\n"
    assert.deepEqual(hiddenIn(server, "McpServer", text), [])
  })
})
