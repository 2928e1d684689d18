import { assert, describe, it } from "@effect/vitest"
import * as ToolOutput from "@effect-mcp/ai/ToolOutput"

const png = "iVBORw0KGgo="

describe("What goes back to a model", () => {
  it("is the text, the images and the links of a result, in their order", () => {
    const output = ToolOutput.make({
      content: [
        { type: "text", text: "one" },
        { type: "image", data: png, mimeType: "image/PNG" },
        { type: "resource_link", uri: "file:///a.txt", name: "a", mimeType: "text/plain", description: "The a." },
        { type: "resource", resource: { uri: "file:///b.txt", text: "the b" } },
        { type: "resource", resource: { uri: "file:///c.png", blob: png, mimeType: "image/png" } },
        { type: "resource", resource: { uri: "file:///d.zip", blob: png, mimeType: "application/zip" } }
      ]
    })
    assert.isFalse(output.isError)
    assert.deepStrictEqual(output.parts, [
      { type: "text", text: "one" },
      { type: "image", data: png, mimeType: "image/png" },
      { type: "text", text: "[resource file:///a.txt: a, text/plain, The a.]" },
      { type: "text", text: "[resource file:///b.txt]\nthe b" },
      { type: "image", data: png, mimeType: "image/png" },
      { type: "text", text: "[resource file:///d.zip: application/zip, 8 bytes]" }
    ])
    assert.include(output.text, "one\n[image: image/png]\n")
  })

  it("is the structured content as JSON when the result has no content", () => {
    const output = ToolOutput.make({ content: [], structuredContent: { hits: ["a"] } })
    assert.strictEqual(output.text, "{\"hits\":[\"a\"]}")
    assert.deepStrictEqual(output.structured, { hits: ["a"] })
    const both = ToolOutput.make({ content: [{ type: "text", text: "one hit" }], structuredContent: { hits: ["a"] } })
    assert.strictEqual(both.text, "one hit")
    assert.deepStrictEqual(both.structured, { hits: ["a"] })
  })

  it("is the structured content also beside texts of blanks, and not where it is null", () => {
    for (const text of ["", " \n", "\u00a0"]) {
      const output = ToolOutput.make({ content: [{ type: "text", text }], structuredContent: { hits: ["a"] } })
      assert.deepStrictEqual(output.parts, [{ type: "text", text: "{\"hits\":[\"a\"]}" }])
    }
    const failed = ToolOutput.make({
      content: [{ type: "text", text: "" }],
      structuredContent: { code: 7 },
      isError: true
    })
    assert.strictEqual(failed.text, "{\"code\":7}")
    assert.strictEqual(ToolOutput.make({ content: [], structuredContent: null }).text, "The tool returned nothing.")
  })

  const jpeg = "/9j/4AA+"
  const sent: ReadonlyArray<readonly [what: string, data: string, mimeType: string, expected: ToolOutput.Part]> = [
    ["a data URI", `data:image/jpeg;base64,${jpeg}`, "image/jpeg", {
      type: "image",
      data: jpeg,
      mimeType: "image/jpeg"
    }],
    [
      "a data URI of another type than the type beside it",
      `DATA:image/JPG;charset=utf-8;base64,${jpeg}`,
      "image/png",
      { type: "image", data: jpeg, mimeType: "image/jpeg" }
    ],
    ["a data URI without a type", `data:;base64,${jpeg}`, "image/jpeg", {
      type: "image",
      data: jpeg,
      mimeType: "image/jpeg"
    }],
    ["a data URI with escapes", "data:image/png;base64,iVBORw0KGgo%3D", "", {
      type: "image",
      data: png,
      mimeType: "image/png"
    }],
    ["base64 for URLs", "_9j_4AA-", "image/jpeg", { type: "image", data: jpeg, mimeType: "image/jpeg" }],
    ["base64 without padding", "iVBORw0KGgo", "image/png", { type: "image", data: png, mimeType: "image/png" }],
    ["base64 in lines", " iVBO\r\nRw0K\r\nGgo=\r\n", "image/png", { type: "image", data: png, mimeType: "image/png" }],
    ["an old name of the type", jpeg, "image/jpg", { type: "image", data: jpeg, mimeType: "image/jpeg" }],
    ["a type with parameters", png, "image/PNG; charset=binary", { type: "image", data: png, mimeType: "image/png" }],
    [
      "a URL",
      "https://example.com/a.png",
      "image/png",
      { type: "text", text: "[image: image/png, left out: it is at https://example.com/a.png]" }
    ],
    ["a text", "not an image", "image/png", { type: "text", text: "[image: image/png, left out: it is not base64]" }],
    ["too few digits", "iVBOR", "image/png", { type: "text", text: "[image: image/png, left out: it is not base64]" }],
    [
      "a data URI of text",
      "data:image/svg+xml,%3Csvg/%3E",
      "image/png",
      { type: "text", text: "[image: image/svg+xml, left out: it is a data URI without base64]" }
    ]
  ]
  for (const [what, data, mimeType, expected] of sent) {
    it(`is an image as models read it, or why there is none, where a server sends ${what}`, () => {
      const image = ToolOutput.make({ content: [{ type: "image", data, mimeType }] })
      assert.deepStrictEqual(image.parts, [expected])
      if (!/^image\//.test(mimeType)) return
      const resource = ToolOutput.make({
        content: [{ type: "resource", resource: { uri: "file:///a", blob: data, mimeType } }]
      })
      assert.deepStrictEqual(resource.parts, [expected])
    })
  }

  it("is audio under the name that the application uses for its type", () => {
    const { parts } = ToolOutput.make(
      { content: [{ type: "audio", data: png, mimeType: "audio/x-wav" }] },
      { mediaTypes: ["audio/wave"] }
    )
    assert.deepStrictEqual(parts, [{ type: "audio", data: png, mimeType: "audio/wav" }])
  })

  it("is never empty", () => {
    assert.strictEqual(ToolOutput.make({ content: [] }).text, "The tool returned nothing.")
    const failed = ToolOutput.make({ content: [], isError: true })
    assert.strictEqual(failed.text, "The tool failed without a message.")
    assert.isTrue(failed.isError)
  })

  it("leaves out what the server intends for the user only", () => {
    const output = ToolOutput.make({
      content: [
        { type: "text", text: "for you", annotations: { audience: ["user"] } },
        { type: "text", text: "for both", annotations: { audience: ["user", "assistant"] } },
        { type: "text", text: "for all", annotations: { priority: 1 } }
      ]
    })
    assert.strictEqual(output.text, "for both\nfor all")
  })

  it("has a bound: text is cut and says so, also when the parts are many and small", () => {
    const long = ToolOutput.make({ content: [{ type: "text", text: "x".repeat(1000) }] }, { maxText: 100 })
    assert.deepStrictEqual(long.parts, [
      { type: "text", text: "x".repeat(100) },
      { type: "text", text: "[900 more characters are left out: the result of the tool is too long]" }
    ])
    const many = ToolOutput.make(
      { content: Array.from({ length: 100_000 }, () => ({ type: "text" as const, text: "x" })) },
      { maxText: 1000 }
    )
    assert.isBelow(many.parts.length, 100)
  })

  it("has whole characters only, whatever a server sends and wherever its text is cut", () => {
    const text = (text: string, maxText?: number) =>
      ToolOutput.make({ content: [{ type: "text", text }] }, { maxText }).parts[0]
    assert.deepStrictEqual(text("a\ud83d b"), { type: "text", text: "a\ufffd b" })
    assert.deepStrictEqual(text("ab😀", 3), { type: "text", text: "ab\ufffd" })
    assert.deepStrictEqual(text("ab😀", 4), { type: "text", text: "ab😀" })
  })

  it("takes time linear in its size, whatever a server sends as base64", () => {
    const before = process.cpuUsage()
    const made = [
      `${"=".repeat(1_000_000)}a`,
      `${" ".repeat(500_000)}_${" ".repeat(500_000)}`,
      `data:image/png;base64,${"%2".repeat(500_000)}`,
      `data:${";".repeat(1_000_000)}`
    ].map((data) => ToolOutput.make({ content: [{ type: "image", data, mimeType: "image/x" }] }).text)
    assert.isBelow(process.cpuUsage(before).user, 1_000_000)
    for (const text of made) assert.match(text, /^\[image: .*left out: it is (not|a data URI without) base64\]$/)
  })

  it("has a bound: an image that is too large, or of a kind that the model does not read, is named in its place", () => {
    const output = ToolOutput.make({
      content: [
        { type: "image", data: png, mimeType: "image/png" },
        { type: "image", data: png, mimeType: "image/png" },
        { type: "image", data: png, mimeType: "image/tiff" },
        { type: "audio", data: png, mimeType: "audio/wav" }
      ]
    }, { maxData: png.length })
    assert.deepStrictEqual(output.parts.map((part) => part.type === "text" ? part.text : part.type), [
      "image",
      "[image: image/png, 8 bytes, left out: it is too large]",
      "[image: image/tiff, 8 bytes, left out: the model does not read this kind]",
      "[audio: audio/wav, 8 bytes, left out: the model does not read this kind]"
    ])
    const heard = ToolOutput.make(
      { content: [{ type: "audio", data: png, mimeType: "audio/wav" }] },
      { mediaTypes: ["audio/wav"] }
    )
    assert.strictEqual(heard.parts[0]?.type, "audio")
  })

  it("is one JSON value for APIs that write it as JSON once more", () => {
    const valueOf = (text: string, structuredContent?: object) =>
      ToolOutput.value(
        ToolOutput.make({
          content: [{ type: "text", text }],
          ...(structuredContent === undefined ? undefined : { structuredContent })
        })
      )
    assert.deepStrictEqual(valueOf("{\"hits\":[\"a\"]}", { hits: ["a"] }), { hits: ["a"] })
    assert.deepStrictEqual(valueOf(" [1, 2]"), [1, 2])
    assert.strictEqual(valueOf("one hit", { hits: ["a"] }), "one hit")
    assert.strictEqual(valueOf("[not JSON]"), "[not JSON]")
    assert.strictEqual(valueOf("7"), "7")
  })

  it("has the form of each provider", () => {
    const output = ToolOutput.make({
      content: [{ type: "text", text: "one" }, { type: "image", data: png, mimeType: "image/png" }],
      isError: true
    })
    assert.deepStrictEqual(ToolOutput.anthropic(output), {
      is_error: true,
      content: [{ type: "text", text: "one" }, { type: "text", text: "[image: image/png]" }]
    })
    assert.deepStrictEqual(ToolOutput.anthropic({ ...output, isError: false }).content[1], {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png }
    })
    assert.strictEqual(ToolOutput.openai(output), "Error: one\n[image: image/png]")
    assert.deepStrictEqual(ToolOutput.gemini(output), { error: "one\n[image: image/png]" })
    assert.deepStrictEqual(ToolOutput.gemini(ToolOutput.make({ content: [] })), {
      output: "The tool returned nothing."
    })
  })
})
