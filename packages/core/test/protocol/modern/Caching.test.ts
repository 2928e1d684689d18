import * as Caching from "@effect-mcp/core/protocol/modern/Caching"
import * as Methods from "@effect-mcp/core/protocol/modern/Methods"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import * as Official from "../Official.js"

describe("modern/Caching", () => {
  it("concerns the methods whose results have hints in the official schema", () => {
    for (const { kind, name } of Methods.table.values()) {
      if (kind !== "request") continue
      const { properties } = Official.definitions("2026-07-28")[Official.resultOf("2026-07-28", name)]!
      expect(Caching.isCacheable(name), name).toBe("ttlMs" in (properties as object))
    }
    expect(Caching.isCacheable("toString")).toBe(false)
  })

  it.each<[hints: Parameters<typeof Caching.of>[0], expected: Caching.CacheHints]>([
    [{}, { ttlMs: 0, cacheScope: "private" }],
    [{ ttlMs: 5 }, { ttlMs: 5, cacheScope: "private" }],
    [{ ttlMs: -5, cacheScope: "public" }, { ttlMs: 0, cacheScope: "public" }],
    [{ ttlMs: 1.9 }, { ttlMs: 1, cacheScope: "private" }],
    [{ ttlMs: NaN }, { ttlMs: 0, cacheScope: "private" }],
    [{ ttlMs: 1e300 }, { ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: "private" }]
  ])("SHOULD read %j as %j", (hints, expected) => expect(Caching.of(hints)).toEqual(expected))

  it("MUST NOT use one key for two results", () => {
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

  it("MUST NOT have a key for input responses or other methods", () => {
    expect(Caching.key("resources/read", { uri: "a", inputResponses: {} })).toEqual(Option.none())
    expect(Caching.key("resources/read", { uri: "a", requestState: "" })).toEqual(Option.none())
    expect(Caching.key("tools/call", { name: "a" })).toEqual(Option.none())
  })
})
