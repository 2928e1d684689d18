import { assert, describe, it } from "@effect/vitest"
import * as ModelSchema from "@effect-mcp/ai/ModelSchema"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Either, FastCheck } from "effect"

const make = (schema: JsonObject, dialect: ModelSchema.Dialect) =>
  Either.getOrThrow(ModelSchema.make(schema, dialect)).schema

const all = ["openai", "openai-strict", "anthropic", "gemini"] as const

const search = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    q: { type: "string", minLength: 1, description: "What to find." },
    limit: { type: "integer", minimum: 1, default: 10 },
    since: { type: "string", format: "date" },
    tags: { type: "array", items: { $ref: "#/$defs/Tag" } }
  },
  required: ["q"],
  $defs: { Tag: { type: "string", enum: ["a", "b"] } }
}

/** Every keyword in a schema, at any depth; names of properties are none. */
const keywords = (u: unknown, isMap = false): ReadonlyArray<string> =>
  Array.isArray(u)
    ? u.flatMap((one) => keywords(one))
    : typeof u === "object" && u !== null
    ? Object.entries(u).flatMap(([key, value]) => [
      ...(isMap ? [] : [key]),
      ...(["enum", "default", "required"].includes(key) && !isMap
        ? []
        : keywords(value, key === "properties" && !isMap))
    ])
    : []

describe("The schema of arguments for a model", () => {
  it("is the server's for a model that knows JSON Schema", () => {
    assert.deepStrictEqual<unknown>(make(search, "json-schema"), search)
  })

  it("keeps references to definitions for Anthropic", () => {
    const { $schema: _, ...rest } = search
    assert.deepStrictEqual(make(search, "anthropic"), rest)
  })

  it("has no references for OpenAI", () => {
    const { properties } = make(search, "openai") as unknown as typeof search
    assert.deepStrictEqual<unknown>(properties.tags, { type: "array", items: { type: "string", enum: ["a", "b"] } })
    assert.deepStrictEqual<unknown>(properties.limit, search.properties.limit)
  })

  it("requires every property in OpenAI's strict form, and lets the optional ones be null", () => {
    const made = Either.getOrThrow(ModelSchema.make(search, "openai-strict"))
    assert.isTrue(made.isStrict)
    assert.deepStrictEqual<unknown>(made.schema, {
      type: "object",
      properties: {
        q: { type: "string", description: "What to find. (minLength: 1)" },
        limit: { type: ["integer", "null"], minimum: 1, description: "(default: 10)" },
        since: { type: ["string", "null"], format: "date" },
        tags: { type: ["array", "null"], items: { type: "string", enum: ["a", "b"] } }
      },
      required: ["q", "limit", "since", "tags"],
      additionalProperties: false
    })
  })

  it("has no strict form when an object has any members, a value any type, or the nesting is too deep", () => {
    const deep = Array.from({ length: 12 }).reduce<JsonObject>(
      (inner) => ({ type: "object", properties: { inner } }),
      { type: "string" }
    )
    for (
      const property of [
        { type: "object" },
        { type: "object", additionalProperties: { type: "string" } },
        {},
        { type: "array" },
        deep
      ]
    ) {
      const made = Either.getOrThrow(
        ModelSchema.make({ type: "object", properties: { property } }, "openai-strict")
      )
      assert.isFalse(made.isStrict)
    }
  })

  it("takes the nulls out that a model wrote for what it left out, and no others", () => {
    const schema = {
      type: "object",
      properties: {
        q: { type: "string" },
        limit: { type: "integer" },
        parent: { type: ["string", "null"] },
        where: { type: "object", properties: { city: { type: "string" } } },
        all: { type: "array", items: { $ref: "#/$defs/One" } }
      },
      required: ["q"],
      $defs: { One: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a"] } }
    }
    assert.deepStrictEqual(
      ModelSchema.withoutNulls(
        { q: "x", limit: null, parent: null, where: { city: null }, all: [{ a: "1", b: null }], other: null },
        schema
      ),
      { q: "x", parent: null, where: {}, all: [{ a: "1" }], other: null }
    )
  })

  it("takes the nulls out by the first of several schemas for a property", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "object", properties: { b: { type: "string" } } } },
      anyOf: [{ properties: { a: { type: "object", description: "Any." } } }]
    }
    const alternatives = { type: "object", properties: { all: { type: "array", items: schema } } }
    assert.deepStrictEqual<unknown>(ModelSchema.withoutNulls({ all: [{ a: { b: null } }] }, alternatives), {
      all: [{ a: {} }]
    })
  })

  it("says in Gemini's subset what it can, and the rest in words", () => {
    assert.deepStrictEqual<unknown>(make(search, "gemini"), {
      type: "object",
      properties: {
        q: { type: "string", minLength: 1, description: "What to find." },
        limit: { type: "integer", minimum: 1, description: "(default: 10)" },
        since: { type: "string", description: "(format: \"date\")" },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] } }
      },
      required: ["q"]
    })
    assert.deepStrictEqual<unknown>(
      make({
        type: "object",
        properties: {
          kind: { const: "a" },
          size: { enum: [1, 2] },
          name: { type: ["string", "null"] },
          id: { oneOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
          pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
          anything: {},
          map: { type: "object", additionalProperties: true },
          list: { type: "array" }
        }
      }, "gemini").properties,
      {
        kind: { type: "string", enum: ["a"] },
        size: { type: "number", description: "(enum: [1,2])" },
        name: { type: "string", nullable: true },
        id: { anyOf: [{ type: "string", nullable: true }, { type: "integer" }] },
        pair: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
        anything: { type: "string", description: "any JSON value, as text" },
        map: { type: "object" },
        list: { type: "array", items: { type: "string", description: "any JSON value, as text" } }
      }
    )
  })

  for (const dialect of all) {
    it(`has properties and no alternatives at its root for ${dialect}`, () => {
      for (const union of ["anyOf", "oneOf"]) {
        const made = make({
          type: "object",
          properties: { note: { type: "string" } },
          [union]: [
            { properties: { kind: { const: "city" }, city: { type: "string" } }, required: ["kind", "city"] },
            { $ref: "#/$defs/Point" }
          ],
          $defs: {
            Point: {
              allOf: [
                {
                  type: "object",
                  properties: { kind: { const: "point" }, lat: { type: "number" } },
                  required: ["kind"]
                },
                { required: ["lat"] }
              ]
            }
          }
        }, dialect)
        assert.strictEqual(made.type, "object")
        assert.deepStrictEqual(Object.keys(made.properties as object), ["note", "kind", "city", "lat"])
        assert.include(made.required as ReadonlyArray<string>, "kind")
        assert.include(made.description as string, "Give one of: kind and city; or kind and lat.")
        for (const key of ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"]) assert.notProperty(made, key)
        assert.deepInclude((made.properties as JsonObject).kind as JsonObject, { enum: ["city", "point"] })
      }
      for (const root of [{ not: {} }, { allOf: [{ required: ["a"] }] }, { if: {}, then: {} }, { $ref: "#/$defs/A" }]) {
        const made = make({
          type: "object",
          properties: { a: { type: "string" } },
          ...root,
          $defs: { A: { type: "object", properties: { b: { type: "string" } } } }
        }, dialect)
        assert.deepInclude(made, { type: "object" })
        assert.property(made.properties, "a")
        for (const key of ["not", "allOf", "if", "then", "$ref"]) assert.notProperty(made, key)
      }
    })

    it(`ends where a schema refers to itself, for ${dialect}`, () => {
      const tree = {
        type: "object",
        properties: { root: { $ref: "#/$defs/Node" }, all: { $ref: "#" } },
        required: ["root"],
        $defs: {
          Node: {
            type: "object",
            description: "A node.",
            properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Node" } } },
            required: ["name"]
          }
        }
      }
      const made = JSON.stringify(make(tree, dialect))
      assert.include(made, "A node.")
      assert.isBelow(made.length, 1_000)
      if (dialect !== "anthropic") assert.notInclude(made, "$ref")
    })

    it(`leads nowhere where a reference does, for ${dialect}`, () => {
      for (const $ref of ["#/$defs/None", "https://example.com/schema", "#/%zz", "#none", "", 7, "#/__proto__"]) {
        const made = make({ type: "object", properties: { a: { $ref }, b: { type: "string" } } }, dialect)
        assert.notInclude(JSON.stringify(made), "$ref")
        assert.property(made.properties, "b")
      }
    })

    it(`has a bound for ${dialect}: references that double at each step are refused`, () => {
      const $defs = Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [`D${n}`, {
          type: "object",
          properties: { a: { $ref: `#/$defs/D${(n + 1) % 40}` }, b: { $ref: `#/$defs/D${(n + 1) % 40}` } }
        }])
      )
      const made = ModelSchema.make({ type: "object", properties: { a: { $ref: "#/$defs/D0" } }, $defs }, dialect)
      const doubling = ModelSchema.make({
        type: "object",
        allOf: [{ $ref: "#/$defs/D0" }],
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => [`D${n}`, {
            allOf: [{ $ref: `#/$defs/D${n + 1}` }, { $ref: `#/$defs/D${n + 1}` }]
          }])
        )
      }, dialect)
      // Anthropic's models know references, so these stay.
      if (dialect === "anthropic") assert.deepInclude(Either.getOrThrow(made).schema, { $defs })
      for (const refused of dialect === "anthropic" ? [doubling] : [made, doubling]) {
        assert.include(Either.getOrThrow(Either.flip(refused)), "too large")
      }
    })
  }

  const keyword = FastCheck.constantFrom(
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "$defs",
    "description",
    "format",
    "additionalProperties",
    "prefixItems",
    "nullable",
    "default",
    "if",
    "constructor"
  )
  const { schema: anySchema } = FastCheck.letrec<{ readonly schema: JsonObject; readonly value: unknown }>((tie) => ({
    schema: FastCheck.dictionary(keyword, tie("value"), { maxKeys: 5 }),
    value: FastCheck.oneof(
      { maxDepth: 5 },
      FastCheck.constantFrom(
        "object",
        "array",
        "string",
        "null",
        "constructor",
        "__proto__",
        "#",
        "#/$defs/a",
        "a",
        7,
        true,
        null
      ),
      tie("schema"),
      FastCheck.array(tie("value"), { maxLength: 3 }),
      FastCheck.dictionary(FastCheck.constantFrom("a", "b", "toString"), tie("value"), { maxKeys: 3 })
    )
  }))

  it("is made or refused, never thrown, whatever a server writes", () =>
    FastCheck.assert(
      FastCheck.property(anySchema, FastCheck.jsonValue(), (schema, value) => {
        for (const dialect of all) {
          const made = ModelSchema.make({ ...schema, type: "object" }, dialect)
          if (Either.isRight(made)) assert.isString(JSON.stringify(made.right))
        }
        assert.isObject(ModelSchema.withoutNulls({ a: value as JsonObject, b: null }, { ...schema, type: "object" }))
      }),
      { numRuns: 300 }
    ))

  it("costs no more than its size, whatever a server writes", () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `property${n}`)
    const hostile = [
      {
        type: "object",
        anyOf: many.map((name) => ({ properties: { same: { description: name } }, required: ["same"] }))
      },
      { type: "object", properties: { a: { type: "string" } }, oneOf: [{ required: many }, { required: many }] },
      { type: "object", properties: Object.fromEntries(many.map((name) => [name, { type: "string" }])), required: many }
    ]
    for (const schema of hostile) {
      for (const dialect of all) {
        const begin = process.cpuUsage()
        assert.isTrue(Either.isRight(ModelSchema.make(schema, dialect)))
        assert.isBelow(process.cpuUsage(begin).user, 2_000_000)
      }
    }
    const properties = Object.fromEntries(many.map((name) => [name, { $ref: "#/$defs/Large" }]))
    const zeros = Object.fromEntries(many.map((name) => [name, 0]))
    const repeated = [{ enum: many }, { $ref: `#${"/a".repeat(30_000)}` }, zeros, { allOf: many }]
      .map((Large) => ({ type: "object", properties, $defs: { Large } }))
    const steps = Object.fromEntries(many.map((name, n) => [name, { $ref: `#/$defs/property${n + 1}` }]))
    const deep = many.reduce<JsonObject>((inner) => ({ anyOf: [inner, {}] }), {})
    const merged = many.flatMap((name) => [name, `${name}b`]).map((name) => ({
      properties: { a: { properties: { [name]: {} } } }
    }))
    const nested = [
      { type: "object", properties: { a: { $ref: "#/$defs/property0" } }, $defs: steps },
      { type: "object", properties: { a: deep } }
    ]
    for (const schema of [...repeated, { type: "object", allOf: merged }, ...nested]) {
      for (const dialect of ["openai", "openai-strict", "gemini"] as const) {
        const begin = process.cpuUsage()
        const made = ModelSchema.make(schema, dialect)
        assert.isBelow(process.cpuUsage(begin).user, 2_000_000)
        if (Either.isLeft(made)) assert.match(made.left, /too (large|deeply)/)
        else assert.include(nested, schema)
      }
      assert.isObject(ModelSchema.withoutNulls({ a: null }, schema))
    }
    const long = { type: "object", description: "x".repeat(300_000) }
    for (const dialect of ["json-schema", ...all] as const) {
      assert.include(Either.getOrThrow(Either.flip(ModelSchema.make(long, dialect))), "too large")
    }
  })

  it("has no keyword that Gemini does not know", () => {
    const known = [
      "type",
      "format",
      "description",
      "nullable",
      "enum",
      "items",
      "maxItems",
      "minItems",
      "properties",
      "required",
      "minLength",
      "maxLength",
      "pattern",
      "minimum",
      "maximum",
      "anyOf",
      "minProperties",
      "maxProperties"
    ]
    const made = make({
      type: "object",
      title: "T",
      additionalProperties: false,
      patternProperties: { x: {} },
      properties: {
        a: { allOf: [{ type: "string" }, { pattern: "^a" }], examples: ["a"], readOnly: true },
        b: { type: "number", exclusiveMinimum: 0, multipleOf: 2 },
        c: { type: "array", items: [{ type: "string" }, { type: "boolean" }], uniqueItems: true, contains: {} },
        properties: { type: "object", properties: { $ref: { type: "string" } }, propertyNames: { pattern: "x" } }
      }
    }, "gemini")
    assert.deepStrictEqual([...new Set(keywords(made))].filter((key) => !known.includes(key)), [])
  })

  it("is refused for Anthropic when an argument has a name that it cannot have", () => {
    const made = ModelSchema.make({ type: "object", properties: { "filter[name]": { type: "string" } } }, "anthropic")
    assert.include(Either.getOrThrow(Either.flip(made)), "\"filter[name]\"")
    const never = ModelSchema.make({ type: "object", properties: { "filter[name]": false } }, "anthropic")
    assert.isTrue(Either.isLeft(never))
  })
})
