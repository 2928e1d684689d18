import { assert, describe, it } from "@effect/vitest"
import * as TasksExtension from "@effect-mcp/core/protocol/modern/TasksExtension"
import { Either, Schema } from "effect"

const task = {
  taskId: "t",
  status: "working",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:00Z",
  ttlMs: null
}

const isTask = (u: unknown) => Either.isRight(Schema.decodeUnknownEither(TasksExtension.DetailedTask)(u))

describe("The tasks extension", () => {
  it("belongs to 2026-07-28 and later revisions alone, and enables no tasks of 2025-11-25", () => {
    const { id, notifications, requests, results, since, until } = TasksExtension.extension
    assert.deepStrictEqual([id, since, until], ["io.modelcontextprotocol/tasks", "2026-07-28", undefined])
    assert.deepStrictEqual(
      Object.values(requests).map(({ name, nameParameter }) => [name, nameParameter]),
      [["tasks/get", "taskId"], ["tasks/update", "taskId"], ["tasks/cancel", "taskId"]]
    )
    assert.deepStrictEqual([notifications.changed.name, notifications.changed.filter], [
      "notifications/tasks",
      "taskIds"
    ])
    assert.deepStrictEqual([results.created.type, results.created.method], ["task", "tools/call"])
  })

  it("accepts a task with what its status brings", () => {
    for (
      const more of [
        {},
        { status: "completed", result: { content: [] }, pollIntervalMs: 100 },
        { status: "failed", error: { code: -32603, message: "no" } },
        { status: "input_required", inputRequests: { k: { method: "roots/list" } } }
      ]
    ) assert.isTrue(isTask({ ...task, ...more }), JSON.stringify(more))
  })

  it("refuses a task without its times, of an unknown status, or with a time to live that is not an integer", () => {
    const { createdAt: _, ...timeless } = task
    for (
      const wrong of [timeless, { ...task, status: "done" }, { ...task, ttlMs: 1.5 }, { ...task, ttlMs: undefined }]
    ) {
      assert.isFalse(isTask(wrong), JSON.stringify(wrong))
    }
  })
})
