import * as Caching from "@effect-mcp/protocol/modern/Caching"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import * as Official from "../Official.js"

describe("modern/Caching", () => {
  it("is for the methods whose results the official schema gives hints", () => {
    for (const { kind, name } of Methods.table.values()) {
      if (kind !== "request") continue
      const { properties } = Official.definitions("2026-07-28")[Official.resultOf("2026-07-28", name)]!
      expect(Caching.isCacheable(name), name).toBe("ttlMs" in (properties as object))
    }
    expect(Caching.isCacheable("toString")).toBe(false)
  })

  it.each<[said: Parameters<typeof Caching.of>[0], understood: Caching.CacheHints]>([
    [{}, { ttlMs: 0, cacheScope: "private" }],
    [{ ttlMs: 5 }, { ttlMs: 5, cacheScope: "private" }],
    [{ ttlMs: -5, cacheScope: "public" }, { ttlMs: 0, cacheScope: "public" }],
    [{ ttlMs: 1.9 }, { ttlMs: 1, cacheScope: "private" }],
    [{ ttlMs: NaN }, { ttlMs: 0, cacheScope: "private" }],
    [{ ttlMs: 1e300 }, { ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: "private" }]
  ])("SHOULD understand %j as %j", (said, understood) => expect(Caching.of(said)).toEqual(understood))

  it("SHOULD be fresh for its time, and not longer", () => {
    const hints = { ttlMs: 10, cacheScope: "public" } as const
    expect([1000, 1009, 1010, 2000].map((now) => Caching.isFresh(hints, 1000, now))).toEqual([true, true, false, false])
    expect(Caching.isFresh(Caching.unkept, 1000, 1000)).toBe(false)
  })

  it("MUST NOT serve one result for another", () => {
    const key = (method: string, params: object) => Option.getOrUndefined(Caching.key(method, params as {}))
    const keys = [
      key("tools/list", {}),
      key("tools/list", { cursor: "" }),
      key("tools/list", { cursor: "a" }),
      key("prompts/list", { cursor: "a" }),
      key("resources/read", { uri: "a" }),
      key("resources/read", { uri: "b" }),
      key("server/discover", {})
    ]
    expect(keys).not.toContain(undefined)
    expect(new Set(keys).size).toBe(keys.length)
    expect(key("tools/list", { cursor: "a", _meta: { x: 1 } })).toBe(key("tools/list", { cursor: "a" }))
  })

  it("MUST NOT keep what answers questions, nor what may not be kept", () => {
    expect(Caching.key("resources/read", { uri: "a", inputResponses: {} })).toEqual(Option.none())
    expect(Caching.key("resources/read", { uri: "a", requestState: "" })).toEqual(Option.none())
    expect(Caching.key("tools/call", { name: "a" })).toEqual(Option.none())
  })
})
