import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as TextFormats from "../../../src/protocol/schema/TextFormats.js"
import * as MessageParts from "../MessageParts.js"

describe("TextFormats", () => {
  it("does not check the format", () => {
    for (const schema of [TextFormats.Uri, TextFormats.UriTemplate, TextFormats.Base64]) {
      const is = SchemaCheck.compile(schema)
      expect(["", "not a form", "a:b"].map(is)).toEqual([true, true, true])
      expect(is(1)).toBe(false)
    }
  })

  it("generates test data in the format", () => {
    for (const uri of MessageParts.samples(TextFormats.Uri, 50)) expect(() => new URL(String(uri))).not.toThrow()
    for (const template of MessageParts.samples(TextFormats.UriTemplate, 50)) expect(template).toMatch(/\{id\}/)
    for (const data of MessageParts.samples(TextFormats.Base64, 50)) expect(data).toMatch(/^[A-Za-z0-9+/]*={0,2}$/)
  })
})
