import * as ResultType from "@effect-mcp/protocol/modern/ResultType"
import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"

describe("modern/ResultType", () => {
  it.each<[result: object, kind: string | undefined]>([
    [{}, "complete"],
    [{ resultType: undefined }, "complete"],
    [{ resultType: "complete" }, "complete"],
    [{ resultType: "input_required" }, "input_required"],
    [{ resultType: "task" }, undefined],
    [{ resultType: "Complete" }, undefined],
    [{ resultType: "" }, undefined],
    [{ resultType: null }, undefined],
    [{ resultType: 1 }, undefined]
  ])("of %j is %s", (result, kind) => {
    expect(Option.getOrUndefined(ResultType.of(result))).toBe(kind)
  })

  it("MUST be of the core, or of an extension that both sides declared", () => {
    expect(ResultType.of({ resultType: "task" }, new Set(["task"]))).toEqual(Option.some("task"))
    expect(ResultType.of({ resultType: "other" }, new Set(["task"]))).toEqual(Option.none())
  })
})
