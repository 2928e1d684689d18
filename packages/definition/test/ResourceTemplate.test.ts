import { assert, describe, it } from "@effect/vitest"
import * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import { Effect, Option, Schema } from "effect"
import { expectTypeOf } from "vitest"

const Note = ResourceTemplate.make("note", { mimeType: "text/markdown" })`note:///${
  ResourceTemplate.param("id", Schema.NumberFromString)
}/${ResourceTemplate.param("part")}`

const read = <P>(template: ResourceTemplate.ResourceTemplate<string, P>, uri: string) =>
  template.codec.decode(Option.getOrThrow(UriTemplate.match(template.template, uri)))

describe("a tagged template", () => {
  it("is advertised as the template of RFC 6570 that it is", () => {
    assert.deepStrictEqual(Note.advertised, {
      name: "note",
      uriTemplate: "note:///{id}/{part}",
      mimeType: "text/markdown"
    })
    assert.deepStrictEqual(Note.parameters, ["id", "part"])
  })

  it("gives its parameters the types of their schemas", () => {
    expectTypeOf<ResourceTemplate.ResourceTemplate.Parameters<typeof Note>>().toEqualTypeOf<
      { readonly id: number; readonly part: string }
    >()
  })

  it.effect("decodes what it finds in an address, and makes the address again", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(Note, "note:///7/a%20b"), { id: 7, part: "a b" })
      assert.strictEqual(yield* Note.codec.encode({ id: 7, part: "a b" }), "note:///7/a%20b")
    }))

  it("knows what a parameter may be that is one of some strings", () => {
    const Page = ResourceTemplate.make("page")`docs:///${ResourceTemplate.param("lang", Schema.Literal("en", "no"))}/${
      ResourceTemplate.param("draft", Schema.BooleanFromString)
    }/${ResourceTemplate.path("path")}`
    expectTypeOf<ResourceTemplate.ResourceTemplate.Parameters<typeof Page>>().toEqualTypeOf<
      { readonly lang: "en" | "no"; readonly draft: boolean; readonly path: string }
    >()
    // @ts-expect-error no string in the address
    assert.isObject(ResourceTemplate.param("n", Schema.Number))
    assert.deepStrictEqual([...Page.choices], [["lang", ["en", "no"]], ["draft", ["true", "false"]]])
    const Find = ResourceTemplate.fromString("find", "find:///{where}{?kind,tags*}", {
      parameters: { kind: Schema.optional(Schema.Literal("a", "b")), tags: Schema.Array(Schema.Literal("x")) }
    })
    assert.deepStrictEqual([...Find.choices], [["kind", ["a", "b"]]])
    assert.strictEqual(Note.choices.size, 0)
  })

  it.effect("does not decode what its schemas refuse", () =>
    Effect.gen(function*() {
      yield* Effect.flip(read(Note, "note:///seven/a"))
    }))

  it.effect("takes slashes in a path", () =>
    Effect.gen(function*() {
      const File = ResourceTemplate.make("file")`file:///${ResourceTemplate.path("path")}`
      assert.deepStrictEqual(yield* read(File, "file:///a/b%20c.md"), { path: "a/b c.md" })
      assert.strictEqual(yield* File.codec.encode({ path: "a/b c.md" }), "file:///a/b%20c.md")
    }))
})

describe("a plain template", () => {
  it.effect("has strings for variables, lists where they are exploded, and leaves out what a query lacks", () =>
    Effect.gen(function*() {
      const Find = ResourceTemplate.fromString("find", "find:///{where}{?q,limit}", {
        parameters: { limit: Schema.optional(Schema.NumberFromString) }
      })
      assert.deepStrictEqual(yield* read(Find, "find:///here?limit=3"), { where: "here", limit: 3 })
      assert.deepStrictEqual(yield* read(Find, "find:///here?q=x"), { where: "here", q: "x" })
    }))

  it("says what is wrong with it when it is made", () => {
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{"),
      /Resource template "a": "x:\/\{" is not a URI template/
    )
    assert.throws(() => ResourceTemplate.fromString("a", "x:/{a}{b}"), /matches no address for sure/)
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{a}", { parameters: { b: Schema.String } }),
      /"x:\/\{a\}" has no variable named b/
    )
  })

  it("needs names, for itself and its parameters", () => {
    assert.throws(
      () => ResourceTemplate.fromString(" ", "x:/{a}"),
      `Resource template: the one of "x:/{a}" needs a name`
    )
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{__proto__}"),
      `Resource template "a": a parameter cannot be named "__proto__"`
    )
    assert.throws(() => ResourceTemplate.make("a")`x:/${ResourceTemplate.param("")}`, "is not a URI template")
  })

  it("must make absolute URIs, as far as it can be known", () => {
    for (const template of ["notes/{id}", "/notes/{id}", "//host/{id}", "1x:/{id}", "no te:/{id}"]) {
      assert.throws(
        () => ResourceTemplate.fromString("a", template),
        `Resource template "a": "${template}" makes no absolute URI: begin with a scheme, as in "file:///{+path}"`
      )
    }
    assert.throws(() => ResourceTemplate.fromString("a", ""), "makes no absolute URI")
    for (const template of ["x:{id}", "git+ssh://{host}/x", "{+base}/x", "http{s}://x"]) {
      assert.strictEqual(ResourceTemplate.fromString("a", template).advertised.uriTemplate, template)
    }
  })

  it("is told apart from anything else", () => {
    assert.isTrue(ResourceTemplate.isResourceTemplate(Note))
    assert.isFalse(ResourceTemplate.isResourceTemplate("note:///{id}"))
  })
})
