import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as TaskMethods from "@effect-mcp/core/protocol/legacy/TaskMethods"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"

describe("legacy/TaskMethods", () => {
  it("are in the table, at 2025-11-25 only", () => {
    for (const method of Object.values(TaskMethods)) {
      expect(Methods.table.get(method.name)).toBe(method)
      expect([Method.isIn(method, "2025-06-18"), Method.isIn(method, "2025-11-25"), Method.isIn(method, "2026-07-28")])
        .toEqual([false, true, false])
    }
  })

  it("name one task, and accept any result", () => {
    expect(Either.isLeft(TaskMethods.getTask.decodeParams({}))).toBe(true)
    expect(Either.isRight(TaskMethods.getTask.decodeParams({ taskId: "" }))).toBe(true)
    expect(Either.isRight(TaskMethods.getTaskPayload.decodeResult({ content: [] }))).toBe(true)
  })
})
