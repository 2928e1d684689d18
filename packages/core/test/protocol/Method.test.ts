import { callTool, progress } from "@effect-mcp/core/protocol/legacy/Methods"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

const Params = Schema.Struct({ a: Schema.optional(Schema.String) })
const find = Method.request({
  name: "x/find",
  from: "client",
  params: Params,
  result: Schema.Struct({ b: Schema.Number }),
  capability: "x",
  since: "2025-03-26",
  until: "2025-06-18"
})
const changed = Method.notification({ name: "x/changed", from: "server", params: Params })

describe("Method", () => {
  it("accepts absent parameters", () => {
    for (const none of [undefined, null, {}]) expect(Either.getOrThrow(find.decodeParams(none))).toEqual({})
    expect(Either.isLeft(find.decodeParams({ a: 1 }))).toBe(true)
    expect(Either.isLeft(find.decodeParams([]))).toBe(true)
  })

  it("decodes results", () => {
    expect([find.isResult({ b: 1 }), find.isResult({})]).toEqual([true, false])
    expect(Either.getOrThrow(find.decodeResult({ b: 1, c: 2 }))).toEqual({ b: 1, c: 2 })
  })

  it("narrows its parameters and results, with one function for each revision", () => {
    for (const version of ["2024-11-05", "2025-11-25"] as const) {
      expect(callTool.narrowParams(version)).toBe(callTool.narrowParams(version))
      expect(callTool.narrowResult(version)).toBe(callTool.narrowResult(version))
    }
    const result = { content: [], structuredContent: {} }
    expect(callTool.narrowResult("2025-03-26")(result)).toEqual({ content: [] })
    expect(callTool.narrowResult("2025-06-18")(result)).toBe(result)
    const wish = { name: "x", task: { ttl: 1 } }
    expect(callTool.narrowParams("2025-06-18")(wish)).toEqual({ name: "x" })
    expect(callTool.narrowParams("2025-11-25")(wish)).toBe(wish)
    const message = { progressToken: 1, progress: 1, message: "half" }
    expect(progress.narrowParams("2024-11-05")(message)).toEqual({ progressToken: 1, progress: 1 })
  })

  it("builds nothing before it is needed", () => {
    const broken = Schema.Date as unknown as Schema.Schema<Date>
    const method = Method.notification({ name: "x", from: "client", params: broken })
    expect(() => method.decodeParams({})).toThrow("must not contain Transformation")
  })

  it("knows its revisions", () => {
    const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const
    expect(versions.map((version) => Method.isIn(find, version))).toEqual([false, true, true, false, false])
    expect(versions.map((version) => Method.isIn(changed, version))).toEqual([true, true, true, true, true])
  })

  it("knows its capability, and which side declares it", () => {
    expect([find.declaredBy, changed.declaredBy]).toEqual(["receiver", "sender"])
    expect([find.capability, changed.capability]).toEqual(["x", undefined])
    expect([find.gatedSince, changed.gatedSince]).toEqual(["2025-03-26", "2024-11-05"])
  })

  it("is in a table once", () => {
    expect([...Method.table(find, changed).keys()]).toEqual(["x/find", "x/changed"])
    expect(() => Method.table(changed, find, find)).toThrow(
      "A table has two methods of the same name, \"x/find\": list each method once"
    )
  })
})
