import * as Tasks from "@effect-mcp/core/protocol/Tasks"
import { describe, expect, it } from "vitest"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

describe("Tasks", () => {
  it("have a time to live, or live for ever", () => {
    const is = SchemaCheck.compile(Tasks.Task)
    expect([is(Canonical.task), is({ ...Canonical.task, ttl: null })]).toEqual([true, true])
    const { ttl: _, ...withoutTtl } = Canonical.task
    expect([withoutTtl, { ...Canonical.task, status: "done" }, { ...Canonical.task, ttl: 1.5 }].map(is))
      .toEqual([false, false, false])
  })

  it("have ended in a terminal status", () => {
    expect(Tasks.TaskStatus.literals.filter(Tasks.isTerminal)).toEqual(["completed", "failed", "cancelled"])
  })

  it("are requested, created, named and listed", () => {
    expect(SchemaCheck.compile(Tasks.TaskMetadata)({})).toBe(true)
    expect(SchemaCheck.compile(Tasks.CreateTaskResult)({ task: Canonical.task })).toBe(true)
    expect(SchemaCheck.compile(Tasks.CreateTaskResult)(Canonical.task)).toBe(false)
    expect(SchemaCheck.compile(Tasks.RelatedTask)({ taskId: "t" })).toBe(true)
    expect(SchemaCheck.compile(Tasks.ListTasksResult)({ tasks: [Canonical.task] })).toBe(true)
    expect(SchemaCheck.compile(Tasks.TaskPayload)({ whatever: 1 })).toBe(true)
    expect(SchemaCheck.compile(Tasks.TaskPayload)({ _meta: 1 })).toBe(false)
  })
})
