import { assert, describe, it } from "@effect/vitest"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import { Effect, Option, Schema } from "effect"
import { expectTypeOf } from "vitest"

const Note = ResourceTemplate.make("note", { mimeType: "text/markdown" })`note:///${
  ResourceTemplate.param("id", Schema.NumberFromString)
}/${ResourceTemplate.param("part")}`

const read = <P>(template: ResourceTemplate.ResourceTemplate<string, P>, uri: string) =>
  template.codec.decode(Option.getOrThrow(UriTemplate.match(template.template, uri)))

describe("a tagged template", () => {
  it("is advertised as a template of RFC 6570", () => {
    assert.deepStrictEqual(Note.advertised, {
      name: "note",
      uriTemplate: "note:///{id}/{part}",
      mimeType: "text/markdown"
    })
    assert.deepStrictEqual(Note.parameters, ["id", "part"])
  })

  it("types its parameters by their schemas", () => {
    expectTypeOf<ResourceTemplate.ResourceTemplate.Parameters<typeof Note>>().toEqualTypeOf<
      { readonly id: number; readonly part: string }
    >()
  })

  it.effect("decodes the parameters in a URI, and encodes them to the same URI", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read(Note, "note:///7/a%20b"), { id: 7, part: "a b" })
      assert.strictEqual(yield* Note.codec.encode({ id: 7, part: "a b" }), "note:///7/a%20b")
    }))

  it("lists the strings of a parameter that allows only certain strings", () => {
    const Page = ResourceTemplate.make("page")`docs:///${ResourceTemplate.param("lang", Schema.Literal("en", "no"))}/${
      ResourceTemplate.param("draft", Schema.BooleanFromString)
    }/${ResourceTemplate.path("path")}`
    expectTypeOf<ResourceTemplate.ResourceTemplate.Parameters<typeof Page>>().toEqualTypeOf<
      { readonly lang: "en" | "no"; readonly draft: boolean; readonly path: string }
    >()
    // @ts-expect-error not a string in the URI
    assert.isObject(ResourceTemplate.param("n", Schema.Number))
    assert.deepStrictEqual([...Page.enumValues], [["lang", ["en", "no"]], ["draft", ["true", "false"]]])
    const Find = ResourceTemplate.fromString("find", "find:///{where}{?kind,tags*}", {
      parameters: { kind: Schema.optional(Schema.Literal("a", "b")), tags: Schema.Array(Schema.Literal("x")) }
    })
    assert.deepStrictEqual([...Find.enumValues], [["kind", ["a", "b"]]])
    assert.strictEqual(Note.enumValues.size, 0)
  })

  it.effect("does not decode values that its schemas refuse", () =>
    Effect.gen(function*() {
      yield* Effect.flip(read(Note, "note:///seven/a"))
    }))

  it.effect("accepts slashes in a path", () =>
    Effect.gen(function*() {
      const File = ResourceTemplate.make("file")`file:///${ResourceTemplate.path("path")}`
      assert.deepStrictEqual(yield* read(File, "file:///a/b%20c.md"), { path: "a/b c.md" })
      assert.strictEqual(yield* File.codec.encode({ path: "a/b c.md" }), "file:///a/b%20c.md")
    }))
})

describe("a template of a string", () => {
  it.effect("has strings for variables and leaves out the parameters that a query lacks", () =>
    Effect.gen(function*() {
      const Find = ResourceTemplate.fromString("find", "find:///{where}{?q,limit}", {
        parameters: { limit: Schema.optional(Schema.NumberFromString) }
      })
      assert.deepStrictEqual(yield* read(Find, "find:///here?limit=3"), { where: "here", limit: 3 })
      assert.deepStrictEqual(yield* read(Find, "find:///here?q=x"), { where: "here", q: "x" })
    }))

  it("throws an error with the problem when it is declared", () => {
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{"),
      /Resource template "a": "x:\/\{" is not a URI template/
    )
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{a}{b}"),
      /Resource template "a": "x:\/\{a\}\{b\}" cannot be matched with certainty/
    )
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{a}", { parameters: { b: Schema.String } }),
      /"x:\/\{a\}" has no variable named "b"/
    )
  })

  it("needs names for itself and for its parameters", () => {
    assert.throws(
      () => ResourceTemplate.fromString(" ", "x:/{a}"),
      `Resource template: give "x:/{a}" a name that is not empty`
    )
    assert.throws(
      () => ResourceTemplate.fromString("a", "x:/{__proto__}"),
      `Resource template "a": "x:/{__proto__}" has a variable named "__proto__"`
    )
    assert.throws(() => ResourceTemplate.make("a")`x:/${ResourceTemplate.param("")}`, "is not a URI template")
  })

  it("must begin like an absolute URI", () => {
    for (const template of ["notes/{id}", "/notes/{id}", "//host/{id}", "1x:/{id}", "no te:/{id}"]) {
      assert.throws(
        () => ResourceTemplate.fromString("a", template),
        `Resource template "a": "${template}" makes no absolute URI: begin it with a scheme, as in "file:///{+path}"`
      )
    }
    assert.throws(() => ResourceTemplate.fromString("a", ""), "makes no absolute URI")
    for (const template of ["x:{id}", "git+ssh://{host}/x", "{+base}/x", "http{s}://x"]) {
      assert.strictEqual(ResourceTemplate.fromString("a", template).advertised.uriTemplate, template)
    }
  })

  it("is recognized by its guard", () => {
    assert.isTrue(ResourceTemplate.isResourceTemplate(Note))
    assert.isFalse(ResourceTemplate.isResourceTemplate("note:///{id}"))
  })
})
