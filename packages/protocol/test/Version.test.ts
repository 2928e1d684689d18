import * as Version from "@effect-mcp/protocol/Version"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"

describe("Version", () => {
  it("knows five revisions, oldest first", () => {
    expect(Version.all).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    expect([...Version.all].sort()).toEqual(Version.all)
    expect(Version.Version.literals).toEqual(Version.all)
    expect([Version.latestLegacy, Version.latestModern]).toEqual([Version.legacy.at(-1), Version.modern.at(-1)])
  })

  it.each([
    ["2024-11-05", true, false],
    ["2025-11-25", true, false],
    ["2026-07-28", false, true],
    ["2027-01-01", false, false],
    ["", false, false]
  ])("%j is legacy: %s, modern: %s", (version, legacy, modern) => {
    expect([Version.isLegacy(version), Version.isModern(version)]).toEqual([legacy, modern])
  })

  it("compares as dates do", () => {
    expect(Version.isAtLeast("2025-06-18", "2025-06-18")).toBe(true)
    expect(Version.isAtLeast("2025-03-26", "2025-06-18")).toBe(false)
    expect(Version.isAtLeast("2027-01-01", "2026-07-28")).toBe(true)
  })
})

describe("negotiation at initialize", () => {
  it.each(
    [
      ["2024-11-05", undefined, "2024-11-05"],
      ["2025-11-25", undefined, "2025-11-25"],
      ["1999-01-01", undefined, "2025-11-25"],
      ["2026-07-28", undefined, "2025-11-25"],
      ["", undefined, "2025-11-25"],
      ["2025-11-25", ["2024-11-05", "2025-03-26"], "2025-03-26"],
      ["2024-11-05", ["2025-06-18", "2025-03-26"], "2025-06-18"]
    ] as const
  )("a server asked for %j that speaks %j answers %s", (asked, spoken, answer) => {
    expect(Version.negotiate(asked, spoken)).toBe(answer)
  })

  it("a client hangs up at a version that it does not speak", () => {
    expect(Version.agreed("2025-03-26")).toEqual(Option.some("2025-03-26"))
    expect(Version.agreed("2025-03-26", ["2025-11-25"])).toEqual(Option.none())
    expect(Version.agreed("2026-07-28")).toEqual(Option.none())
    expect(Version.agreed("toString")).toEqual(Option.none())
  })
})

describe("negotiation per request", () => {
  it("a client picks the latest version that both speak", () => {
    expect(Version.latestCommon(["2025-11-25", "2026-07-28", "2030-01-01"])).toEqual(Option.some("2026-07-28"))
    expect(Version.latestCommon(["2025-11-25", "2024-11-05"])).toEqual(Option.some("2025-11-25"))
    expect(Version.latestCommon(["2025-11-25"], Version.modern)).toEqual(Option.none())
    expect(Version.latestCommon([])).toEqual(Option.none())
  })

  it("does not change the lists it is given", () => {
    const spoken = ["2026-07-28", "2024-11-05"] as const
    Version.latestCommon(["2024-11-05"], spoken)
    expect(spoken).toEqual(["2026-07-28", "2024-11-05"])
  })
})
