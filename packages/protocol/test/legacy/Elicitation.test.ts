import { describe, expect, it } from "vitest"
import * as Guard from "../../src/Guard.js"
import * as Elicitation from "../../src/legacy/Elicitation.js"
import * as Narrow from "../../src/legacy/Narrow.js"
import * as Canonical from "../Canonical.js"
import * as Official from "../Official.js"

const { elicitationId: _, ...withoutId } = Canonical.elicitUrl

describe("legacy/Elicitation", () => {
  it("MUST have an id for a page, and none for a form", () => {
    const is = Guard.compile(Elicitation.ElicitParams)
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

  it("says that a page is done", () => {
    const is = Guard.compile(Elicitation.ElicitationComplete)
    expect([{ elicitationId: "e" }, {}, { elicitationId: null }].map(is)).toEqual([true, false, false])
  })

  it("is told as it is at 2025-11-25", () => {
    expect(Narrow.compile(Elicitation.ElicitParams, "2025-11-25")(Canonical.elicitUrl as never)).toBe(
      Canonical.elicitUrl
    )
  })
})
