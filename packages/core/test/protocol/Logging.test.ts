import * as Logging from "@effect-mcp/core/protocol/Logging"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Logging", () => {
  it("orders eight levels as RFC 5424 does", () => {
    const levels = Logging.LoggingLevel.literals
    expect(levels.length).toBe(8)
    for (const [i, level] of levels.entries()) {
      expect(levels.map((other) => Logging.isAtLeast(other, level))).toEqual(levels.map((_, j) => j >= i))
    }
  })

  it("carries any data, null too, but not undefined", () => {
    const is = SchemaCheck.compile(Logging.LoggingMessage)
    for (const data of [null, "", 0, [], {}]) expect(is({ level: "info", data })).toBe(true)
    expect(is({ level: "info" })).toBe(false)
    expect(is({ level: "warn", data: 1 })).toBe(false)
    expect(is({ level: "info", logger: 1, data: 1 })).toBe(false)
  })

  it("SHOULD refuse an unknown level", () => {
    const is = SchemaCheck.compile(Logging.SetLevelParams)
    expect(["debug", "emergency", "Info", "trace", 3, null].map((level) => is({ level }))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false
    ])
  })
})
