import { describe, expect, it } from "vitest"
import type { ContentBlock } from "../../../src/protocol/Content.js"
import * as ContentRules from "../../../src/protocol/rules/ContentRules.js"

describe("ContentRules", () => {
  it.each(["", "AAAA", "AAA=", "AA==", "a+/Z"])("takes %j for base64", (text) => {
    expect(ContentRules.isBase64(text)).toBe(true)
  })

  it.each(["A", "AA", "AAA", "A===", "AA=A", "a-_Z", "AA A", "data:image/png;base64,AAAA", "AAA\n"])(
    "does not take %j for base64",
    (text) => {
      expect(ContentRules.isBase64(text)).toBe(false)
    }
  )

  it("reads a long text once", () => {
    expect(ContentRules.isBase64("A".repeat(8_000_000))).toBe(true)
    expect(ContentRules.isBase64(`${"A".repeat(7_999_999)}-`)).toBe(false)
  })

  it.each([
    ["image/png", true],
    ["application/vnd.example+json; charset=utf-8", true],
    ["text/plain;charset=utf-8", true],
    ["png", false],
    ["image/", false],
    ["image / png", false],
    ["", false]
  ])("takes %j for a media type: %s", (type, valid) => {
    expect(ContentRules.isMediaType(type)).toBe(valid)
  })

  const blob = (blob: string, mimeType?: string): ContentBlock => ({
    type: "resource",
    resource: { uri: "file:///a", blob, ...(mimeType === undefined ? undefined : { mimeType }) }
  })

  it.each<[ContentBlock, string | undefined]>([
    [{ type: "text", text: "no base64" }, undefined],
    [{ type: "image", data: "AAAA", mimeType: "image/png" }, undefined],
    [{ type: "image", data: "secret!", mimeType: "image/png" }, "the data of the image is not base64"],
    [{ type: "audio", data: "secret!", mimeType: "audio/wav" }, "the data of the audio is not base64"],
    [
      { type: "audio", data: "", mimeType: "wav" },
      `the media type is not a type and a subtype, such as "image/png"`
    ],
    [blob("AAAA", "image/png"), undefined],
    [blob("AAAA"), undefined],
    [blob("secret!"), "the blob of the resource is not base64"],
    [blob("AAAA", "png"), `the media type is not a type and a subtype, such as "image/png"`],
    [{ type: "resource", resource: { uri: "file:///a", text: "any" } }, undefined]
  ])("says of %j: %s", (block, problem) => {
    expect(ContentRules.problem(block)).toBe(problem)
  })
})
