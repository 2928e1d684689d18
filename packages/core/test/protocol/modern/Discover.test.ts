import * as Discover from "@effect-mcp/core/protocol/modern/Discover"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "../Canonical.js"

const [, result] = Canonical.modern["server/discover"]!

describe("modern/Discover", () => {
  it("MUST name the server's revisions and capabilities", () => {
    const is = SchemaCheck.compile(Discover.DiscoverResult)
    expect(is(result)).toBe(true)
    expect(is({ supportedVersions: [], capabilities: {} })).toBe(true)
    expect([{ supportedVersions: [] }, { capabilities: {} }, { supportedVersions: [1], capabilities: {} }].map(is))
      .toEqual([false, false, false])
    expect(is({ ...result, instructions: null })).toBe(false)
  })
})
