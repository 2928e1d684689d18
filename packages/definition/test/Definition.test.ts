import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/definition/Definition"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import * as Tool from "@effect-mcp/definition/Tool"
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
  it("holds its tools by name, in the order in which they are promised", () => {
    const promised = Definition.make(Now, Add)
    assert.deepStrictEqual([...promised.tools.keys()], ["now", "add"])
    assert.strictEqual(promised.tools.get("add"), Add)
    assert.isTrue(Definition.isDefinition(promised))
    assert.isFalse(Definition.isDefinition({ tools: promised.tools }))
    const none = Definition.make()
    assert.deepStrictEqual([none.tools, none.resources, none.templates, none.prompts].map(({ size }) => size), [
      0,
      0,
      0,
      0
    ])
  })

  it("holds each promise with those of its kind, in whatever order they are made", () => {
    fc.assert(fc.property(fc.shuffledSubarray([...everything], { minLength: everything.length }), (promises) => {
      const promised = Definition.make(...promises)
      const held = {
        Tool: promised.tools,
        Resource: promised.resources,
        ResourceTemplate: promised.templates,
        Prompt: promised.prompts
      }
      for (const [tag, byName] of Object.entries(held)) {
        const expected = promises.filter(({ _tag }) => _tag === tag)
        assert.deepStrictEqual([...byName.values()], expected as Array<never>)
        assert.deepStrictEqual([...byName.keys()], expected.map(({ name }) => name))
      }
    }))
  })

  it("knows each of its promises by type", () => {
    const promised = Definition.make(Note, Now, Readme, Add, Review, Licence)
    type D = typeof promised
    expectTypeOf<Definition.Definition.Tools<D>>().toEqualTypeOf<typeof Now | typeof Add>()
    expectTypeOf<Definition.Definition.Resources<D>>().toEqualTypeOf<typeof Readme | typeof Licence>()
    expectTypeOf<Definition.Definition.Templates<D>>().toEqualTypeOf<typeof Note>()
    expectTypeOf<Definition.Definition.Prompts<D>>().toEqualTypeOf<typeof Review>()
    expectTypeOf<D>().toExtend<Definition.Definition.Any>()
    assert.isTrue(promised.tools.has("now"))
  })

  it("knows that it promises nothing of a kind", () => {
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

  it("takes promises that nobody knew before the program ran", () => {
    const found: ReadonlyArray<Tool.Tool.Any | Prompt.Prompt.Any> = [Add, Review]
    const promised = Definition.make(...found)
    expectTypeOf<Definition.Definition.Tools<typeof promised>>().toEqualTypeOf<Tool.Tool.Any>()
    assert.deepStrictEqual([...promised.prompts.keys()], ["review"])
  })

  it("lets one name be promised once of each kind", () => {
    const promised = Definition.make(
      Tool.make("a"),
      Prompt.make("a"),
      Resource.make("a", { uri: "a:/a" }),
      ResourceTemplate.fromString("a", "a:/{a}")
    )
    assert.deepStrictEqual(
      [promised.tools, promised.prompts, promised.resources, promised.templates].map(({ size }) => size),
      [1, 1, 1, 1]
    )
  })

  it("refuses two promises of one kind and name, and names them", () => {
    const cases: ReadonlyArray<readonly [Definition.Promised, Definition.Promised, string]> = [
      [Add, Tool.make("add", {}), `two tools are named "add"`],
      [Review, Prompt.make("review"), `two prompts are named "review"`],
      [Readme, Resource.make("readme", { uri: "x:y" }), `two resources are named "readme"`],
      [Note, ResourceTemplate.fromString("note", "x:/{y}"), `two resource templates are named "note"`]
    ]
    for (const [one, other, problem] of cases) {
      assert.throws(
        () => Definition.make(one, Now, other),
        `Definition: ${problem}: rename one, or promise it once`
      )
    }
  })

  it("refuses two of one address, and names both", () => {
    assert.throws(
      () => Definition.make(Readme, Resource.make("about", { uri: "file:///README.md" })),
      `Definition: two resources have the URI "file:///README.md": "readme" and "about"`
    )
    assert.throws(
      () => Definition.make(Note, ResourceTemplate.fromString("memo", "note:///{id}")),
      `Definition: two resource templates have the URI template "note:///{id}": "note" and "memo"`
    )
  })

  it("refuses what is no promise, and says which", () => {
    for (const odd of [undefined, "add", { _tag: "Tool", name: "add" }]) {
      assert.throws(
        () => Definition.make(Add, odd as never),
        "Definition: promise 2 is none: make it with Tool, Resource, ResourceTemplate or Prompt"
      )
    }
  })
})

describe("Definitions that are merged", () => {
  it("promise all that each does, and refuse the same promise twice", () => {
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

  it("refuse what is promised twice", () => {
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

  it("has no tool that hides what stands beside it", () => {
    const prompts = Tool.make("prompts")
    assert.throws(
      () => Definition.make(prompts, Prompt.make("hello")),
      `Definition: a tool named "prompts" hides the prompts beside it: rename the tool`
    )
    assert.strictEqual(Definition.make(prompts).tools.size, 1)
  })
})
