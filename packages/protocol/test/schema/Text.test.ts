import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/schema/SchemaCheck.js"
import * as Text from "../../src/schema/Text.js"
import * as Sayings from "../Sayings.js"

describe("Text", () => {
  it("does not look at the form of a text", () => {
    for (const schema of [Text.Uri, Text.UriTemplate, Text.Base64]) {
      const is = SchemaCheck.compile(schema)
      expect(["", "not a form", "a:b"].map(is)).toEqual([true, true, true])
      expect(is(1)).toBe(false)
    }
  })

  it("gives test data of the form", () => {
    for (const uri of Sayings.samples(Text.Uri, 50)) expect(() => new URL(String(uri))).not.toThrow()
    for (const template of Sayings.samples(Text.UriTemplate, 50)) expect(template).toMatch(/\{id\}/)
    for (const data of Sayings.samples(Text.Base64, 50)) expect(data).toMatch(/^[A-Za-z0-9+/]*={0,2}$/)
  })
})
