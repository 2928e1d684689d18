import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { describe, expect, it } from "vitest"
import * as IssueText from "../../../src/protocol/schema/IssueText.js"
import * as SchemaTree from "../../../src/protocol/schema/SchemaTree.js"

const describeAll = (schema: { readonly ast: AST.AST }, max = 1000) => IssueText.expected(SchemaTree.of(schema), max)

enum Fruit {
  Apple = "apple",
  Pear = 2
}

interface Tree {
  readonly children: ReadonlyArray<Tree>
}

const Branches = Schema.suspend((): Schema.Schema<Tree> => Tree)
const Tree: Schema.Schema<Tree> = Schema.Struct({ children: Schema.Array(Branches) })

describe("What a schema expects", () => {
  it("writes a type as Effect does", () => {
    const schemas: ReadonlyArray<{ readonly ast: AST.AST }> = [
      Schema.String,
      Schema.Never,
      Schema.Unknown,
      Schema.Literal("a", 1, true, null),
      Schema.Enums(Fruit),
      Schema.TemplateLiteral("a-", Schema.Number),
      Schema.Struct({}),
      Schema.Struct({ q: Schema.String, limit: Schema.optional(Schema.Int) }),
      Schema.Struct({ q: Schema.String }, { key: Schema.String, value: Schema.Unknown }),
      Schema.Record({ key: Schema.String, value: Schema.Number }),
      Schema.Array(Schema.Union(Schema.String, Schema.Number)),
      Schema.Tuple(),
      Schema.Tuple(Schema.String, Schema.optionalElement(Schema.Number)),
      Schema.Tuple([Schema.String], Schema.Union(Schema.Number, Schema.String), Schema.Boolean),
      Schema.Tuple([], Schema.Number, Schema.Boolean),
      Schema.mutable(Schema.Struct({ a: Schema.NumberFromString })),
      Schema.transform(Schema.String, Schema.Number, { decode: Number, encode: String }),
      Schema.Struct({ n: Schema.Number.pipe(Schema.filter(() => true)) }),
      Schema.Struct({ id: Schema.String }).annotations({ identifier: "Item" }),
      Schema.Struct({ id: Schema.String }).annotations({ description: "an item" }),
      Schema.DateFromSelf,
      Tree
    ]
    for (const schema of schemas) expect(describeAll(schema)).toBe(String(schema.ast))
  })

  it("describes a filter by its description, identifier or title", () => {
    expect(describeAll(Schema.Int)).toBe("an integer")
    expect(describeAll(Schema.Number.pipe(Schema.filter(() => true)))).toBe("{ number | filter }")
    expect(describeAll(Schema.String.pipe(Schema.filter(() => true, { identifier: "Name" })))).toBe("Name")
    expect(describeAll(Schema.String.pipe(Schema.filter(() => true, { title: "a name" })))).toBe("a name")
  })

  it("names a schema that refers to one with a name", () => {
    const Node = Schema.Struct({}).annotations({ identifier: "Node" })
    expect(describeAll(Schema.suspend(() => Node))).toBe("Node")
    expect(describeAll(Schema.suspend(() => Schema.Struct({})))).toBe("<suspended schema>")
  })

  it("joins several types, each once", () => {
    const asts = [Schema.String, Schema.Number, Schema.String, Schema.Int].map((schema) => SchemaTree.of(schema))
    expect(IssueText.expectedOfAny(asts, 100)).toBe("string | number | an integer")
    expect(IssueText.expectedOfAny(asts, 10)).toBe("string | n…")
  })

  it("writes no more than `max` characters, and reads little more of the schema", () => {
    let reads = 0
    const literals = Array.from({ length: 100_000 }, (_, i) => new AST.Literal(`choice-${i}`))
    const types = new Proxy(literals, {
      get: (all, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++
        return Reflect.get(all, key)
      }
    })
    const union = AST.Union.make(types)
    expect(IssueText.expected(union, 100).length).toBe(101)
    expect(reads).toBeLessThan(20)
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field${i}`, Schema.String]))
    for (
      const schema of [
        Schema.Struct(fields),
        Schema.Array(Schema.Array(Schema.Struct(fields))),
        Schema.Tuple(...Object.values(fields)),
        Schema.Tuple([], Schema.Struct(fields), Schema.Struct(fields)),
        Schema.Struct(fields).pipe(Schema.filter(() => true))
      ]
    ) {
      const text = describeAll(schema, 60)
      expect(text.length).toBe(61)
      expect(text.endsWith("…")).toBe(true)
    }
  })
})
