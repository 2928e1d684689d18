import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Either, FastCheck as fc, Schema } from "effect"
import { schemaArbitrary } from "../../../../testing/test/support/SchemaArbitrary.js"
import * as ExternalSchema from "../../../src/definition/schema/ExternalSchema.js"
import * as JsonSchema from "../../../src/definition/schema/JsonSchema.js"
import * as JsonSchemaValidator from "../../../src/definition/schema/JsonSchemaValidator.js"

const ofApplication = { isOfApplication: true, patterns: "native", formats: true } as const
const validator = (schema: JsonObject) => {
  const validate = Either.getOrThrow(JsonSchemaValidator.make(schema, ofApplication))
  return (value: unknown) => Either.getOrElse(validate(value), (message) => [{ path: [], message }])
}
const conforms = (schema: JsonObject, value: unknown) => validator(schema)(value).length === 0
const problem = (schema: JsonObject, patterns: "native" | "linear" = "native") =>
  Either.getOrThrow(Either.flip(JsonSchemaValidator.make(schema, { ...ofApplication, patterns })))

const draft07 = "http://json-schema.org/draft-07/schema#"

/** A reference to the same schema twice at each level: twice the work for each. */
const doubling = (levels: number): JsonObject => ({
  $ref: "#/$defs/0",
  $defs: Object.fromEntries(Array.from({ length: levels }, (_, i) => [
    `${i}`,
    i === levels - 1 ? {} : { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] }
  ]))
})

describe("A validator", () => {
  const Search = validator({
    type: "object",
    properties: { q: { type: "string" }, tags: { type: "array", items: { enum: ["a", "b"] } } },
    required: ["q", "tags"],
    additionalProperties: false
  })

  it("accepts a value that conforms, and names every place that does not", () => {
    assert.deepStrictEqual(Search({ q: "x", tags: ["a"] }), [])
    assert.deepStrictEqual(Search({ q: 1, tags: ["a", "c"], more: 1 }), [
      { path: ["q"], message: "must be string" },
      { path: ["tags", "1"], message: `must be one of "a", "b"` },
      { path: ["more"], message: "is unexpected" }
    ])
    // The errors of one value are not reported for the next.
    assert.deepStrictEqual(Search({ q: "x", tags: [] }), [])
  })

  it("names what is missing, unexpected, misnamed, or not one of the values, and where", () => {
    const holder = { required: ["a"], properties: { a: {} }, additionalProperties: false }
    assert.deepStrictEqual(validator({ properties: { in: holder } })({ in: { b: 1 } }), [
      { path: ["in", "a"], message: "is missing" },
      { path: ["in", "b"], message: "is unexpected" }
    ])
    for (
      const [schema, value, error] of [
        [{ unevaluatedProperties: false }, { b: 1 }, { path: ["b"], message: "is unexpected" }],
        [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, { path: ["ab"], message: "has a name that is not allowed" }],
        [{ properties: { a: false } }, { a: 1 }, { path: ["a"], message: "is not allowed" }],
        [{ enum: ["a", 1, null] }, "b", { path: [], message: `must be one of "a", 1, null` }],
        [{ const: { a: 1 } }, 1, { path: [], message: `must be {"a":1}` }],
        [{ type: "integer" }, 1.5, { path: [], message: "must be integer" }]
      ] as const
    ) assert.deepStrictEqual(validator(schema)(value), [error])
    const [many] = validator({ enum: Array.from({ length: 200 }, (_, i) => `${i}`.repeat(300)) })("x")
    assert.isBelow(many!.message.length, 2500)
    assert.match(many!.message, /^must be one of "0000.*… and 180 others$/)
  })

  it("reports a limited number of errors", () => {
    const wrong = (length: number) => ({ q: "x", tags: Array.from({ length }, () => 0) })
    assert.lengthOf(Search(wrong(100)), ExternalSchema.limits.errors)
    assert.deepStrictEqual(Search({ q: "x", tags: Array.from({ length: 1000 }, () => "a") }), [])
  })

  it("looks at own members only, not at inherited ones", () => {
    assert.isFalse(conforms({ required: ["toString"] }, {}))
    assert.isTrue(conforms({ properties: { constructor: { type: "string" } } }, {}))
    assert.isTrue(conforms({ additionalProperties: false, properties: { valueOf: {} } }, { valueOf: 1 }))
  })

  it("takes a number that is too large for null nowhere", () => {
    const huge = JSON.parse("1e999") as unknown
    assert.isFalse(conforms({ const: null }, huge))
    assert.isFalse(conforms({ enum: [[null]] }, [huge]))
    assert.isTrue(conforms({ uniqueItems: true }, [null, huge]))
    assert.isFalse(conforms({ uniqueItems: true }, [0, -0]))
  })

  it("takes a number for a multiple only when it is one, however large it is", () => {
    for (
      const [multipleOf, value, expected] of [
        [1000, 1_700_000_000_001, false],
        [1000, 1_700_000_000_000, true],
        [2, 1_000_000_001, false],
        [3, Number.MAX_SAFE_INTEGER, false],
        [1, 1_000_000_000.5, false],
        [0.5, 1_000_000_000.5, true],
        [0.0001, 0.0075, true],
        [0.01, 1_234_567.89, true],
        [0.01, 1_234_567.891, false],
        [1e-8, 12_391_239_123, true],
        [0.123456789, 1e308, false],
        [0.5, 1e308, true]
      ] as const
    ) assert.strictEqual(conforms({ multipleOf }, value), expected, `${value} as a multiple of ${multipleOf}`)
  })

  it("agrees with Effect's decoder about a generated schema", () => {
    const Value = Schema.Struct({
      a: Schema.Int.pipe(Schema.between(0, 9)),
      b: Schema.optionalWith(Schema.Array(Schema.Literal("x", "y")), { exact: true }),
      c: Schema.NullOr(Schema.Struct({ d: Schema.Boolean }))
    })
    const validate = validator(JsonSchema.make(Value))
    const good = schemaArbitrary(Value)
    const bad = fc.record({ a: fc.jsonValue(), b: fc.jsonValue(), c: fc.jsonValue() })
    fc.assert(fc.property(fc.oneof(good, bad), (value) => {
      assert.strictEqual(validate(value).length === 0, Schema.is(Value)(value))
    }))
  })
})

describe("The dialect of a schema", () => {
  it("is draft 2020-12, unless the schema names another supported one", () => {
    const pair = [{ type: "string" }, { type: "number" }]
    const old = { definitions: { a: { type: "string" } }, $ref: "#/definitions/a", minLength: 2 }
    const newer = "https://json-schema.org/draft/2020-12/schema"
    for (const schema of [{ prefixItems: pair }, { $schema: newer, prefixItems: pair }]) {
      assert.isFalse(conforms(schema, ["a", "b"]))
    }
    for (const $schema of [draft07, "https://json-schema.org/draft-07/schema"]) {
      assert.isTrue(conforms({ $schema, prefixItems: pair }, ["a", "b"]))
      assert.isFalse(conforms({ $schema, items: pair }, ["a", "b"]))
      // Keywords beside a reference are ignored.
      assert.isTrue(conforms({ $schema, ...old }, "a"))
    }
    assert.isFalse(conforms(old, "a"))
    const recursive = {
      $schema: "https://json-schema.org/draft/2019-09/schema",
      $recursiveAnchor: true,
      properties: { next: { $recursiveRef: "#" } },
      type: "object"
    }
    assert.isTrue(conforms(recursive, { next: { next: {} } }))
    assert.isFalse(conforms(recursive, { next: { next: 1 } }))
  })

  it("decides what `$id` beside a reference means: nothing in draft-07, and later the base of the reference", () => {
    const beside = {
      $id: "https://example.com/root",
      properties: { a: { $id: "other/", $ref: "item" } },
      definitions: { one: { $id: "item", type: "string" }, two: { $id: "other/item", type: "number" } }
    }
    assert.isTrue(conforms({ $schema: draft07, ...beside }, { a: "text" }))
    assert.isFalse(conforms({ $schema: draft07, ...beside }, { a: 1 }))
    assert.isTrue(conforms(beside, { a: 1 }))
    assert.isFalse(conforms(beside, { a: "text" }))
    // Beside a reference it also names nothing that another reference could lead to.
    const named = { ...beside, items: { $ref: "other/" } }
    assert.include(problem({ $schema: draft07, ...named }), "\"$ref\" leads to no part of it: other/")
    assert.isTrue(conforms(named, [1]))
  })

  it("is refused when it is not supported", () => {
    const known = "supported are draft 2020-12, 2019-09 and draft-07"
    const draft04 = "http://json-schema.org/draft-04/schema#"
    assert.strictEqual(problem({ $schema: draft04 }), `has the dialect "${draft04}"; ${known}`)
    assert.strictEqual(problem({ $schema: 7 }), `has the dialect 7; ${known}`)
  })
})

describe("A schema", () => {
  it("may have definitions, anchors, dynamic references and an `$id`", () => {
    const tree = {
      $id: "https://example.com/tree",
      $dynamicAnchor: "node",
      type: "object",
      properties: { children: { type: "array", items: { $dynamicRef: "#node" } }, name: { $ref: "#name" } },
      $defs: { name: { $anchor: "name", type: "string" } },
      unevaluatedProperties: false
    }
    // Twice: the second compilation knows nothing of the first.
    for (const validate of [validator(tree), validator(tree)]) {
      assert.deepStrictEqual(validate({ name: "a", children: [{ name: "b", children: [] }] }), [])
      assert.deepStrictEqual(validate({ children: [{ name: 1 }] }), [
        { path: ["children", "0", "name"], message: "must be string" }
      ])
    }
  })

  it("may have unknown keywords and formats, and those of other drafts, which check nothing", () => {
    const odd = {
      "x-odd": { type: "string" },
      format: "odd",
      id: "odd",
      example: 1,
      nullable: true,
      $async: true,
      properties: { id: { type: "string" } }
    }
    assert.isTrue(conforms(odd, "anything"))
    assert.isFalse(conforms(odd, { id: 1 }))
  })

  it("may refer to the meta-schema", () => {
    const schema = { properties: { schema: { $ref: "https://json-schema.org/draft/2020-12/schema" } } }
    assert.isTrue(conforms(schema, { schema: { type: "object" } }))
    assert.isFalse(conforms(schema, { schema: { type: "odd" } }))
  })

  it("may have patterns that are not valid in Unicode mode", () => {
    assert.isTrue(conforms({ pattern: "^[\\w-.]+\\_$" }, "a-b._"))
    assert.isFalse(conforms({ pattern: "^[\\w-.]+\\_$" }, "a b"))
    assert.isTrue(conforms({ pattern: "^\\p{Lu}.$" }, "Ä𝒳"))
  })

  it("is refused when it is not valid, with the place", () => {
    for (
      const [schema, why] of [
        [
          { properties: { a: { type: "objekt" } } },
          `is not a valid JSON Schema: "properties.a.type" must be one of null, boolean, number, integer, string`
        ],
        [{ anyOf: [{}, { minLength: -1 }] }, `is not a valid JSON Schema: "anyOf.1.minLength" must be a whole number`],
        [{ $defs: { a: { items: { required: [1] } } } }, `"$defs.a.items.required" must be an array of strings`],
        [{ $schema: draft07, required: "a" }, `is not a valid JSON Schema: "required" must be an array of strings`],
        [{ pattern: "(" }, `has the regular expression "(", which is not a regular expression`],
        [{ default: 1n }, "is not a JSON Schema: it must be an object that JSON can represent"]
      ] as const
    ) assert.include(problem(schema), why)
  })

  it("cannot refer to anything that would have to be fetched", () => {
    const why = `cannot be used: "$ref" leads to no part of it: `
    const $ref = "https://example.com/a.json"
    assert.strictEqual(problem({ properties: { a: { $ref } } }), why + $ref)
    assert.strictEqual(problem({ $ref: "#/$defs/none" }), `${why}#/$defs/none`)
  })

  it("is refused for regular expressions that have no linear run, unless it may run them natively", () => {
    const refusal = "has the regular expression \"(?=a)\", which has a lookaround, a back reference or a modifier; " +
      "the option `patterns: \"native\"` may accept it"
    assert.strictEqual(problem({ properties: { a: { pattern: "(?=a)" } } }, "linear"), refusal)
    assert.strictEqual(problem({ patternProperties: { "(?=a)": {} } }, "linear"), refusal)
    const named = { properties: { pattern: { type: "string" } } }
    assert.isTrue(Either.isRight(JsonSchemaValidator.make(named, { ...ofApplication, patterns: "linear" })))
  })

  it("may have lookarounds and back references", () => {
    assert.isTrue(conforms({ pattern: "^(?=.*\\d)(.)\\1" }, "aa1"))
    assert.isFalse(conforms({ pattern: "^(?=.*\\d)(.)\\1" }, "ab1"))
  })

  it("cannot run its text as code", () => {
    const global = globalThis as { breached?: boolean }
    const code = [
      "globalThis.breached=true",
      "\"];globalThis.breached=true;[\"",
      "'+(globalThis.breached=true)+'",
      "${globalThis.breached=true}",
      "`;globalThis.breached=true;`",
      "*/globalThis.breached=true/*",
      "\n\u2028globalThis.breached=true\u2029//",
      "\\\");globalThis.breached=true;//",
      "a\\u0022];globalThis.breached=true;//"
    ]
    const texts = fc.oneof(
      fc.constantFrom(...code),
      fc.tuple(fc.constantFrom("\"", "'", "`", "\\", "*/", "\n", ")"), fc.constantFrom(...code)).map(([a, b]) => a + b)
    )
    fc.assert(
      fc.property(texts, (text) => {
        const places: ReadonlyArray<JsonObject> = [
          { properties: { [text]: { type: "string" } }, required: [text] },
          { enum: [text, { [text]: text }] },
          { const: text },
          { $id: `https://example.com/${encodeURIComponent(text)}`, $comment: text, title: text },
          { $defs: { [text]: { type: "string" } }, $ref: `#/$defs/${encodeURIComponent(text)}` },
          { patternProperties: { [text.replace(/[^\w=.]/g, "\\$&")]: { const: text } } },
          { dependentRequired: { [text]: [text] }, dependentSchemas: { [text]: { required: [text] } } },
          { [text]: text, format: text, contentMediaType: text },
          { $anchor: text },
          { $dynamicAnchor: text, $dynamicRef: `#${text}` },
          { if: { required: [text] }, then: { properties: { [text]: false } } },
          { pattern: text },
          { errorMessage: text, discriminator: { propertyName: text }, nullable: text }
        ]
        for (const schema of places) {
          const validate = Either.getOrElse(
            JsonSchemaValidator.make(schema, ofApplication),
            () => () => Either.right([])
          )
          for (const value of [text, { [text]: 1 }, {}, [text]]) validate(value)
        }
        assert.isUndefined(global.breached)
      }),
      { numRuns: 60 }
    )
  })
})

describe("The work of a validator is bounded", () => {
  const tooDeep = [{ path: [], message: "cannot be checked: it is nested too deeply" }]

  it("when a schema leads through too many references", () => {
    assert.isTrue(conforms(doubling(10), 1))
    assert.deepStrictEqual(validator(doubling(50))(1), [
      { path: [], message: "cannot be checked: it is too much work" }
    ])
    // Each value has the whole budget.
    const validate = validator(doubling(16))
    for (let i = 0; i < 10; i++) assert.deepStrictEqual(validate(1), [])
  })

  it("when a schema refers to itself without end", () => {
    assert.deepStrictEqual(validator({ $ref: "#" })(1), tooDeep)
    assert.deepStrictEqual(validator({ $dynamicAnchor: "a", allOf: [{ $dynamicRef: "#a" }] })(1), tooDeep)
  })

  it("when a value is nested deeper than the stack", () => {
    let value: unknown = 1
    for (let i = 0; i < 100_000; i++) value = [value]
    assert.deepStrictEqual(validator({ items: { $ref: "#" } })(value), tooDeep)
  })

  it("when items must be unique: linear in their number", () => {
    const unique = validator({ uniqueItems: true })
    assert.deepStrictEqual(unique(Array.from({ length: 50_000 }, (_, i) => [i])), [])
    assert.deepStrictEqual(unique([{ a: 1, b: [2] }, { b: [2], a: 1 }]), [
      { path: [], message: "must not contain the same item twice" }
    ])
    assert.deepStrictEqual(unique([1, "1", true, "true", null, "null", [], {}, [[]], ["a", "b"], ["a,b"]]), [])
    assert.deepStrictEqual(validator({ uniqueItems: false })([1, 1]), [])
  })

  it("when a schema exceeds the limits of size or depth", () => {
    assert.strictEqual(problem({ description: "x".repeat(300_000) }), "is longer than 262144 characters")
    let deep: JsonObject = {}
    for (let i = 0; i < 100; i++) deep = { not: deep }
    assert.strictEqual(problem(deep), "is nested more than 56 levels deep")
  })
})
