/**
 * The methods of the experimental tasks, which only 2025-11-25 has. Both sides may create tasks, so both sides send
 * them. Their types are in `Tasks`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import * as Method from "../Method.js"
import * as Pagination from "../Pagination.js"
import * as EmptyCursor from "../rules/EmptyCursor.js"
import * as Tasks from "../Tasks.js"

/** @category methods */
export const getTask = Method.request({
  name: "tasks/get",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskResult,
  capability: "tasks",
  since: "2025-11-25",
  until: "2025-11-25"
})

/** @category methods */
export const getTaskPayload = Method.request({
  name: "tasks/result",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskPayload,
  capability: "tasks",
  since: "2025-11-25",
  until: "2025-11-25"
})

/** @category constants */
export const listTasks = EmptyCursor.isAbsent(Method.request({
  name: "tasks/list",
  from: "both",
  params: Pagination.PaginatedParams,
  result: Tasks.ListTasksResult,
  capability: "tasks.list",
  since: "2025-11-25",
  until: "2025-11-25"
}))

/** @category methods */
export const cancelTask = Method.request({
  name: "tasks/cancel",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskResult,
  capability: "tasks.cancel",
  since: "2025-11-25",
  until: "2025-11-25"
})

/** @category methods */
export const taskStatus = Method.notification({
  name: "notifications/tasks/status",
  from: "both",
  params: Tasks.TaskResult,
  capability: "tasks",
  since: "2025-11-25",
  until: "2025-11-25"
})
