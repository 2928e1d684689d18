import * as Method from "@effect-mcp/protocol/Method"
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
const told = Method.notification({ name: "x/told", from: "server", params: Params })

describe("Method", () => {
  it("takes absent parameters for none", () => {
    for (const none of [undefined, null, {}]) expect(Either.getOrThrow(find.decodeParams(none))).toEqual({})
    expect(Either.isLeft(find.decodeParams({ a: 1 }))).toBe(true)
    expect(Either.isLeft(find.decodeParams([]))).toBe(true)
  })

  it("reads results", () => {
    expect([find.isResult({ b: 1 }), find.isResult({})]).toEqual([true, false])
    expect(Either.getOrThrow(find.decodeResult({ b: 1, c: 2 }))).toEqual({ b: 1, c: 2 })
  })

  it("builds nothing before it is needed", () => {
    const broken = Schema.Date as unknown as Schema.Schema<Date>
    const method = Method.notification({ name: "x", from: "client", params: broken })
    expect(() => method.decodeParams({})).toThrow("no Transformation")
  })

  it("knows its revisions", () => {
    const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const
    expect(versions.map((version) => Method.isIn(find, version))).toEqual([false, true, true, false, false])
    expect(versions.map((version) => Method.isIn(told, version))).toEqual([true, true, true, true, true])
  })

  it("knows who must have declared what", () => {
    expect([find.declaredBy, told.declaredBy]).toEqual(["receiver", "sender"])
    expect([Method.gate(find, "2025-03-26"), Method.gate(told, "2025-03-26")]).toEqual(["x", undefined])
    expect(Method.gate({ ...find, gatedSince: "2025-06-18" }, "2025-03-26")).toBeUndefined()
  })

  it("stands once in a table", () => {
    expect([...Method.table(find, told).keys()]).toEqual(["x/find", "x/told"])
    expect(() => Method.table(find, find)).toThrow("twice")
  })
})
