import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, FastCheck as fc, Schema } from "effect"
import * as JsonSchema from "../../../src/definition/schema/JsonSchema.js"
import * as PatternFlags from "../../../src/definition/schema/PatternFlags.js"

const pieces = [
  "a",
  "Z",
  "b",
  "sS",
  "k",
  "K",
  "ſ",
  "\u212a",
  "é",
  "É",
  "1",
  "-",
  "_",
  " ",
  "\n",
  "\r\n",
  "\u2028",
  "[",
  "]",
  "^",
  "x",
  "\\",
  "."
] // prettier-ignore

const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(""))

const written: ReadonlyArray<readonly [RegExp, string]> = [
  [/^a1$/i, "^[aA]1$"],
  [/^[a-f\d]+$/i, "^[a-f\\dABCDEF]+$"],
  [/^[^a-c]$/i, "^[^a-cABC]$"],
  [/^[A-^]$/i, "^[A-^abcdefghijklmnopqrstuvwxyz]$"],
  [/^[\]a\-z]+$/i, "^[\\]a\\-zAZ]+$"],
  [/^(?<name>k){1,2}(?!b)/i, "^(?<name>[kK]){1,2}(?![bB])"],
  [/^[sk]$/iu, "^[skS\u017fK\u212a]$"],
  [/^k\s$/iu, "^[kK\u212a]\\s$"],
  [/\bx\b/i, "\\b[xX]\\b"],
  [/^.[.]\.$/s, "^[\\s\\S][.]\\.$"],
  [/x.y/m, "x.y"],
  [/a|b/y, "^(?:a|b)"],
  [/a.|B/isy, "^(?:[aA][\\s\\S]|[Bb])"],
  [/^\d+$/i, "^\\d+$"],
  [new RegExp("^\\p{Lu}$", "v"), "^\\p{Lu}$"],
  [/^a$/dgu, "^a$"]
]

const left: ReadonlyArray<RegExp> = [
  /^a$/m,
  /é/i,
  /[à-ý]/i,
  /\x41/i,
  /[\u0041]/i,
  /(a)\1/i,
  /\w/iu,
  /\bx/iu,
  /[\x41-z]/i,
  /\p{Lu}/iu,
  new RegExp("^[[a-z]--b]$", "v"),
  new RegExp("^[\\w&&\\d]$", "v"),
  new RegExp("^\\p{RGI_Emoji}$", "v")
]

describe("A pattern with flags", () => {
  for (const [expression, pattern] of written) {
    it(`${String(expression)} is advertised as the pattern that accepts the same texts`, () => {
      assert.strictEqual(PatternFlags.make(expression), pattern)
      const advertised = new RegExp(pattern, "u")
      const test = (text: string) => {
        expression.lastIndex = 0
        return expression.test(text)
      }
      fc.assert(fc.property(texts, (text) => test(text) === advertised.test(text)), { numRuns: 300 })
    })
  }

  for (const expression of left) {
    it(`${String(expression)} is not advertised, because no pattern is plainly the same`, () =>
      assert.isUndefined(PatternFlags.make(expression)))
  }

  it("is rewritten wherever a schema has it, and a text of Effect follows it", () => {
    const name = Schema.String.pipe(Schema.pattern(/^[a-c]$/i))
    const advertised = { type: "string", pattern: "^[a-cABC]$" }
    interface Tree {
      readonly name: string
      readonly below: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({
      name,
      below: Schema.Array(Schema.suspend(() => Tree))
    }).annotations({ identifier: "Tree" })
    const made = JsonSchema.make(Schema.Struct({
      own: name,
      optional: Schema.optional(name),
      list: Schema.Array(name),
      tuple: Schema.Tuple(name),
      either: Schema.Union(name, Schema.Number),
      record: Schema.Record({ key: Schema.String.pipe(Schema.pattern(/^k$/i)), value: name }),
      transformed: name.pipe(Schema.compose(Schema.Trim)),
      tree: Tree
    }))
    const { properties: { either, list, optional, own, record, transformed, tuple } } = made as any
    assert.deepStrictEqual(
      [
        own,
        optional,
        list.items,
        tuple.items?.[0] ?? tuple.prefixItems[0],
        either.anyOf[0],
        record.patternProperties[""]
      ],
      Array.from({ length: 6 }, () => advertised)
    )
    assert.deepStrictEqual(record.propertyNames, { type: "string", pattern: "^[kK]$" })
    assert.strictEqual(transformed.pattern, advertised.pattern)
    assert.notInclude(JSON.stringify(made), "\"^[a-c]$\"")
  })

  it("leaves its description where it is not advertised, with the flags", () => {
    const lines = Schema.String.pipe(Schema.pattern(/^a$/m))
    assert.deepStrictEqual<unknown>(JsonSchema.make(lines), {
      type: "string",
      description: "a string matching the pattern /^a$/m"
    })
    assert.deepStrictEqual<unknown>(JsonSchema.make(lines.annotations({ description: "A line" })), {
      type: "string",
      description: "A line"
    })
  })

  it("is not advertised where one schema has it with different flags", () => {
    const made = JsonSchema.make(Schema.Struct({
      strict: Schema.String.pipe(Schema.pattern(/^a$/)),
      loose: Schema.String.pipe(Schema.pattern(/^a$/i))
    }))
    assert.notProperty((made as any).properties.strict, "pattern")
    assert.notProperty((made as any).properties.loose, "pattern")
  })

  const Echo = Tool.make("echo", {
    parameters: {
      code: Schema.String.pipe(Schema.pattern(/^[a-z]+$/i)),
      line: Schema.String.pipe(Schema.pattern(/^b$/m))
    },
    success: Schema.Struct({
      code: Schema.String.pipe(Schema.pattern(/^[a-z]+$/i)),
      ulid: Schema.ULID,
      line: Schema.String.pipe(Schema.pattern(/^b$/m))
    })
  })

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scoped(`of a valid result is not refused by a client that checks outputs, at ${version}`, () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const result = yield* client.callTool("echo", { code: "AbC", line: "a\nb" })
        assert.deepInclude(result.structuredContent, { code: "AbC", line: "a\nb" })
      }).pipe(Effect.provide(TestServer.layer(
        Definition.make(Echo),
        McpServer.tool(Echo, ({ code, line }) => Effect.succeed({ code, line, ulid: "01arz3ndektsv4rrffq69g5fav" })),
        { versions: [version] }
      ))))
  }
})
