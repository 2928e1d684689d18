import { assert, describe, it } from "@effect/vitest"
import { JSONSchema, Schema } from "effect"
import * as FilterText from "../../../src/definition/schema/FilterText.js"

/** The JSON Schema that Effect generates, and the text that `FilterText` recognizes in it. */
const generated = (schema: Schema.Schema<any, any>) => {
  const made = JSONSchema.fromAST(schema.ast, {
    definitions: {},
    target: "jsonSchema2020-12",
    topLevelReferenceStrategy: "skip"
  }) as unknown as Record<string, unknown>
  return { made, words: FilterText.make(made) }
}

const filters: ReadonlyArray<Schema.Schema<any, any>> = [
  Schema.Int,
  Schema.Finite,
  Schema.JsonNumber,
  Schema.Positive,
  Schema.Negative,
  Schema.NonPositive,
  Schema.NonNegative,
  Schema.Number.pipe(Schema.greaterThan(3)),
  Schema.Number.pipe(Schema.greaterThanOrEqualTo(-3)),
  Schema.Number.pipe(Schema.lessThan(3.5)),
  Schema.Number.pipe(Schema.lessThanOrEqualTo(3)),
  Schema.Number.pipe(Schema.greaterThan(0)),
  Schema.Number.pipe(Schema.lessThanOrEqualTo(0)),
  Schema.Number.pipe(Schema.between(-1, 1)),
  Schema.Number.pipe(Schema.multipleOf(2)),
  Schema.NonEmptyString,
  Schema.Char,
  Schema.String.pipe(Schema.minLength(2)),
  Schema.String.pipe(Schema.maxLength(2)),
  Schema.String.pipe(Schema.length(2)),
  Schema.String.pipe(Schema.length({ min: 1, max: 2 })),
  Schema.String.pipe(Schema.pattern(/^a/)),
  Schema.String.pipe(Schema.startsWith("a\"b")),
  Schema.String.pipe(Schema.endsWith(".md")),
  Schema.String.pipe(Schema.includes("(")),
  Schema.Array(Schema.String).pipe(Schema.minItems(1)),
  Schema.Array(Schema.String).pipe(Schema.maxItems(1)),
  Schema.Array(Schema.String).pipe(Schema.itemsCount(2)),
  Schema.Unknown,
  Schema.Any,
  Schema.Object
]

describe("FilterText", () => {
  for (const schema of filters) {
    it(`recognizes the text of ${schema}`, () => {
      const { made, words } = generated(schema)
      if (made.title !== undefined) assert.isTrue(words.titles.has(made.title), `title ${String(made.title)}`)
      if (made.description !== undefined) {
        assert.isTrue(words.descriptions.has(made.description), `description ${String(made.description)}`)
      }
      assert.isTrue(made.title !== undefined || made.description !== undefined)
    })
  }

  it("does not recognize descriptions that are clearer than a pattern", () => {
    for (const schema of [Schema.Trimmed, Schema.Lowercased, Schema.Uppercased, Schema.Capitalized]) {
      const { made, words } = generated(schema)
      assert.isTrue(words.titles.has(made.title))
      assert.isFalse(words.descriptions.has(made.description))
    }
  })

  it("does not recognize text that does not belong to the keywords", () => {
    const words = FilterText.make({ type: "number", minimum: 1 })
    for (const title of ["int", "positive", "nonNegative", "between(0, 5)", "unknown"]) {
      assert.isFalse(words.titles.has(title))
    }
    for (const description of ["an integer", "a positive number", "a positive number of days"]) {
      assert.isFalse(words.descriptions.has(description))
    }
    assert.isFalse(FilterText.make({ type: "object" }).titles.has("object"))
  })

  it("corrects the pattern of a filter whose text has special characters", () => {
    const cases: ReadonlyArray<readonly [Schema.Schema<string>, string, string]> = [
      [Schema.String.pipe(Schema.endsWith(".md")), "a.md", "amd"],
      [Schema.String.pipe(Schema.startsWith("a.b")), "a.b", "axb"],
      [Schema.String.pipe(Schema.includes("(*)")), "a (*) b", "a () b"],
      [Schema.String.pipe(Schema.endsWith("/\\")), "\n/\\", "/"]
    ]
    for (const [schema, yes, no] of cases) {
      const pattern = new RegExp(generated(schema).words.pattern!, "u")
      assert.isTrue(pattern.test(yes), `${pattern} of ${yes}`)
      assert.isFalse(pattern.test(no), `${pattern} of ${no}`)
    }
    assert.isUndefined(FilterText.make({ title: `endsWith(".md")`, pattern: "md$" }).pattern)
    assert.isUndefined(FilterText.make({ title: `endsWith("x" + ")`, pattern: "^.*x$" }).pattern)
  })
})
