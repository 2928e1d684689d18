import { describe, expect, it } from "vitest"
import * as Guard from "../../src/Guard.js"
import * as Discover from "../../src/modern/Discover.js"
import * as Canonical from "../Canonical.js"

const [, result] = Canonical.modern["server/discover"]!

describe("modern/Discover", () => {
  it("MUST say which revisions are spoken, and what the server can do", () => {
    const is = Guard.compile(Discover.DiscoverResult)
    expect(is(result)).toBe(true)
    expect(is({ supportedVersions: [], capabilities: {} })).toBe(true)
    expect([{ supportedVersions: [] }, { capabilities: {} }, { supportedVersions: [1], capabilities: {} }].map(is))
      .toEqual([false, false, false])
    expect(is({ ...result, instructions: null })).toBe(false)
  })
})
