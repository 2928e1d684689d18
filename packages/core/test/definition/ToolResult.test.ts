import { assert, describe, it } from "@effect/vitest"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { expectTypeOf } from "vitest"

const annotations = { audience: ["user"], priority: 1 } as const

describe("ToolResult", () => {
  it("makes each kind of content", () => {
    assert.deepStrictEqual(ToolResult.text("hi").content, [{ type: "text", text: "hi" }])
    assert.deepStrictEqual(ToolResult.image("aGk=", "image/png").content, [
      { type: "image", data: "aGk=", mimeType: "image/png" }
    ])
    assert.deepStrictEqual(ToolResult.audio("aGk=", "audio/wav").content, [
      { type: "audio", data: "aGk=", mimeType: "audio/wav" }
    ])
    assert.deepStrictEqual(ToolResult.link({ uri: "file:///a", name: "a" }).content, [
      { type: "resource_link", uri: "file:///a", name: "a" }
    ])
    assert.deepStrictEqual(ToolResult.resource({ uri: "file:///a", text: "hi" }).content, [
      { type: "resource", resource: { uri: "file:///a", text: "hi" } }
    ])
  })

  it("writes bytes as base64", () => {
    const bytes = new Uint8Array([0, 255, 254, 251])
    assert.deepStrictEqual(ToolResult.image(bytes, "image/png").content, [
      { type: "image", data: "AP/++w==", mimeType: "image/png" }
    ])
    assert.deepStrictEqual(ToolResult.audio(new Uint8Array(), "audio/wav").content, [
      { type: "audio", data: "", mimeType: "audio/wav" }
    ])
  })

  it("gives a block annotations and a meta of its own", () => {
    const options = { annotations, meta: { a: 1 } }
    const blocks = [
      ToolResult.text("hi", options),
      ToolResult.image("", "image/png", options),
      ToolResult.audio("", "audio/wav", options),
      ToolResult.resource({ uri: "file:///a", text: "" }, options)
    ].flatMap(({ content }) => content)
    for (const block of blocks) assert.deepInclude(block, { annotations, _meta: { a: 1 } })
    assert.deepStrictEqual(Object.keys(ToolResult.text("hi", { annotations: undefined }).content[0]!), ["type", "text"])
  })

  it("comes first or last: in a pipe, and without one", () => {
    const one = ToolResult.text("a")
    assert.deepStrictEqual(
      ToolResult.concat(one, ToolResult.text("b")),
      one.pipe(ToolResult.concat(ToolResult.text("b")))
    )
    assert.deepStrictEqual(ToolResult.withMeta(one, { n: 1 }), one.pipe(ToolResult.withMeta({ n: 1 })))
    assert.deepStrictEqual(ToolResult.withStructured(one, { n: 1 }), one.pipe(ToolResult.withStructured({ n: 1 })))
  })

  it("concatenates blocks in order", () => {
    const both = ToolResult.text("a").pipe(ToolResult.concat(ToolResult.text("b")))
    assert.deepStrictEqual(both.content, [{ type: "text", text: "a" }, { type: "text", text: "b" }])
  })

  it("has the structured value and the meta of the second result where both have one", () => {
    const one = ToolResult.text("a").pipe(ToolResult.withStructured({ n: 1 }), ToolResult.withMeta({ from: "one" }))
    const two = ToolResult.text("b").pipe(ToolResult.withStructured({ n: 2 }), ToolResult.withMeta({ from: "two" }))
    expectTypeOf(one).toEqualTypeOf<ToolResult.ToolResult<{ n: number }>>()
    assert.deepStrictEqual(one.structured, { n: 1 })
    const plain = ToolResult.text("c")
    for (
      const [result, structured, meta] of [
        [one.pipe(ToolResult.concat(two)), { n: 2 }, { from: "two" }],
        [one.pipe(ToolResult.concat(plain)), { n: 1 }, { from: "one" }],
        [plain.pipe(ToolResult.concat(two)), { n: 2 }, { from: "two" }],
        [plain.pipe(ToolResult.concat(plain)), undefined, undefined]
      ] as const
    ) {
      assert.deepStrictEqual(result.structured, structured)
      assert.deepStrictEqual(result.meta, meta)
    }
    assert.deepStrictEqual(one.pipe(ToolResult.withStructured("x")).meta, { from: "one" })
  })

  it("is an error once a part of it is", () => {
    const failed = ToolResult.text("no").pipe(ToolResult.asError)
    assert.isTrue(failed.isError)
    assert.isFalse(ToolResult.text("yes").isError)
    for (
      const result of [
        failed.pipe(ToolResult.withStructured({ n: 1 })),
        failed.pipe(ToolResult.withMeta({ from: "it" })),
        failed.pipe(ToolResult.concat(ToolResult.text("more"))),
        ToolResult.text("before").pipe(ToolResult.concat(failed))
      ]
    ) assert.isTrue(result.isError)
  })

  it("is recognized by its guard", () => {
    assert.isTrue(ToolResult.isToolResult(ToolResult.make()))
    for (const u of [undefined, null, "text", { content: [], structured: undefined }]) {
      assert.isFalse(ToolResult.isToolResult(u))
    }
  })
})

describe("An image or audio of a result", () => {
  it("must be base64 with a media type", () => {
    assert.throws(() => ToolResult.image("no base64", "image/png"), "ToolResult: the data of the image is not base64")
    assert.throws(() => ToolResult.audio("!", "audio/wav"), "ToolResult: the data of the audio is not base64")
    assert.throws(() => ToolResult.image(new Uint8Array([1]), "png"), "the media type is not a type and a subtype")
  })
})
