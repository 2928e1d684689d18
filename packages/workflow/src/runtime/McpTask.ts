/**
 * Defines the workflow of all durable tools, for `Tasks` and `ClusterRows`. All durable tools share one workflow, so that the engine can
 * find the execution of a task by the id of the task alone. `Tasks` has the function that the workflow runs.
 */
import * as Workflow from "@effect/workflow/Workflow"
import * as DetachedTask from "@effect-mcp/core/DetachedTask"
import { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const McpTask = Workflow.make({
  name: "effect-mcp/task",
  payload: {
    reference: DetachedTask.Reference,
    tool: Schema.String,
    arguments: JsonObject,
    /** The time at which the time to live of the task ends, in milliseconds since 1970. */
    endsAt: Schema.Number
  },
  idempotencyKey: ({ reference }) => reference.taskId
})

/** Returns the id of the execution of a task, which is a digest of the task's id. */
export const executionOf = (taskId: string): Effect.Effect<string> =>
  McpTask.executionId({
    reference: { taskId, owner: null, revision: "2026-07-28", capabilities: {} },
    tool: "",
    arguments: {},
    endsAt: 0
  })
