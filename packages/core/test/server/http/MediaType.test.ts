import { assert, describe, it } from "@effect/vitest"
import * as MediaType from "../../../src/server/http/MediaType.js"

describe("MediaType.accepted", () => {
  const both = { json: true, events: true }
  const neither = { json: false, events: false }

  it("reads a list of types, in any case and order", () => {
    assert.deepStrictEqual(MediaType.accepted("application/json, text/event-stream"), both)
    assert.deepStrictEqual(MediaType.accepted("TEXT/event-stream;q=0.9 ,Application/JSON ; q=1"), both)
    assert.deepStrictEqual(MediaType.accepted("application/json"), { json: true, events: false })
    assert.deepStrictEqual(MediaType.accepted("text/event-stream"), { json: false, events: true })
  })

  it("accepts wildcards", () => {
    assert.deepStrictEqual(MediaType.accepted("*/*"), both)
    assert.deepStrictEqual(MediaType.accepted("application/*"), { json: true, events: false })
    assert.deepStrictEqual(MediaType.accepted("text/*"), { json: false, events: true })
  })

  it("refuses a type with a weight of zero; the most specific entry decides", () => {
    assert.deepStrictEqual(MediaType.accepted("*/*, application/json;q=0"), { json: false, events: true })
    assert.deepStrictEqual(MediaType.accepted("*/*;q=0.000, text/event-stream"), { json: false, events: true })
    assert.deepStrictEqual(MediaType.accepted("text/*;q=0, */*"), { json: true, events: false })
  })

  it("accepts everything without a header, or with an empty one", () => {
    for (const accept of [undefined, "", " , ,"]) assert.deepStrictEqual(MediaType.accepted(accept), both)
  })

  it("compares whole types", () => {
    for (const accept of ["text/html", "application/jsonp, xtext/event-stream", "application/json+x"]) {
      assert.deepStrictEqual(MediaType.accepted(accept), neither)
    }
  })

  it("gives the same result for the same header again", () => {
    for (let i = 0; i < 2; i++) assert.deepStrictEqual(MediaType.accepted("*/*"), both)
    assert.deepStrictEqual(MediaType.accepted(undefined), both)
  })
})

describe("MediaType.formOf", () => {
  it("is what the endpoint prefers where the client accepts both, and otherwise what the client accepts", () => {
    for (const preferred of ["auto", "json", "stream"] as const) {
      assert.strictEqual(MediaType.formOf("*/*", preferred), preferred)
      assert.strictEqual(MediaType.formOf("application/json", preferred), "json")
      assert.strictEqual(MediaType.formOf("text/event-stream", preferred), "stream")
      assert.isUndefined(MediaType.formOf("text/html", preferred))
    }
  })
})

describe("MediaType.isJson", () => {
  const isJson = (type: string | undefined, encoding?: string) =>
    MediaType.isJson({ "content-type": type, "content-encoding": encoding })

  it("accepts application/json in any case, in UTF-8", () => {
    for (
      const type of [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json; charset=utf8; x=y",
        "application/json; x=\"y z\"",
        "application/json;"
      ]
    ) {
      assert.isTrue(isJson(type), type)
    }
    assert.isTrue(isJson("application/json", "identity"))
  })

  it("refuses everything else", () => {
    for (
      const type of [
        undefined,
        "",
        "text/plain",
        "text/plain; a=application/json",
        "application/jsonp",
        "application/json, text/plain",
        "application/json; charset=latin1",
        "application/json;charset",
        "application/json; charset=",
        "application/json; charset=utf-8, text/plain",
        "application/json; charset = utf-8",
        "application/json; x",
        "application/json; x=y z",
        "application/x-www-form-urlencoded"
      ]
    ) {
      assert.isFalse(isJson(type), type)
    }
    assert.isFalse(isJson("application/json", "gzip"))
  })
})
