import * as Issue from "@effect-mcp/core/protocol/Issue"
import { keys } from "@effect-mcp/core/protocol/Meta"
import type * as Method from "@effect-mcp/core/protocol/Method"
import * as Methods from "@effect-mcp/core/protocol/modern/Methods"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Canonical from "../Canonical.js"

const all: ReadonlyArray<Method.Method> = [...Methods.table.values()]
const requests = all.filter((method) => method.kind === "request")

describe("modern/Methods", () => {
  it("decode their own messages", () => {
    for (const method of all) {
      const [params, result] = Canonical.modern[method.name]!
      expect(Either.getOrThrow(method.decodeParams(params)), method.name).toBe(params)
      if (method.kind === "request") expect(Either.getOrThrow(method.decodeResult(result)), method.name).toBe(result)
    }
  })

  it("MUST refuse a request without its envelope, and name the missing key", () => {
    for (const method of requests) {
      const { _meta, ...params } = Canonical.modern[method.name]![0] as { readonly _meta: object }
      for (const key of [keys.protocolVersion, keys.clientCapabilities]) {
        const { [key]: _, ...rest } = _meta as Record<string, unknown>
        const refused = Either.getOrThrow(Either.flip(method.decodeParams({ ...params, _meta: rest })))
        expect(Issue.places(refused.issue)).toEqual([{ path: `_meta.${key}`, message: "is missing" }])
      }
      const bare = Either.getOrThrow(Either.flip(method.decodeParams(params)))
      expect(Issue.places(bare.issue)).toContainEqual({ path: "_meta", message: "is missing" })
    }
  })

  it("accept a client that does not name itself", () => {
    const { _meta } = Canonical.modern["tools/list"]![0] as { readonly _meta: Record<string, unknown> }
    const { [keys.clientInfo]: _, ...rest } = _meta
    expect(Either.isRight(Methods.listTools.decodeParams({ _meta: rest }))).toBe(true)
  })

  it("accept results of older servers, without type and hints", () => {
    expect(Either.isRight(Methods.listTools.decodeResult({ tools: [] }))).toBe(true)
    expect(Either.isRight(Methods.listTools.decodeResult({ tools: [], resultType: "complete", ttlMs: -1 }))).toBe(true)
  })

  it("refuse input_required and unknown types as results", () => {
    for (const method of requests) {
      const [, result] = Canonical.modern[method.name]!
      for (const resultType of ["input_required", "task", "", null]) {
        expect(method.isResult({ ...result, resultType }), `${method.name} ${resultType}`).toBe(false)
      }
    }
  })

  it("send no field that ended with the legacy era", () => {
    const [, tools] = Canonical.modern["tools/list"]!
    const { execution: _, ...tool } = Canonical.tool
    expect(Methods.listTools.narrowResult("2026-07-28")(tools as never)).toEqual({ ...tools, tools: [tool] })
    const [params] = Canonical.modern["server/discover"]!
    const narrowed = JSON.stringify(Methods.discover.narrowParams("2026-07-28")(params as never))
    expect(narrowed).not.toContain("tasks")
    expect(narrowed).not.toContain("listChanged")
  })

  it("send an unchanged value as the same object", () => {
    const result = { tools: [] }
    expect(Methods.listTools.narrowResult("2026-07-28")(result)).toBe(result)
  })

  it("ignore the member task", () => {
    const [params] = Canonical.modern["tools/call"]!
    expect(Either.isRight(Methods.callTool.decodeParams({ ...params, task: "soon" }))).toBe(true)
  })

  it("cancel a request by its id", () => {
    expect(Either.isLeft(Methods.cancelled.decodeParams({ reason: "late" }))).toBe(true)
    expect(Either.isRight(Methods.cancelled.decodeParams({ requestId: 0 }))).toBe(true)
  })
})
