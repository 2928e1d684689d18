import type * as Method from "@effect-mcp/core/protocol/Method"
import * as InputRequired from "@effect-mcp/core/protocol/modern/InputRequired"
import * as Methods from "@effect-mcp/core/protocol/modern/Methods"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Projection from "../../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "../Canonical.js"
import * as Official from "../Official.js"

const isResult = SchemaCheck.compile(InputRequired.InputRequiredResult)
const official = Official.judge("2026-07-28", "InputRequiredResult", { closed: true })
const full = { resultType: "input_required", inputRequests: Canonical.inputRequests, requestState: "s" } as const

describe("modern/InputRequired", () => {
  it("MUST have input requests or a state", () => {
    expect(isResult(full)).toBe(true)
    expect(isResult({ resultType: "input_required", requestState: "" })).toBe(true)
    expect(isResult({ resultType: "input_required", inputRequests: {} })).toBe(true)
    expect(isResult({ resultType: "input_required" })).toBe(false)
    expect(isResult({ ...full, resultType: "complete" })).toBe(false)
    expect(isResult({ requestState: "s" })).toBe(false)
  })

  it.each([
    [{ method: "tools/call", params: { name: "x" } }],
    [{ method: "elicitation/create" }],
    [{ method: "elicitation/create", params: { message: "m" } }],
    [{ method: "sampling/createMessage", params: { messages: [] } }],
    [{ params: {} }],
    [null]
  ])("MUST NOT contain the input request %j", (question) => {
    expect(isResult({ ...full, inputRequests: { a: question } })).toBe(false)
  })

  it("may ask for roots without parameters", () => {
    expect(isResult({ ...full, inputRequests: { a: { method: "roots/list" } } })).toBe(true)
  })

  it("is sent without the fields that ended with the legacy era", () => {
    const narrowed = Projection.compile(InputRequired.InputRequiredResult, "2026-07-28")(full as never)
    expect(official(narrowed)).toBeUndefined()
    expect(JSON.stringify(narrowed)).not.toContain("\"execution\"")
    expect(official(full)).toBeDefined()
  })

  it("MUST NOT answer any but three methods", () => {
    const asking = [...Methods.table.keys()].filter((method) => InputRequired.methods.has(method))
    expect(asking).toEqual(["tools/call", "resources/read", "prompts/get"])
    for (const name of asking) {
      const method: Method.Method = Methods.table.get(name)!
      const [params] = Canonical.modern[name]!
      expect(Either.isRight(method.decodeParams({ ...params, inputResponses: Canonical.inputResponses }))).toBe(true)
      expect(Either.isLeft(method.decodeParams({ ...params, inputResponses: { a: { any: 1 } } }))).toBe(true)
      expect(Either.isLeft(method.decodeParams({ ...params, requestState: 1 }))).toBe(true)
    }
  })

  it("knows each input request, its capability and its response", () => {
    for (const [key, inputRequest] of Object.entries(Canonical.inputRequests)) {
      const kind = InputRequired.inputMethods.get(inputRequest.method)!
      expect(Either.isRight(kind.decodeParams(inputRequest.params))).toBe(true)
      const answer = Canonical.inputResponses[key as keyof typeof Canonical.inputResponses]
      expect(kind.kind === "request" && kind.isResult(answer)).toBe(true)
    }
    expect([...InputRequired.inputMethods.values()].map(({ capability }) => capability))
      .toEqual(["elicitation", "sampling", "roots"])
  })

  it("replaces the legacy error with URLs", () => {
    const result = InputRequired.ofUrlElicitations([
      { message: "Open", url: "https://a.b", elicitationId: "e" } as never
    ])
    expect(result).toEqual({
      resultType: "input_required",
      inputRequests: {
        "url-0": { method: "elicitation/create", params: { mode: "url", message: "Open", url: "https://a.b" } }
      }
    })
    expect(official(result)).toBeUndefined()
  })
})
