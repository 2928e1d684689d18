import * as ResultType from "@effect-mcp/core/protocol/modern/ResultType"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

describe("modern/ResultType", () => {
  it.each<[result: object, isComplete: boolean]>([
    [{}, true],
    [{ resultType: undefined }, true],
    [{ resultType: "complete" }, true],
    [{ resultType: "input_required" }, false],
    [{ resultType: "Complete" }, false],
    [{ resultType: "" }, false],
    [{ resultType: null }, false],
    [{ resultType: 1 }, false]
  ])("of %j is that of a complete result: %s", (result, isComplete) => {
    expect(Schema.is(Schema.Struct(ResultType.complete))(result)).toBe(isComplete)
  })
})
