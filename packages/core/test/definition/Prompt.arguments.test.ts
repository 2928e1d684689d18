import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/core/Prompt"
import { Schema } from "effect"

const make = (fields: Schema.Struct.Fields) => Prompt.make("p", { arguments: fields as {} }).advertised.arguments ?? []

describe("The advertised arguments of a prompt", () => {
  it("have the names, titles and descriptions of the fields, in order, and whether each is required", () => {
    assert.deepStrictEqual(
      make({
        b: Schema.String.annotations({ title: "B", description: "The second letter." }),
        a: Schema.optional(Schema.NumberFromString).annotations({ description: "A number." }),
        c: Schema.propertySignature(Schema.Literal("x")).annotations({ title: "C" })
      }),
      [
        { name: "b", title: "B", description: "The second letter.", required: true },
        { name: "a", description: "A number.", required: false },
        { name: "c", title: "C", required: true }
      ]
    )
    assert.deepStrictEqual(make({}), [])
  })

  it("must be encoded as strings, whatever they decode to", () => {
    enum Size {
      small = "S"
    }
    const texts = {
      text: Schema.NonEmptyString,
      template: Schema.TemplateLiteral("id-", Schema.Number),
      size: Schema.Enums(Size),
      either: Schema.Union(Schema.Literal("a"), Schema.Trim),
      date: Schema.Date
    }
    assert.deepStrictEqual(make(texts).map(({ name }) => name), Object.keys(texts))
    enum Level {
      low
    }
    for (const odd of [Schema.Number, Schema.Literal(1), Schema.Enums(Level), Schema.NullOr(Schema.String)]) {
      assert.throws(
        () => make({ ok: Schema.String, odd }),
        `Prompt "p": the argument "odd" must be encoded as a string`
      )
    }
  })

  it("need usable names", () => {
    for (const name of ["", " ", "__proto__", Symbol.for("a")]) {
      assert.throws(
        () => make({ [name]: Schema.String }),
        `Prompt "p": rename the argument "${String(name)}"`
      )
    }
  })
})
