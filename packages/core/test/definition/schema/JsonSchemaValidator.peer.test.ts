import { assert, describe, it } from "@effect/vitest"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Either, FastCheck as fc } from "effect"
import * as JsonSchemaValidator from "../../../src/definition/schema/JsonSchemaValidator.js"

const errors = (schema: JsonObject, value: unknown) =>
  Either.getOrThrow(Either.flatMap(JsonSchemaValidator.make(schema), (validate) => validate(value)))
const conforms = (schema: JsonObject, value: unknown) => errors(schema, value).length === 0
const problem = (schema: JsonObject) => Either.getOrThrow(Either.flip(JsonSchemaValidator.make(schema)))

const draft07 = "http://json-schema.org/draft-07/schema#"
const draft2019 = "https://json-schema.org/draft/2019-09/schema"

describe("A value", () => {
  it("that does not conform has an error for every place, twenty at most", () => {
    const schema = {
      type: "object",
      properties: { q: { type: "string" }, tags: { items: { enum: ["a", "b"] } } },
      required: ["q", "tags", "n"]
    }
    assert.deepStrictEqual(errors(schema, { q: 1, tags: ["a", "c"] }), [
      { path: ["n"], message: "is missing" },
      { path: ["q"], message: "must be string" },
      { path: ["tags", "1"], message: "must be one of \"a\", \"b\"" }
    ])
    assert.lengthOf(errors({ items: { type: "string" } }, Array.from({ length: 100 }, () => 1)), 20)
  })
})

describe("A schema of a server", () => {
  it("has the dialect that it names", () => {
    const pair = [{ type: "string" }, { type: "number" }]
    assert.isFalse(conforms({ prefixItems: pair }, ["a", "b"]))
    for (const $schema of [draft07, draft2019]) {
      assert.isTrue(conforms({ $schema, prefixItems: pair }, ["a", "b"]))
      assert.isFalse(conforms({ $schema, items: pair }, ["a", "b"]))
    }
    assert.isTrue(conforms({ $schema: draft07, definitions: { a: {} }, $ref: "#/definitions/a", type: "null" }, "a"))
    assert.match(problem({ $schema: "http://json-schema.org/draft-04/schema#" }), /^has the dialect .*; supported are/)
  })

  it("may refer to its parts, and to itself", () => {
    const tree = {
      $id: "https://example.com/tree",
      $dynamicAnchor: "node",
      type: "object",
      properties: { children: { items: { $dynamicRef: "#node" } }, name: { $ref: "#name" } },
      $defs: { name: { $anchor: "name", type: "string" } },
      unevaluatedProperties: false
    }
    assert.isTrue(conforms(tree, { name: "a", children: [{ name: "b", children: [] }] }))
    assert.deepStrictEqual(errors(tree, { children: [{ name: 1 }] }), [
      { path: ["children", "0", "name"], message: "must be string" }
    ])
    const strict = {
      $id: "https://example.com/strict",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: { tree: { ...tree, $id: "tree", unevaluatedProperties: undefined } }
    }
    assert.isTrue(conforms(strict, { children: [{ name: "a" }] }))
    assert.isFalse(conforms(strict, { children: [{ nmae: "a" }] }))
    const list = {
      $schema: draft2019,
      $recursiveAnchor: true,
      properties: { next: { $recursiveRef: "#" } },
      type: "object"
    }
    assert.isFalse(conforms(list, { next: { next: 1 } }))
  })

  it("is refused when it is not valid, or refers to what it does not have", () => {
    for (
      const [schema, why] of [
        [
          { properties: { n: { type: "nonsense" } } },
          "is not a valid JSON Schema: \"properties.n.type\" must be one of null, boolean"
        ],
        [{ required: "a" }, "is not a valid JSON Schema: \"required\" must be an array of strings"],
        [{ allOf: {} }, "is not a valid JSON Schema: \"allOf\" must be an array"],
        [{ type: [] }, "is not a valid JSON Schema: \"type\" must be one of null, boolean"],
        [{ multipleOf: 0 }, "is not a valid JSON Schema: \"multipleOf\" must be a number above 0"],
        [{ items: 7 }, "is not a valid JSON Schema: a part of it must be a schema, but is not an object or a boolean"],
        [{ $ref: "https://example.com/schema.json" }, "cannot be used: \"$ref\" leads to no part of it"],
        // An object that no text can be made of.
        [{ $ref: { toString: 1 } }, "cannot be used: \"$ref\" leads to no part of it: {\"toString\":1}"],
        [{ $schema: { toString: 1 } }, "has the dialect {\"toString\":1}; supported are draft 2020-12"],
        [{ pattern: "(" }, "has the regular expression \"(\", which is not a regular expression"],
        [{ pattern: "(a)\\1" }, "has the regular expression \"(a)\\\\1\", which has a lookaround, a back reference"],
        [{ description: "x".repeat(300_000) }, "is longer than 262144 characters"]
      ] as const
    ) assert.include(problem(schema), why)
  })

  it("needs no `eval`", () => {
    const forbidden = globalThis.Function
    try {
      globalThis.Function = (() => assert.fail("code was generated")) as never
      assert.isFalse(conforms({ type: "object", properties: { a: { pattern: "^(a|b)+$" } } }, { a: "c" }))
    } finally {
      globalThis.Function = forbidden
    }
  })
})

describe("A check", () => {
  // Without `contains` and `unevaluated…`, of which ajv makes mistakes: the test below this one has them.
  const schema: fc.Arbitrary<JsonObject> = fc.letrec<{ readonly schema: JsonObject }>((tie) => {
    const schema = tie("schema")
    const schemas = fc.array(schema, { minLength: 1, maxLength: 3 })
    const size = fc.nat(3)
    const name = fc.constantFrom("a", "b", "c")
    const byName = fc.dictionary(name, schema, { maxKeys: 2 })
    const keywords = {
      type: fc.constantFrom("object", "array", "string", "number", "integer", "null", ["object", "array"]),
      enum: fc.array(fc.constantFrom<unknown>(1, "a", null, [1], { a: 1 }), { minLength: 1, maxLength: 3 }),
      const: fc.constantFrom<unknown>(1, "a", [1, { a: 1 }]),
      minimum: size,
      maximum: size,
      multipleOf: fc.constantFrom(1, 0.5, 2),
      minLength: size,
      maxLength: size,
      minItems: size,
      maxItems: size,
      minProperties: size,
      maxProperties: size,
      uniqueItems: fc.boolean(),
      pattern: fc.constantFrom("^a", "[ab]+$", "^(a|bc)*$", "b{2,}"),
      prefixItems: schemas,
      items: schema,
      additionalProperties: schema,
      properties: byName,
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), schema, { maxKeys: 2 }),
      propertyNames: schema,
      dependentSchemas: byName,
      required: fc.uniqueArray(name, { maxLength: 2 }),
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: schema,
      if: schema,
      then: schema,
      else: schema
    }
    return {
      schema: fc.oneof(
        { depthSize: "small" },
        fc.constant({}),
        fc.record(keywords, { requiredKeys: [] }).chain((all) =>
          fc.subarray(Object.keys(all), { maxLength: 4 }).map((names) =>
            Object.fromEntries(names.map((name) => [name, all[name as keyof typeof all]])) as JsonObject
          )
        )
      )
    }
  }).schema
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(0, 1, 1.5, 2, null, "a", "ab", "bb", true),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 })
    )
  })).value

  it("agrees with ajv about any schema and value", () => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (schema, values) => {
        const own = JsonSchemaValidator.make(schema)
        const ajv = Either.try(() => new Ajv2020({ strict: false, ownProperties: true, logger: false }).compile(schema))
        if (Either.isLeft(own) || Either.isLeft(ajv)) return
        for (const value of values) {
          const found = Either.getOrThrow(own.right(value))
          assert.strictEqual(found.length === 0, ajv.right(value), JSON.stringify([schema, value, found]))
        }
      }),
      { numRuns: process.env.EFFECT_MCP_TEST_LONG === undefined ? 20 : 60 }
    )
  }, 60_000)

  it("counts the alternatives that match", () => {
    // How many of these match: 1 none, "a" one, 2 two, 3 all.
    const atLeast = (minimum: number) => ({ type: "number", minimum })
    const alternatives = [atLeast(1.5), atLeast(2), { enum: ["a", 3] }]
    const cases: ReadonlyArray<readonly [JsonObject, Array<unknown>]> = [
      [{ anyOf: alternatives }, ["a", 2, 3]],
      [{ oneOf: alternatives }, ["a"]],
      [{ allOf: alternatives }, [3]],
      [{ not: { anyOf: alternatives } }, [1]]
    ]
    for (const [schema, conforming] of cases) {
      assert.deepStrictEqual([1, "a", 2, 3].filter((value) => conforms(schema, value)), conforming)
    }
  })

  it("does what the specification says where ajv does not", () => {
    const number = { type: "number" }
    // No item of an empty array is contained.
    assert.isFalse(conforms({ contains: {}, prefixItems: [number] }, []))
    // An item that is contained has been evaluated, whatever else is.
    assert.isTrue(conforms({ contains: {}, unevaluatedItems: false }, [1, "a"]))
    assert.isFalse(conforms({ contains: { const: 1 }, minContains: 0, unevaluatedItems: number }, ["a"]))
    // A schema that fails has evaluated nothing.
    const failing = { additionalProperties: {}, minProperties: 2 }
    assert.isFalse(conforms({ if: failing, unevaluatedProperties: number }, { a: "x" }))
    assert.isFalse(conforms({ anyOf: [true, { items: {}, minItems: 2 }], unevaluatedItems: number }, ["x"]))
    assert.isTrue(conforms({ anyOf: [true, { items: {}, minItems: 1 }], unevaluatedItems: number }, ["x"]))
  })
})
