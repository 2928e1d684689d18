import * as Version from "@effect-mcp/core/protocol/Version"
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

  it("compares revisions as dates", () => {
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
  )("requested %j, a server that supports %j answers %s", (requested, supported, answer) => {
    expect(Version.negotiate(requested, supported)).toBe(answer)
  })

  it("a client disconnects when it does not support the answered version", () => {
    expect(Version.agreed("2024-10-07")).toEqual(Option.some("2024-11-05"))
    expect(Version.negotiate("2024-10-07")).toBe("2024-11-05")
    expect(Version.negotiate("2024-10-07", ["2025-03-26"])).toBe("2025-03-26")
    expect(Version.agreed("2025-03-26")).toEqual(Option.some("2025-03-26"))
    expect(Version.agreed("2025-03-26", ["2025-11-25"])).toEqual(Option.none())
    expect(Version.agreed("2026-07-28")).toEqual(Option.none())
    expect(Version.agreed("toString")).toEqual(Option.none())
  })
})

describe("what differs between revisions", () => {
  const holds = (predicate: (version: string) => boolean) => Version.all.filter(predicate)

  it("only 2025-03-26 has batches", () => {
    expect(holds(Version.hasBatches)).toEqual(["2025-03-26"])
    expect(Version.hasBatches(undefined)).toBe(false)
  })

  it("clients from 2025-11-25 on understand a priming event", () => {
    expect(holds(Version.primesStreams)).toEqual(["2025-11-25", "2026-07-28"])
    expect(Version.primesStreams(undefined)).toBe(false)
  })

  it("an HTTP request without a version header is one of 2025-03-26", () => {
    expect(Version.withoutHeader).toBe("2025-03-26")
  })
})
