/**
 * The one workflow of all durable tools, for `Tasks` and `ClusterRows`: the engine finds an execution by the id of its task alone. `Tasks`
 * has the function that the workflow runs.
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
    /** When the time to live of the task has passed, in milliseconds since 1970. */
    endsAt: Schema.Number
  },
  idempotencyKey: ({ reference }) => reference.taskId
})

/** Returns the id of the execution of a task: a digest of the task's id. */
export const executionOf = (taskId: string): Effect.Effect<string> =>
  McpTask.executionId({
    reference: { taskId, owner: null, revision: "2026-07-28", capabilities: {} },
    tool: "",
    arguments: {},
    endsAt: 0
  })
