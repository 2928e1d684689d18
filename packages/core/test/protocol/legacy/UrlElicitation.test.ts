import * as UrlElicitation from "@effect-mcp/core/protocol/legacy/UrlElicitation"
import { describe, expect, it } from "vitest"
import * as Projection from "../../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "../Canonical.js"
import * as Official from "../Official.js"

const { elicitationId: _, ...withoutId } = Canonical.elicitUrl

describe("legacy/UrlElicitation", () => {
  it("MUST have an id for a URL, and none for a form", () => {
    const is = SchemaCheck.compile(UrlElicitation.ElicitParams)
    expect([is(Canonical.elicitUrl), is(withoutId), is({ ...withoutId, elicitationId: 1 })]).toEqual([
      true,
      false,
      false
    ])
    expect(is({ message: "m", requestedSchema: { type: "object", properties: {} } })).toBe(true)
    expect(Official.judge("2025-11-25", "ElicitRequestURLParams", { closed: true })(Canonical.elicitUrl))
      .toBeUndefined()
    expect(Official.judge("2025-11-25", "ElicitRequestURLParams")(withoutId)).toBeDefined()
  })

  it("notifies that a URL elicitation is done", () => {
    const is = SchemaCheck.compile(UrlElicitation.ElicitationComplete)
    expect([{ elicitationId: "e" }, {}, { elicitationId: null }].map(is)).toEqual([true, false, false])
  })

  it("is sent unchanged at 2025-11-25", () => {
    expect(Projection.compile(UrlElicitation.ElicitParams, "2025-11-25")(Canonical.elicitUrl as never)).toBe(
      Canonical.elicitUrl
    )
  })
})
