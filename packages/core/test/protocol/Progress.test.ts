import * as Progress from "@effect-mcp/core/protocol/Progress"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"

describe("Progress", () => {
  it("MAY be a fraction, and needs a token", () => {
    const is = SchemaCheck.compile(Progress.ProgressParams)
    expect([{ progressToken: 0, progress: 0.5, total: 1.5 }, { progressToken: "", progress: -1 }].map(is))
      .toEqual([true, true])
    expect([{ progress: 1 }, { progressToken: 1 }, { progressToken: 1, progress: "1" }].map(is))
      .toEqual([false, false, false])
    expect(is({ progressToken: 1, progress: Infinity })).toBe(false)
  })

  it("is cancelled by an id, which is optional at 2025-11-25", () => {
    const is = SchemaCheck.compile(Progress.CancelledParams)
    expect([{ requestId: 0 }, { requestId: "" }, {}, { requestId: 1, reason: "late" }].map(is))
      .toEqual([true, true, true, true])
    expect([{ requestId: null }, { requestId: true }, { requestId: 1, reason: 1 }].map(is)).toEqual([
      false,
      false,
      false
    ])
  })
})
