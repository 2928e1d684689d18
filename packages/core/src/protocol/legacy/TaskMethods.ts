/**
 * The methods of the experimental tasks, which only revision 2025-11-25 has. Clients and servers may create tasks, so both send these
 * methods. `Tasks` has the types of their parameters and results.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import * as Method from "../Method.js"
import * as Pagination from "../Pagination.js"
import * as EmptyCursor from "../rules/EmptyCursor.js"
import * as Tasks from "../Tasks.js"

const revisions = { since: "2025-11-25", until: "2025-11-25" } as const

/** @category methods */
export const getTask = Method.request({
  name: "tasks/get",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskResult,
  capability: "tasks",
  ...revisions
})

/** @category methods */
export const getTaskPayload = Method.request({
  name: "tasks/result",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskPayload,
  capability: "tasks",
  ...revisions
})

/** @category methods */
export const listTasks = EmptyCursor.isAbsent(Method.request({
  name: "tasks/list",
  from: "both",
  params: Pagination.PaginatedParams,
  result: Tasks.ListTasksResult,
  capability: "tasks.list",
  ...revisions
}))

/** @category methods */
export const cancelTask = Method.request({
  name: "tasks/cancel",
  from: "both",
  params: Tasks.TaskParams,
  result: Tasks.TaskResult,
  capability: "tasks.cancel",
  ...revisions
})

/** @category methods */
export const taskStatus = Method.notification({
  name: "notifications/tasks/status",
  from: "both",
  params: Tasks.TaskResult,
  capability: "tasks",
  ...revisions
})
