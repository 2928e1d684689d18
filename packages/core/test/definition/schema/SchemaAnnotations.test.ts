import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as SchemaAnnotations from "../../../src/definition/schema/SchemaAnnotations.js"
import type { JsonObject } from "../../../src/protocol/Json.js"

const generate = (schema: Schema.Schema<any, any>) => SchemaAnnotations.generate(schema, {})

const Luhn = Schema.String.pipe(Schema.filter(() => true, { title: "Luhn", description: "A Luhn number." }))
const When = Schema.Date.annotations({ description: "When it happened.", examples: [new Date(0)] })

describe("SchemaAnnotations", () => {
  it("adds the annotations of a filter without a JSON Schema", () => {
    assert.deepStrictEqual(generate(Luhn), { type: "string", title: "Luhn", description: "A Luhn number." })
  })

  it("adds the annotations of a filter after a transformation, with encoded values", () => {
    assert.deepStrictEqual(generate(When), {
      type: "string",
      format: "date-time",
      description: "When it happened.",
      examples: ["1970-01-01T00:00:00.000Z"]
    })
    assert.deepStrictEqual(generate(Schema.NumberFromString.pipe(Schema.int({ default: 5 }))), {
      type: "string",
      description: "a number, written as a string",
      default: "5"
    })
  })

  it("adds nothing for a filter without annotations", () => {
    assert.deepStrictEqual(generate(Schema.Date), { type: "string", format: "date-time" })
    assert.deepStrictEqual(generate(Schema.String.pipe(Schema.filter(() => true))), { type: "string" })
  })

  it("prefers the annotations of the outer filter", () => {
    const outer = Luhn.pipe(Schema.minLength(2, { description: "A long Luhn number." }))
    assert.deepStrictEqual(generate(outer), {
      type: "string",
      minLength: 2,
      title: "Luhn",
      description: "A long Luhn number."
    })
  })

  it("finds annotations everywhere in a schema", () => {
    const { description, examples, format, type } = generate(When)
    const when = { type, format, description, examples }
    const luhn = generate(Luhn)
    const schema = Schema.Struct({
      field: When,
      optional: Schema.optional(When),
      defaulted: Schema.optionalWith(When, { default: () => new Date(0) }),
      either: Schema.Union(When, Schema.Number),
      list: Schema.Array(When),
      tuple: Schema.Tuple([Luhn], When),
      record: Schema.Record({ key: Schema.String, value: Luhn }),
      filtered: Schema.Struct({ inner: Luhn }).pipe(Schema.filter(() => true, { description: "All." }))
    })
    const { record, ...properties } = generate(schema).properties as Record<string, JsonObject>
    assert.deepStrictEqual(record!.additionalProperties, luhn)
    assert.deepStrictEqual(properties, {
      field: when,
      optional: when,
      defaulted: { ...when, default: "1970-01-01T00:00:00.000Z" },
      either: { anyOf: [when, { type: "number" }] },
      list: { type: "array", items: when },
      tuple: { type: "array", minItems: 1, prefixItems: [luhn], items: when },
      filtered: {
        type: "object",
        required: ["inner"],
        properties: { inner: luhn },
        additionalProperties: true,
        description: "All."
      }
    })
  })

  it("finds annotations in recursive types, once", () => {
    interface Tree {
      readonly name: string
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({
      name: Luhn,
      children: Schema.Array(Schema.suspend(() => Tree))
    }).annotations({ identifier: "Tree" })
    const definitions: Record<string, JsonObject> = {}
    SchemaAnnotations.generate(Tree, definitions)
    assert.deepStrictEqual(definitions.Tree!.properties, {
      name: generate(Luhn),
      children: { type: "array", items: { $ref: "#/$defs/Tree" } }
    })
  })

  it("writes references as URIs, and reads those of Effect", () => {
    assert.strictEqual(SchemaAnnotations.reference("Tree"), "#/$defs/Tree")
    assert.strictEqual(SchemaAnnotations.reference("a/b ~100%"), "#/$defs/a~1b%20~0100%25")
    assert.strictEqual(SchemaAnnotations.definitionOf("#/$defs/a~1b ~0100%"), "a/b ~100%")
    assert.isUndefined(SchemaAnnotations.definitionOf("https://example.com/schema"))
    assert.isUndefined(SchemaAnnotations.definitionOf(undefined))
  })
})
