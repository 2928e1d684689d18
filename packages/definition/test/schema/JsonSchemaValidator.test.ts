import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { Arbitrary, Either, FastCheck as fc, Schema } from "effect"
import * as ExternalSchema from "../../src/schema/ExternalSchema.js"
import * as JsonSchema from "../../src/schema/JsonSchema.js"
import * as JsonSchemaValidator from "../../src/schema/JsonSchemaValidator.js"
import * as ValueSize from "../../src/schema/ValueSize.js"

const validator = (schema: JsonObject) => Either.getOrThrow(JsonSchemaValidator.make(schema))
const conforms = (schema: JsonObject, value: unknown) => validator(schema)(value).length === 0
const problem = (schema: JsonObject, options?: JsonSchemaValidator.Options) =>
  Either.getOrThrow(Either.flip(JsonSchemaValidator.make(schema, options)))

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
      { path: ["more"], message: "is unexpected" },
      { path: ["q"], message: "must be string" },
      { path: ["tags", "1"], message: `must be one of "a", "b"` }
    ])
    // The errors of one value are not reported for the next.
    assert.deepStrictEqual(Search({ q: "x", tags: [] }), [])
  })

  it("reports a limited number of errors, and only the first of a large value", () => {
    const { SMALL } = ValueSize
    const wrong = (length: number) => ({ q: "x", tags: Array.from({ length }, () => 0) })
    assert.lengthOf(Search(wrong(100)), ExternalSchema.limits.errors)
    assert.lengthOf(Search(wrong(SMALL)), 1)
    assert.deepStrictEqual(Search({ q: "x", tags: Array.from({ length: SMALL }, () => "a") }), [])
  })

  it("looks at own members only, not at inherited ones", () => {
    assert.isFalse(conforms({ required: ["toString"] }, {}))
    assert.isTrue(conforms({ properties: { constructor: { type: "string" } } }, {}))
    assert.isTrue(conforms({ additionalProperties: false, properties: { valueOf: {} } }, { valueOf: 1 }))
  })

  it("agrees with Effect's decoder about a generated schema", () => {
    const Value = Schema.Struct({
      a: Schema.Int.pipe(Schema.between(0, 9)),
      b: Schema.optionalWith(Schema.Array(Schema.Literal("x", "y")), { exact: true }),
      c: Schema.NullOr(Schema.Struct({ d: Schema.Boolean }))
    })
    const validate = validator(JsonSchema.make(Value))
    const good = Arbitrary.make(Value)
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

  it("may have unknown keywords and formats, which check nothing", () => {
    const odd = {
      "x-odd": { type: "string" },
      format: "odd",
      id: "odd",
      example: 1,
      properties: { id: { type: "string" } }
    }
    assert.isTrue(conforms(odd, "anything"))
    assert.isFalse(conforms(odd, { id: 1 }))
    assert.isTrue(conforms({ type: "string", format: "email" }, "not an email address"))
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

  it("is refused when it is not valid, with the place of each error", () => {
    assert.strictEqual(
      problem({ properties: { a: { type: "objekt" } } }).replace(/one of .*?;/, "one of …;"),
      "is not a JSON Schema of its dialect: properties.a.type: must be one of …; " +
        "properties.a.type: must be array; properties.a.type: must match a schema in anyOf"
    )
    assert.match(
      problem({ $schema: draft07, required: "a" }),
      /^is not a JSON Schema of its dialect: required: must be array/
    )
    assert.match(problem({ pattern: "(" }), /^cannot be used: Invalid regular expression/)
    assert.match(problem({ nullable: true }), /^cannot be used: "nullable"/)
    assert.strictEqual(problem({ default: 1n }), "is not a JSON Schema: it must be an object that JSON can represent")
  })

  it("cannot refer to anything that would have to be fetched", () => {
    assert.match(
      problem({ properties: { a: { $ref: "https://example.com/a.json" } } }),
      /^cannot be used: can't resolve reference https:\/\/example.com\/a.json/
    )
    assert.match(problem({ $ref: "#/$defs/none" }), /^cannot be used: can't resolve reference/)
  })

  it("cannot make validation asynchronous", () => {
    assert.strictEqual(problem({ $async: true }), `has the keyword "$async", which is not part of JSON Schema`)
    assert.match(problem({ properties: { a: { $async: true, type: "string" } } }), /^cannot be used: async/)
  })

  it("is refused for its regular expressions when patterns are off", () => {
    const options = { patterns: false }
    const refusal = `cannot be used: the regular expression "^(a+)+$" is refused: patterns are turned off`
    assert.strictEqual(problem({ properties: { a: { pattern: "^(a+)+$" } } }, options), refusal)
    assert.strictEqual(problem({ patternProperties: { "^(a+)+$": {} } }, options), refusal)
    assert.isTrue(Either.isRight(JsonSchemaValidator.make({ properties: { pattern: { type: "string" } } }, options)))
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
          const validate = Either.getOrElse(JsonSchemaValidator.make(schema), () => () => [])
          for (const value of [text, { [text]: 1 }, {}, [text]]) validate(value)
        }
        assert.isUndefined(global.breached)
      }),
      { numRuns: 60 }
    )
  })
})

describe("The work of a validator is bounded", () => {
  const cannot = [{
    path: [],
    message: "cannot be checked: it is nested too deeply, or the schema refers to itself too often"
  }]

  it("when a schema leads through too many references", () => {
    assert.isTrue(conforms(doubling(10), 1))
    assert.deepStrictEqual(validator(doubling(50))(1), cannot)
    // Each value has the whole budget.
    const validate = validator(doubling(16))
    for (let i = 0; i < 10; i++) assert.deepStrictEqual(validate(1), [])
  })

  it("when a schema refers to itself without end", () => {
    assert.deepStrictEqual(validator({ $ref: "#" })(1), cannot)
    assert.deepStrictEqual(validator({ $dynamicAnchor: "a", allOf: [{ $dynamicRef: "#a" }] })(1), cannot)
  })

  it("when a value is nested deeper than the stack", () => {
    let value: unknown = 1
    for (let i = 0; i < 100_000; i++) value = [value]
    assert.deepStrictEqual(validator({ items: { $ref: "#" } })(value), cannot)
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
