import * as Initialize from "@effect-mcp/core/protocol/legacy/Initialize"
import { describe, expect, it } from "vitest"
import * as Projection from "../../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "../Canonical.js"

const [params, result] = Canonical.legacy.initialize!

describe("legacy/Initialize", () => {
  it("needs a version, capabilities and client info", () => {
    const is = SchemaCheck.compile(Initialize.InitializeParams)
    expect(is(params)).toBe(true)
    expect(is({ ...params, protocolVersion: "1999-01-01" })).toBe(true)
    for (const key of ["protocolVersion", "capabilities", "clientInfo"]) {
      expect(is({ ...params, [key]: undefined })).toBe(false)
      expect(is({ ...params, [key]: null })).toBe(false)
    }
  })

  it("is answered with the same members of the server", () => {
    const is = SchemaCheck.compile(Initialize.InitializeResult)
    expect(is(result)).toBe(true)
    for (const key of ["protocolVersion", "capabilities", "serverInfo"]) {
      expect(is({ ...result, [key]: null })).toBe(false)
    }
    expect(is({ ...result, instructions: 1 })).toBe(false)
  })

  it("sends an old peer only what it knows", () => {
    expect(Projection.compile(Initialize.InitializeResult, "2024-11-05")(result as never)).toEqual({
      ...result,
      capabilities: expect.not.objectContaining({ completions: {} }),
      serverInfo: { name: "search", version: "1.0.0" }
    })
  })
})
