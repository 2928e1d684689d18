import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import { FastCheck as fc, Schema } from "effect"
import { expectTypeOf } from "vitest"

const Add = Tool.make("add", { parameters: { a: Schema.Number } })
const Now = Tool.make("now", { success: Schema.Date })
const Rename = Tool.make("rename", { failure: Schema.String })
const Readme = Resource.make("readme", { uri: "file:///README.md" })
const Licence = Resource.make("licence", { uri: "file:///LICENSE" })
const Note = ResourceTemplate.make("note")`note:///${ResourceTemplate.param("id", Schema.NumberFromString)}`
const File = ResourceTemplate.make("file")`file:///${ResourceTemplate.path("path")}`
const Review = Prompt.make("review", { arguments: { code: Schema.String } })
const Greet = Prompt.make("greet")

const everything = [Add, Now, Readme, Licence, Note, File, Review, Greet] as const

describe("Definition", () => {
  it("holds its tools by name, in the order in which they are passed", () => {
    const definition = Definition.make(Now, Add)
    assert.deepStrictEqual([...definition.tools.keys()], ["now", "add"])
    assert.strictEqual(definition.tools.get("add"), Add)
    assert.isTrue(Definition.isDefinition(definition))
    assert.isFalse(Definition.isDefinition({ tools: definition.tools }))
    const none = Definition.make()
    assert.deepStrictEqual([none.tools, none.resources, none.templates, none.prompts].map(({ size }) => size), [
      0,
      0,
      0,
      0
    ])
  })

  it("holds each entry with those of its kind, in any order of arguments", () => {
    fc.assert(fc.property(fc.shuffledSubarray([...everything], { minLength: everything.length }), (entries) => {
      const definition = Definition.make(...entries)
      const held = {
        Tool: definition.tools,
        Resource: definition.resources,
        ResourceTemplate: definition.templates,
        Prompt: definition.prompts
      }
      for (const [tag, byName] of Object.entries(held)) {
        const expected = entries.filter(({ _tag }) => _tag === tag)
        assert.deepStrictEqual([...byName.values()], expected as Array<never>)
        assert.deepStrictEqual([...byName.keys()], expected.map(({ name }) => name))
      }
    }))
  })

  it("types each of its entries", () => {
    const definition = Definition.make(Note, Now, Readme, Add, Review, Licence)
    type D = typeof definition
    expectTypeOf<Definition.Definition.Tools<D>>().toEqualTypeOf<typeof Now | typeof Add>()
    expectTypeOf<Definition.Definition.Resources<D>>().toEqualTypeOf<typeof Readme | typeof Licence>()
    expectTypeOf<Definition.Definition.Templates<D>>().toEqualTypeOf<typeof Note>()
    expectTypeOf<Definition.Definition.Prompts<D>>().toEqualTypeOf<typeof Review>()
    expectTypeOf<D>().toExtend<Definition.Definition.Any>()
    assert.isTrue(definition.tools.has("now"))
  })

  it("types a kind without entries as never", () => {
    const tools = Definition.make(Add)
    expectTypeOf(tools).toEqualTypeOf<Definition.Definition<typeof Add>>()
    expectTypeOf<Definition.Definition.Prompts<typeof tools>>().toBeNever()
    expectTypeOf<Definition.Definition.Resources<typeof tools>>().toBeNever()
    expectTypeOf<Definition.Definition.Templates<typeof tools>>().toBeNever()
    expectTypeOf(Definition.make()).toEqualTypeOf<Definition.Definition<never>>()
    const prompts = Definition.make(Review, Greet)
    expectTypeOf<Definition.Definition.Tools<typeof prompts>>().toBeNever()
    assert.strictEqual(prompts.prompts.size, 2)
  })

  it("accepts entries that are made at run time", () => {
    const found: ReadonlyArray<Tool.Tool.Any | Prompt.Prompt.Any> = [Add, Review]
    const definition = Definition.make(...found)
    expectTypeOf<Definition.Definition.Tools<typeof definition>>().toEqualTypeOf<Tool.Tool.Any>()
    assert.deepStrictEqual([...definition.prompts.keys()], ["review"])
  })

  it("allows the same name once for each kind", () => {
    const definition = Definition.make(
      Tool.make("a"),
      Prompt.make("a"),
      Resource.make("a", { uri: "a:/a" }),
      ResourceTemplate.fromString("a", "a:/{a}")
    )
    assert.deepStrictEqual(
      [definition.tools, definition.prompts, definition.resources, definition.templates].map(({ size }) => size),
      [1, 1, 1, 1]
    )
  })

  it("refuses two entries of one kind and name, and names them", () => {
    const cases: ReadonlyArray<readonly [Definition.Entry, Definition.Entry, string]> = [
      [Add, Tool.make("add", {}), `two tools are named "add"`],
      [Review, Prompt.make("review"), `two prompts are named "review"`],
      [Readme, Resource.make("readme", { uri: "x:y" }), `two resources are named "readme"`],
      [Note, ResourceTemplate.fromString("note", "x:/{y}"), `two resource templates are named "note"`]
    ]
    for (const [one, other, problem] of cases) {
      assert.throws(
        () => Definition.make(one, Now, other),
        `Definition: ${problem}: rename one, or pass it once`
      )
    }
  })

  it("refuses two entries with one URI, and names both", () => {
    assert.throws(
      () => Definition.make(Readme, Resource.make("about", { uri: "file:///README.md" })),
      `Definition: two resources have the URI "file:///README.md": "readme" and "about"`
    )
    assert.throws(
      () => Definition.make(Note, ResourceTemplate.fromString("memo", "note:///{id}")),
      `Definition: two resource templates have the URI template "note:///{id}": "note" and "memo"`
    )
  })

  it("refuses an argument that is not an entry, and names its position", () => {
    for (const odd of [undefined, "add", { _tag: "Tool", name: "add" }]) {
      assert.throws(
        () => Definition.make(Add, odd as never),
        "Definition: argument 2 is not an entry: make it with Tool, Resource, ResourceTemplate or Prompt"
      )
    }
  })
})

describe("Definitions that are merged", () => {
  it("have all the entries, and refuse the same entry twice", () => {
    const merged = Definition.merge(
      Definition.make(Add, Readme),
      Definition.make(Note, Now, Review, Rename),
      Definition.make(Greet)
    )
    type D = typeof merged
    assert.deepStrictEqual<unknown>([...merged.tools.values()], [Add, Now, Rename])
    assert.deepStrictEqual([...merged.resources.keys()], ["readme"])
    assert.deepStrictEqual([...merged.templates.keys()], ["note"])
    assert.deepStrictEqual([...merged.prompts.keys()], ["review", "greet"])
    expectTypeOf<Definition.Definition.Tools<D>>().toEqualTypeOf<typeof Add | typeof Now | typeof Rename>()
    expectTypeOf<Definition.Definition.Resources<D>>().toEqualTypeOf<typeof Readme>()
    expectTypeOf<Definition.Definition.Templates<D>>().toEqualTypeOf<typeof Note>()
    expectTypeOf<Definition.Definition.Prompts<D>>().toEqualTypeOf<typeof Review | typeof Greet>()
    assert.strictEqual(Definition.merge().tools.size, 0)
  })

  it("refuse an entry that two of them have", () => {
    assert.throws(
      () => Definition.merge(Definition.make(Add), Definition.make(Now, Add)),
      `Definition: two tools are named "add"`
    )
    assert.throws(
      () => Definition.merge(Definition.make(Review), Definition.make(Review)),
      `Definition: two prompts are named "review"`
    )
    assert.throws(
      () => Definition.merge(Definition.make(Readme), Definition.make(Resource.make("x", { uri: Readme.uri }))),
      `two resources have the URI "file:///README.md": "readme" and "x"`
    )
  })

  it("refuses a tool whose name a typed client needs for other entries", () => {
    const prompts = Tool.make("prompts")
    assert.throws(
      () => Definition.make(prompts, Prompt.make("hello")),
      `Definition: a tool named "prompts" would hide the prompts of a typed client: rename the tool`
    )
    assert.strictEqual(Definition.make(prompts).tools.size, 1)
  })
})
