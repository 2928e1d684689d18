import * as Implementation from "@effect-mcp/core/protocol/Implementation"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Mend from "../../src/protocol/schema/Mend.js"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

describe("Implementation", () => {
  it("needs a name and a version", () => {
    const is = SchemaCheck.compile(Implementation.Implementation)
    expect([is({ name: "x", version: "1" }), is(Canonical.implementation)]).toEqual([true, true])
    expect([is({ name: "x" }), is({ name: "x", version: 1 }), is({ version: "1" })]).toEqual([false, false, false])
  })

  it("sends each revision the fields that it knows", () => {
    const narrow = (version: "2024-11-05" | "2025-06-18" | "2025-11-25") =>
      Projection.compile(Implementation.Implementation, version)(Canonical.implementation as never)
    expect(narrow("2024-11-05")).toEqual({ name: "search", version: "1.0.0" })
    expect(narrow("2025-06-18")).toEqual({ name: "search", title: "Search", version: "1.0.0" })
    expect(narrow("2025-11-25")).toBe(Canonical.implementation)
  })

  it("has icons for the dark and the light theme", () => {
    const is = SchemaCheck.compile(Implementation.Icon)
    expect([is({ src: "data:," }), is({ src: "data:,", theme: "dark" })]).toEqual([true, true])
    expect([is({ src: "data:,", theme: "grey" }), is({ src: "data:,", sizes: "48x48" }), is({})]).toEqual([
      false,
      false,
      false
    ])
  })

  it("has no icons and no website that could run a program, where a client reads it", () => {
    const decode = Mend.decoder(Implementation.Implementation, "client")
    const safe = ["https://a/b", "HTTP://a", "data:image/png;base64,AAAA", "a.png", "//a/b", ""]
    const unsafe = [
      "javascript:alert(1)",
      "JAVASCRIPT:x",
      "\tjava\nscript:x",
      "vbscript:x",
      "file:///x",
      "blob:x",
      "x-app:y"
    ]
    for (const src of safe) expect(Implementation.isUnsafe(src), src).toBe(false)
    for (const src of unsafe) {
      const given = { name: "s", version: "1", icons: [{ src }, { src: "https://a" }], websiteUrl: src }
      expect(decode(given)).toEqual(Either.right({ name: "s", version: "1", icons: [{ src: "https://a" }] }))
      expect(Either.isRight(Mend.decoder(Implementation.ClientImplementation, "server")(given))).toBe(true)
    }
  })
})
