import { assert, describe, it } from "@effect/vitest"
import * as Form from "@effect-mcp/core/Form"
import type { ElicitContent } from "@effect-mcp/core/protocol/Elicitation"
import { Effect, Either, Schema } from "effect"
import { expectTypeOf } from "vitest"

const fields = (of: Schema.Struct.Fields) =>
  Form.make(Schema.Struct(of) as unknown as Schema.Schema<object>).requestedSchema.properties

const answered = <A>(form: Form.Form<A>, content: unknown) =>
  Effect.either(form.decode(content as ElicitContent | undefined))

/** Encoded as "low" and "high", decoded to "l" and "h". */
const Levels = Schema.transformLiterals(["low", "l"], ["high", "h"])
const epoch = Schema.decodeSync(Schema.DateTimeUtc)("1970-01-01T00:00:00.000Z")
const Color = Schema.Literal("red", "green").annotations({ identifier: "Color" })

describe("A form", () => {
  it("has fields for strings, numbers and booleans", () => {
    assert.deepStrictEqual(
      Form.make(Schema.Struct({ name: Schema.String, age: Schema.Int, size: Schema.Number, sure: Schema.Boolean }))
        .requestedSchema,
      {
        type: "object",
        properties: {
          name: { type: "string" },
          age: { type: "integer" },
          size: { type: "number" },
          sure: { type: "boolean" }
        },
        required: ["name", "age", "size", "sure"]
      }
    )
  })

  it("does not require a field that is optional or has a default", () => {
    const { properties, required } = Form.make(Schema.Struct({
      name: Schema.String,
      nick: Schema.optional(Schema.String),
      age: Schema.optionalWith(Schema.Int, { default: () => 7 }),
      note: Schema.optionalWith(Schema.String, { exact: true })
    })).requestedSchema
    assert.deepStrictEqual(required, ["name"])
    assert.deepStrictEqual(properties, {
      name: { type: "string" },
      nick: { type: "string" },
      age: { type: "integer", default: 7 },
      note: { type: "string" }
    })
    assert.notProperty(Form.make(Schema.Struct({ a: Schema.optional(Schema.String) })).requestedSchema, "required")
  })

  it("may have no fields", () => {
    assert.deepStrictEqual(Form.make(Schema.Struct({})).requestedSchema, { type: "object", properties: {} })
  })

  it("has the limits of lengths and numbers, and the known formats", () => {
    assert.deepStrictEqual(
      fields({
        text: Schema.String.pipe(Schema.minLength(2), Schema.maxLength(5)),
        filled: Schema.NonEmptyString,
        n: Schema.Int.pipe(Schema.between(1, 3)),
        mail: Schema.String.annotations({ jsonSchema: { type: "string", format: "email" } }),
        id: Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } })
      }),
      {
        text: { type: "string", minLength: 2, maxLength: 5 },
        filled: { type: "string", minLength: 1 },
        n: { type: "integer", minimum: 1, maximum: 3 },
        mail: { type: "string", format: "email" },
        id: { type: "string" }
      }
    )
  })

  it("has the titles, descriptions and defaults of the schema", () => {
    assert.deepStrictEqual(
      fields({
        name: Schema.String.annotations({ title: "Name", description: "As in the passport.", default: "Ada" }),
        sure: Schema.optionalWith(Schema.Boolean, { default: () => false }).annotations({ title: "Sure?" })
      }),
      {
        name: { type: "string", title: "Name", description: "As in the passport.", default: "Ada" },
        sure: { type: "boolean", title: "Sure?", default: false }
      }
    )
  })

  it("offers a choice, with titles where the literals have them", () => {
    assert.deepStrictEqual(
      fields({
        plain: Schema.Literal("a", "b"),
        single: Schema.Literal("only"),
        titled: Schema.Union(
          Schema.Literal("s").annotations({ title: "Small" }),
          Schema.Literal("l").annotations({ title: "Large" }),
          Schema.Literal("x")
        ).annotations({ title: "Size", default: "l" }),
        named: Color,
        optional: Schema.optionalWith(Color, { default: () => "green" as const })
      }),
      {
        plain: { type: "string", enum: ["a", "b"] },
        single: { type: "string", enum: ["only"] },
        titled: {
          type: "string",
          title: "Size",
          default: "l",
          oneOf: [
            { const: "s", title: "Small" },
            { const: "l", title: "Large" },
            { const: "x", title: "x" }
          ]
        },
        named: { type: "string", enum: ["red", "green"] },
        optional: { type: "string", enum: ["red", "green"], default: "green" }
      }
    )
  })

  it("offers multiple choices", () => {
    assert.deepStrictEqual(
      fields({
        plain: Schema.Array(Schema.Literal("a", "b")).pipe(Schema.minItems(1), Schema.maxItems(2)),
        titled: Schema.optionalWith(
          Schema.Array(
            Schema.Union(
              Schema.Literal("s").annotations({ title: "Small" }),
              Schema.Literal("l").annotations({ title: "Large" })
            )
          ),
          { default: () => ["s" as const] }
        ),
        named: Schema.Array(Color)
      }),
      {
        plain: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b"] } },
        titled: {
          type: "array",
          default: ["s"],
          items: { anyOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] }
        },
        named: { type: "array", items: { type: "string", enum: ["red", "green"] } }
      }
    )
  })

  it("asks for the encoded type", () => {
    const { at, n } = fields({ n: Schema.NumberFromString, at: Schema.DateFromString })
    assert.deepStrictEqual([n!.type, at!.type], ["string", "string"])
  })

  it("advertises defaults as they are encoded", () => {
    const { at, n, several, word } = fields({
      at: Schema.optionalWith(Schema.DateTimeUtc, { default: () => epoch }),
      n: Schema.optionalWith(Schema.NumberFromString, { default: () => 1 }),
      word: Schema.optionalWith(Levels, { default: () => "l" as const }),
      several: Schema.optionalWith(Schema.Array(Levels), { default: () => ["l" as const] })
    })
    assert.deepStrictEqual([at!.default, n!.default], ["1970-01-01T00:00:00.000Z", "1"])
    assert.deepStrictEqual(word, { type: "string", enum: ["low", "high"], default: "low" })
    assert.deepStrictEqual(several, {
      type: "array",
      items: { type: "string", enum: ["low", "high"] },
      default: ["low"]
    })
  })

  it("is the same for a struct with an identifier and for a class", () => {
    class Person
      extends Schema.Class<Person>("Person")({ name: Schema.String, nick: Schema.optional(Schema.String) })
    {}
    const named = Schema.Struct(Person.fields).annotations({ identifier: "PersonStruct" })
    for (const schema of [Person, named]) {
      assert.deepStrictEqual(Form.make<unknown, unknown>(schema as never).requestedSchema, {
        type: "object",
        properties: { name: { type: "string" }, nick: { type: "string" } },
        required: ["name"]
      })
    }
  })

  it("is made once for each schema value", () => {
    const schema = Schema.Struct({ a: Schema.String })
    assert.strictEqual(Form.make(schema), Form.make(schema))
  })

  const refused: ReadonlyArray<readonly [string, Schema.Schema.Any, string]> = [
    ["text alone", Schema.String, "Form: the schema must be a struct: an object with named fields"],
    ["a list of text", Schema.Array(Schema.String), "Form: the schema must be a struct: an object with named fields"],
    ["a record", Schema.Record({ key: Schema.String, value: Schema.String }), "with named fields"],
    [
      "one of two structs",
      Schema.Union(Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })),
      "with named fields"
    ],
    [
      "a struct in a struct",
      Schema.Struct({ in: Schema.Struct({ a: Schema.String }) }),
      `the field "in" has a type that a form cannot have`
    ],
    [
      "any list",
      Schema.Struct({ tags: Schema.Array(Schema.String) }),
      `the field "tags" has a type that a form cannot have`
    ],
    [
      "a list of numbers",
      Schema.Struct({ ns: Schema.Array(Schema.Number) }),
      `the field "ns" has a type that a form cannot have`
    ],
    [
      "what may be null",
      Schema.Struct({ a: Schema.NullOr(Schema.String) }),
      `the field "a" has a type that a form cannot have`
    ],
    ["anything", Schema.Struct({ a: Schema.Unknown }), `the field "a" has a type that a form cannot have`],
    [
      "a text that is longer than it may be",
      Schema.Struct({ a: Schema.String.pipe(Schema.minLength(3), Schema.maxLength(2)) }),
      "Form: a: minLength is above maxLength"
    ]
  ]
  for (const [what, schema, why] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => Form.make(schema as Schema.Schema<unknown>), why)
    })
  }

  it("is typed by what the schema decodes to", () => {
    const form = Form.make(Schema.Struct({ at: Schema.DateFromString, n: Schema.optional(Schema.Int) }))
    expectTypeOf(form).toEqualTypeOf<Form.Form<{ readonly at: Date; readonly n?: number | undefined }>>()
  })
})

describe("The answer to a form", () => {
  it.effect("is decoded, with defaults for missing values", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({
        at: Schema.DateFromString,
        n: Schema.optionalWith(Schema.NumberFromString, { default: () => 1 }),
        name: Schema.String.annotations({ default: "Ada" }),
        tags: Schema.optionalWith(Schema.Array(Schema.Literal("a", "b")), { default: () => ["a" as const] })
      }))
      const at = new Date(0)
      assert.deepStrictEqual(yield* form.decode({ at: at.toISOString() }), { at, n: 1, name: "Ada", tags: ["a"] })
      assert.deepStrictEqual(yield* form.decode({ at: at.toISOString(), n: "2", name: "Bo", tags: [] }), {
        at,
        n: 2,
        name: "Bo",
        tags: []
      })
    }))

  it.effect("may have any form that the schema of its field decodes", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({ at: Schema.Date, when: Schema.optional(Schema.Date) }))
      assert.propertyVal(form.requestedSchema.properties.at, "format", "date-time")
      assert.deepStrictEqual(yield* form.decode({ at: "1970-01-01", when: "1970-01-01" }), {
        at: new Date(0),
        when: new Date(0)
      })
    }))

  it.effect("may be missing where every field has a default", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({ sure: Schema.optionalWith(Schema.Boolean, { default: () => true }) }))
      assert.deepStrictEqual(yield* form.decode(undefined), { sure: true })
      assert.deepStrictEqual(yield* form.decode({}), { sure: true })
    }))

  it.effect("is refused with every field that does not fit", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({
        name: Schema.String.pipe(Schema.maxLength(2)),
        n: Schema.Int.pipe(Schema.between(1, 3)),
        color: Color,
        sure: Schema.Boolean
      }))
      assert.deepStrictEqual(
        yield* answered(form, { name: "long", n: 1.5, color: "blue" }),
        Either.left(
          "name: expected at most 2 characters; n: expected an integer; color: expected one of the choices; " +
            "sure: is missing"
        )
      )
      assert.deepStrictEqual(
        yield* answered(form, undefined),
        Either.left("name: is missing; n: is missing; color: is missing; sure: is missing")
      )
    }))

  it.effect("is checked with filters that a form cannot express", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({
        code: Schema.String.pipe(Schema.pattern(/^[A-Z]+$/)),
        n: Schema.Number.pipe(Schema.positive()),
        even: Schema.Int.pipe(Schema.filter((n) => n % 2 === 0 || "must be even"))
      }))
      assert.deepStrictEqual(form.requestedSchema.properties, {
        code: { type: "string" },
        n: { type: "number" },
        even: { type: "integer" }
      })
      const refused = yield* Effect.flip(form.decode({ code: "abc", n: 0, even: 3 }))
      for (const part of ["code: ", "n: ", "even: must be even"]) assert.include(refused, part)
      assert.deepStrictEqual(yield* form.decode({ code: "ABC", n: 1, even: 2 }), { code: "ABC", n: 1, even: 2 })
    }))

  it.effect("may be one value for an array, from a client that knows no multiple choice", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({ tags: Schema.Array(Schema.Literal("a", "b")) }))
      assert.deepStrictEqual(yield* form.decode({ tags: "b" }), { tags: ["b"] })
    }))

  it.effect("cannot set a prototype", () =>
    Effect.gen(function*() {
      const form = Form.make(Schema.Struct({ a: Schema.optional(Schema.String) }))
      const content = JSON.parse(`{"a":"1","__proto__":{"b":2}}`)
      const decoded = yield* form.decode(content)
      assert.deepStrictEqual(Object.keys(decoded), ["a"])
      assert.strictEqual(Object.getPrototypeOf(decoded), Object.prototype)
    }))
})

describe("A form of fields that are described already", () => {
  const requestedSchema = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1 },
      size: { type: "string", enum: ["s", "l"], default: "s" }
    },
    required: ["name"]
  } as const

  it.effect("is sent as it is, and gives the answer", () =>
    Effect.gen(function*() {
      const form = Form.fromFields(requestedSchema)
      assert.strictEqual(form.requestedSchema, requestedSchema)
      assert.deepStrictEqual(yield* form.decode({ name: "Ada" }), { name: "Ada", size: "s" })
      assert.deepStrictEqual(
        yield* answered(form, { name: "", size: "m" }),
        Either.left("name: expected at least 1 characters; size: expected one of the choices")
      )
    }))

  it("is valid, or has a problem", () => {
    assert.isUndefined(Form.problem(requestedSchema))
    assert.strictEqual(
      Form.problem({
        type: "object",
        properties: { a: { type: "number", minimum: 2, maximum: 1 }, b: { type: "string", enum: [] } },
        required: ["c"]
      }),
      "a: minimum is above maximum; b: there are no choices; c: is required and is not a field of the form"
    )
  })
})
