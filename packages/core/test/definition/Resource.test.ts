import { assert, describe, it } from "@effect/vitest"
import * as Resource from "@effect-mcp/core/Resource"

describe("Resource.make", () => {
  it("advertises the members that are given, and no others", () => {
    const readme = Resource.make("readme", {
      uri: "file:///README.md",
      title: "Read me",
      mimeType: "text/markdown",
      size: 12,
      annotations: { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" },
      meta: { "example.com/x": 1 }
    })
    assert.deepStrictEqual(readme.advertised, {
      name: "readme",
      uri: "file:///README.md",
      title: "Read me",
      mimeType: "text/markdown",
      size: 12,
      annotations: { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" },
      _meta: { "example.com/x": 1 }
    })
    assert.deepStrictEqual(Resource.make("bare", { uri: "x:y" }).advertised, { name: "bare", uri: "x:y" })
  })

  it("refuses a URI that is not absolute, and an empty name", () => {
    for (
      const uri of ["", "README.md", "/README.md", "//host/x", "file:", "file:///my notes.md", "x:ü", "x:%zz", "1:x"]
    ) {
      assert.throws(
        () => Resource.make("readme", { uri }),
        `Resource "readme": "${uri}" is not an absolute URI: begin it with a scheme, as in "file:///README.md"`
      )
    }
    for (const uri of ["file:///my%20notes.md", "urn:isbn:0451450523", "git+ssh://host/x?a=b#c", "x:y"]) {
      assert.strictEqual(Resource.make("a", { uri }).uri, uri)
    }
    assert.throws(() => Resource.make("a", { uri: " ".repeat(100_000) }), `Resource "a": "${" ".repeat(100)}…" is not`)
    assert.throws(() => Resource.make(" ", { uri: "x:y" }), `Resource: give "x:y" a name that is not empty`)
  })

  it("is recognized by its guard", () => {
    assert.isTrue(Resource.isResource(Resource.make("a", { uri: "x:y" })))
    assert.isFalse(Resource.isResource({ name: "a", uri: "x:y" }))
  })
})

describe("Resource.toResult", () => {
  it("gives a text the URI of the request", () => {
    assert.deepStrictEqual(Resource.toResult("hi", "x:y", "text/plain"), {
      contents: [{ uri: "x:y", mimeType: "text/plain", text: "hi" }]
    })
    assert.deepStrictEqual(Resource.toResult("", "x:y", undefined), { contents: [{ uri: "x:y", text: "" }] })
  })

  it("encodes bytes as base64", () => {
    assert.deepStrictEqual(Resource.toResult(new Uint8Array([0, 255]), "x:y", undefined), {
      contents: [{ uri: "x:y", blob: "AP8=" }]
    })
  })

  it("keeps contents with URIs of their own, one or many", () => {
    const one = { uri: "x:z", text: "z" }
    assert.deepStrictEqual(Resource.toResult(one, "x:y", "text/plain"), { contents: [one] })
    assert.deepStrictEqual(Resource.toResult([one, one], "x:y", "text/plain"), { contents: [one, one] })
  })
})
