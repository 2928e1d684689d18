import { keys } from "@effect-mcp/core/protocol/Meta"
import * as Stamp from "@effect-mcp/core/protocol/modern/Stamp"
import { describe, expect, it } from "vitest"

const serverInfo = { name: "test", version: "1" }

describe("modern/Stamp", () => {
  it("MUST add the type of every result", () => {
    const stamp = Stamp.make("tools/call")
    expect(stamp({ content: [] })).toEqual({ content: [], resultType: "complete" })
    expect(stamp({ resultType: "input_required", requestState: "s" })).toEqual({
      resultType: "input_required",
      requestState: "s"
    })
  })

  it("MUST add hints to complete cacheable results, and to no others", () => {
    const stamp = Stamp.make("resources/read", { hints: { ttlMs: 10, cacheScope: "public" } })
    expect(stamp({ contents: [] })).toMatchObject({ ttlMs: 10, cacheScope: "public", resultType: "complete" })
    expect(stamp({ contents: [], ttlMs: 5.5 })).toMatchObject({ ttlMs: 5, cacheScope: "public" })
    expect(stamp({ contents: [], cacheScope: "private" })).toMatchObject({ ttlMs: 10, cacheScope: "private" })
    expect(stamp({ resultType: "input_required" })).toEqual({ resultType: "input_required" })
    expect(Stamp.make("tools/list")({ tools: [] })).toEqual({
      tools: [],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private"
    })
    expect(Stamp.make("tools/call", { hints: { ttlMs: 10 } })({ content: [] })).not.toHaveProperty("ttlMs")
  })

  it("SHOULD add the server's name beside the handler's _meta", () => {
    const stamp = Stamp.make("tools/call", { serverInfo })
    expect(stamp({})).toEqual({ resultType: "complete", _meta: { [keys.serverInfo]: serverInfo } })
    expect(stamp({ _meta: { a: 1, [keys.serverInfo]: { name: "other", version: "2" } } })._meta).toEqual({
      a: 1,
      [keys.serverInfo]: serverInfo
    })
  })

  it("does not change its argument", () => {
    const result = Object.freeze({ content: [], _meta: Object.freeze({}) })
    Stamp.make("tools/call", { serverInfo })(result)
    expect(result).toEqual({ content: [], _meta: {} })
  })
})
