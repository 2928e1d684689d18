import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Either, FastCheck as fc, Schema } from "effect"
import * as JsonSchema from "../../../src/definition/schema/JsonSchema.js"
import * as EffectParser from "../../../src/protocol/schema/EffectParser.js"

const ajv = new Ajv2020({ strict: true, strictTuples: false, strictTypes: false, validateFormats: false })

/** The advertised schema, which a validator of the draft has accepted. */
const advertised = (schema: Schema.Schema<any, any>) => {
  const made = JsonSchema.make(schema)
  assert.isTrue(ajv.validateSchema(made), JSON.stringify(ajv.errors))
  ajv.compile(made)
  return made
}

const text = (schema: Schema.Schema<any, any>) => JSON.stringify(advertised(schema))

describe("JsonSchema", () => {
  it("distinguishes a number from an integer", () => {
    assert.deepStrictEqual(advertised(Schema.Number), { type: "number" })
    assert.deepStrictEqual(advertised(Schema.Finite), { type: "number" })
    assert.deepStrictEqual(advertised(Schema.Int), { type: "integer" })
    assert.deepStrictEqual(advertised(Schema.Number.pipe(Schema.int(), Schema.between(0, 5))), {
      type: "integer",
      minimum: 0,
      maximum: 5
    })
    assert.deepStrictEqual(advertised(Schema.NonNegative), { type: "number", minimum: 0 })
    assert.deepStrictEqual(advertised(Schema.Positive), { type: "number", exclusiveMinimum: 0 })
    assert.deepStrictEqual(advertised(Schema.Number.pipe(Schema.multipleOf(0.5))), { type: "number", multipleOf: 0.5 })
  })

  it("gives an empty struct the type object", () => {
    assert.deepStrictEqual(advertised(Schema.Struct({})), { type: "object" })
    assert.deepStrictEqual(advertised(Schema.Struct({}).annotations({ description: "Nothing yet." })), {
      type: "object",
      description: "Nothing yet."
    })
    assert.deepStrictEqual(advertised(Schema.Struct({ options: Schema.Struct({}) })), {
      type: "object",
      required: ["options"],
      properties: { options: { type: "object" } }
    })
  })

  it("requires exactly the fields that are not optional", () => {
    const schema = Schema.Struct({
      a: Schema.String,
      b: Schema.optional(Schema.String),
      c: Schema.optionalWith(Schema.String, { exact: true }),
      d: Schema.optionalWith(Schema.Int, { default: () => 10 }),
      e: Schema.UndefinedOr(Schema.String),
      f: Schema.NullOr(Schema.String),
      g: Schema.optionalWith(Schema.String, { as: "Option", nullable: true })
    })
    const { properties, required } = advertised(schema) as { properties: object; required: unknown }
    assert.deepStrictEqual(required, ["a", "f"])
    assert.deepStrictEqual(properties, {
      a: { type: "string" },
      b: { type: "string" },
      c: { type: "string" },
      d: { type: "integer", default: 10 },
      e: { type: "string" },
      f: { anyOf: [{ type: "string" }, { type: "null" }] },
      g: { anyOf: [{ type: "string" }, { type: "null" }] }
    })
    assert.notProperty(advertised(Schema.Struct({ b: Schema.optional(Schema.String) })), "required")
  })

  it("lists literals and the values of an enum", () => {
    enum Size {
      Small,
      Large = "large"
    }
    assert.deepStrictEqual(advertised(Schema.Literal("a", "b")), { type: "string", enum: ["a", "b"] })
    assert.deepStrictEqual(advertised(Schema.Literal("a", 1, null)), {
      anyOf: [{ type: "string", enum: ["a"] }, { type: "number", enum: [1] }, { type: "null" }]
    })
    assert.deepStrictEqual(advertised(Schema.Enums(Size)), {
      anyOf: [{ type: "number", title: "Small", enum: [0] }, { type: "string", title: "Large", enum: ["large"] }]
    })
  })

  it("describes tuples, records and template literals", () => {
    assert.deepStrictEqual(advertised(Schema.Tuple(Schema.String, Schema.optionalElement(Schema.Number))), {
      type: "array",
      minItems: 1,
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: false
    })
    assert.deepStrictEqual(advertised(Schema.Record({ key: Schema.String, value: Schema.Number })), {
      type: "object",
      additionalProperties: { type: "number" }
    })
    assert.deepStrictEqual(
      advertised(Schema.Record({ key: Schema.String.pipe(Schema.minLength(2)), value: Schema.Number })),
      { type: "object", patternProperties: { "": { type: "number" } }, propertyNames: { type: "string", minLength: 2 } }
    )
    assert.include(advertised(Schema.TemplateLiteral("a", Schema.Number)), { type: "string" })
  })

  it("gives a union of objects, also of references, the type object", () => {
    const A = Schema.Struct({ type: Schema.Literal("a") })
    const B = Schema.Struct({ type: Schema.Literal("b") })
    const union = advertised(Schema.Union(A, Schema.Union(B, Schema.Struct({}))))
    assert.strictEqual(union.type, "object")
    assert.isTrue(JsonSchema.isObject(union))
    assert.isFalse(JsonSchema.isObject(advertised(Schema.Union(A, Schema.String))))
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.suspend(() => Schema.Struct({ children: Schema.Array(Tree) })).annotations(
      {
        identifier: "Tree"
      }
    )
    assert.strictEqual(advertised(Schema.Union(Tree, A)).type, "object")
    assert.strictEqual(advertised(Tree).type, "object")
  })

  it("recognizes a schema whose values are always strings", () => {
    const always = [
      Schema.String,
      Schema.NonEmptyString,
      Schema.Date,
      Schema.Literal("a", "b"),
      Schema.Union(Schema.Literal("a"), Schema.TemplateLiteral("b", Schema.String))
    ]
    for (const schema of always) {
      assert.isTrue(JsonSchema.isString(JsonSchema.make<any, any, never>(schema)), `${schema}`)
    }
    const sometimes = [
      Schema.NullOr(Schema.String),
      Schema.Unknown,
      Schema.Literal("a", 1),
      Schema.Array(Schema.String)
    ]
    for (const schema of sometimes) {
      assert.isFalse(JsonSchema.isString(JsonSchema.make<any, any, never>(schema)), `${schema}`)
    }
  })

  it("defines recursive types, and no unused types", () => {
    interface Expression {
      readonly left: number | Expression
      readonly right?: Expression
    }
    const Expression: Schema.Schema<Expression> = Schema.Struct({
      left: Schema.Union(Schema.Number, Schema.suspend(() => Expression)),
      right: Schema.optionalWith(Schema.suspend(() => Expression), { exact: true })
    }).annotations({ identifier: "Expression<100%> / ~1" })
    const Named = Schema.String.annotations({ identifier: "Named" })
    const made = advertised(Schema.Struct({ expression: Expression, named: Named }))
    assert.deepStrictEqual(Object.keys(made.$defs as object), ["Expression<100%> / ~1"])
    assert.include(JSON.stringify(made), `"#/$defs/Expression%3C100%25%3E%20~1%20~01"`)
    const validate = ajv.compile(made)
    const leaf = { left: 1 }
    assert.isTrue(validate({ expression: { left: { left: leaf }, right: leaf }, named: "x" }))
    assert.isFalse(validate({ expression: { left: { left: "1" } }, named: "x" }))
  })

  it("names the place of a recursive type without an identifier", () => {
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({ children: Schema.Array(Schema.suspend(() => Tree)) })
    assert.throws(() => JsonSchema.make(Schema.Struct({ tree: Tree })), /\["tree"\]\["children"\][\s\S]*identifier/)
  })

  it("describes the encoded side, not what a handler receives", () => {
    class Point extends Schema.Class<Point>("Point")({ x: Schema.NumberFromString }) {}
    assert.deepStrictEqual(advertised(Point), {
      type: "object",
      required: ["x"],
      properties: { x: { type: "string", description: "a number, written as a string" } }
    })
    assert.deepStrictEqual(advertised(Schema.Date), {
      type: "string",
      format: "date-time"
    })
    assert.deepStrictEqual(advertised(Schema.Trim), { type: "string" })
    assert.deepStrictEqual(
      advertised(Schema.Struct({ a: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("b")) })),
      { type: "object", required: ["b"], properties: { b: { type: "string" } } }
    )
  })

  it("keeps the annotations of an author everywhere", () => {
    const schema = Schema.Struct({
      age: Schema.Int.annotations({ title: "Age", description: "a positive number of years" }),
      name: Schema.String.annotations({ default: "Ada", examples: ["Ada", "Grace"] }),
      when: Schema.Date.annotations({ description: "When it happened.", examples: [new Date(0)] }),
      dates: Schema.optional(Schema.Array(Schema.NullOr(Schema.Date.annotations({ title: "A date" })))),
      pages: Schema.NumberFromString.pipe(Schema.int(), Schema.positive({ description: "How many pages." })),
      title: Schema.optional(Schema.String).annotations({ description: "The title." }),
      limit: Schema.Positive.annotations({ description: "a positive number of notes" }),
      object: Schema.Struct({ a: Schema.String }).annotations({ title: "object", description: "an integer" })
    }).annotations({ title: "int", description: "A person." })
    assert.deepStrictEqual(advertised(schema), {
      type: "object",
      title: "int",
      description: "A person.",
      required: ["age", "name", "when", "pages", "limit", "object"],
      properties: {
        age: { type: "integer", title: "Age", description: "a positive number of years" },
        name: { type: "string", default: "Ada", examples: ["Ada", "Grace"] },
        when: {
          type: "string",
          format: "date-time",
          description: "When it happened.",
          examples: ["1970-01-01T00:00:00.000Z"]
        },
        dates: {
          type: "array",
          items: {
            anyOf: [
              { type: "string", title: "A date", format: "date-time" },
              { type: "null" }
            ]
          }
        },
        pages: { type: "string", description: "How many pages." },
        title: { type: "string", description: "The title." },
        limit: { type: "number", exclusiveMinimum: 0, description: "a positive number of notes" },
        object: {
          type: "object",
          title: "object",
          description: "an integer",
          required: ["a"],
          properties: { a: { type: "string" } }
        }
      }
    })
  })

  it("changes neither data nor the names of properties", () => {
    const names = {
      $id: Schema.String,
      $comment: Schema.String,
      $ref: Schema.String,
      title: Schema.String,
      required: Schema.String,
      properties: Schema.Struct({ additionalProperties: Schema.String }),
      default: Schema.Struct({ a: Schema.Unknown }).annotations({ default: { a: { $id: "x", title: "unknown" } } })
    }
    const made = advertised(Schema.Struct(names)) as { properties: Record<string, any> }
    assert.deepStrictEqual(Object.keys(made.properties), Object.keys(names))
    assert.deepStrictEqual(made.properties.default.default, { a: { $id: "x", title: "unknown" } })
  })

  it("removes the marks that Effect adds", () => {
    const all = Schema.Struct({
      any: Schema.Any,
      unknown: Schema.Unknown,
      object: Schema.Object,
      empty: Schema.Struct({}),
      nested: Schema.Array(Schema.Union(Schema.Struct({ a: Schema.Int }), Schema.Unknown))
    })
    const generated = text(all)
    for (
      const mark of ["$id", "$comment", "/schemas/", "TypeScript", `"title"`, `"description"`, "additionalProperties"]
    ) {
      assert.notInclude(generated, mark)
    }
  })

  it("is JSON", () => {
    const schema = Schema.Struct({ when: Schema.Date.annotations({ default: new Date(0) }), a: Schema.Unknown })
    const made = advertised(schema)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(made)), made)
  })
})

const simple = fc.constantFrom<Schema.Schema<any>>(
  Schema.String,
  Schema.Number,
  Schema.Boolean,
  Schema.Null,
  Schema.Int,
  Schema.Finite,
  Schema.NonEmptyString,
  Schema.Literal("a", 1),
  Schema.Literal("b"),
  Schema.String.pipe(Schema.maxLength(2)),
  Schema.String.pipe(Schema.startsWith("a.")),
  Schema.String.pipe(Schema.endsWith(".b")),
  Schema.String.pipe(Schema.includes("(")),
  Schema.String.pipe(Schema.pattern(/^[ab]+$/)),
  Schema.Number.pipe(Schema.between(0, 1)),
  Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThan(2)),
  Schema.Record({ key: Schema.String, value: Schema.Number }),
  Schema.Tuple(Schema.String, Schema.Number),
  Schema.Tuple([Schema.String], Schema.Number),
  Schema.Tuple(Schema.Number, Schema.optionalElement(Schema.String))
)

const fields = ["a", "b", "type"] as const

const schemas = fc.letrec<Record<"struct" | "array" | "union" | "schema", Schema.Schema<any>>>((tie) => ({
  struct: fc.dictionary(
    fc.constantFrom(...fields),
    fc.tuple(tie("schema"), fc.boolean()),
    { minKeys: 1, maxKeys: 3 }
  ).map((members) =>
    Schema.Struct(Object.fromEntries(
      Object.entries(members).map(([name, [schema, optional]]) => [name, optional ? Schema.optional(schema) : schema])
    ))
  ),
  array: tie("schema").chain((item) =>
    fc.constantFrom<Schema.Schema<any>>(
      Schema.Array(item),
      Schema.NonEmptyArray(item),
      Schema.Array(item).pipe(Schema.maxItems(2)),
      Schema.Array(item).pipe(Schema.itemsCount(1))
    )
  ),
  union: fc.array(tie("schema"), { minLength: 2, maxLength: 3 }).map((members) => Schema.Union(...members)),
  schema: fc.oneof({ maxDepth: 3, depthIdentifier: "schema" }, simple, tie("struct"), tie("array"), tie("union"))
})).schema

const json = fc.letrec((tie) => ({
  leaf: fc.constantFrom<unknown>(
    "",
    "a",
    "b",
    "ab",
    "abc",
    "a.",
    "axb",
    "a.b",
    "(",
    0,
    1,
    2,
    0.5,
    -1,
    true,
    false,
    null
  ),
  array: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom(...fields, "z"), tie("value"), { maxKeys: 3 }),
  value: fc.oneof({ maxDepth: 3, depthIdentifier: "json" }, tie("leaf"), tie("array"), tie("object"))
})).value

describe("JsonSchema agrees with the decoder", () => {
  it("on every JSON value: a validator accepts exactly what decodes", () => {
    const taken = { yes: 0, no: 0 }
    fc.assert(
      fc.property(schemas, fc.array(json, { minLength: 30, maxLength: 30 }), (schema, given) => {
        const validate = new Ajv2020({ strict: false }).compile(JsonSchema.make(schema))
        const decode = EffectParser.decodeUnknownEither(schema)
        for (const value of given) {
          const valid = validate(value)
          taken[valid ? "yes" : "no"]++
          assert.strictEqual(Either.isRight(decode(value)), valid, `${schema} of ${JSON.stringify(value)}`)
        }
      }),
      { numRuns: process.env.EFFECT_MCP_TEST_LONG === undefined ? 30 : 100 }
    )
    assert.isAbove(taken.yes, 15)
    assert.isAbove(taken.no, 15)
  })
})
