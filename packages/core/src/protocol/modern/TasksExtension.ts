/**
 * The extension `io.modelcontextprotocol/tasks`: a server may answer `tools/call` at once with a task, and the client fetches the result
 * later. Give `extension` to each server and each client that should have these tasks. `server/TasksServer` and `client/TasksClient` export
 * `extension`, too.
 *
 * `Tasks` has the types that these tasks share with the experimental tasks of revision 2025-11-25. This extension never enables the
 * experimental tasks.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Extension from "../Extension.js"
import { Integer, JsonObject } from "../Json.js"
import * as Meta from "../Meta.js"
import { TaskStatus } from "../Tasks.js"
import { InputRequests } from "./InputRequired.js"

/** @category models */
export interface Task extends Schema.Schema.Type<typeof Task> {}

/**
 * The members that a task has with any status.
 *
 * @category schemas
 */
export const Task = Schema.Struct({
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optional(Schema.String),
  /** When the task was created, in ISO 8601. */
  createdAt: Schema.String,
  /** When the task was last changed, in ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** How many milliseconds after its creation the server may remove the task. `null`: never. */
  ttlMs: Schema.NullOr(Integer),
  /** How many milliseconds the client should wait between two `tasks/get`. The server may change the number. */
  pollIntervalMs: Schema.optional(Integer),
  ...Meta.any
})

/** @category errors */
export interface TaskError extends Schema.Schema.Type<typeof TaskError> {}

/**
 * The JSON-RPC error with which the request of a failed task has ended.
 *
 * @category schemas
 */
export const TaskError = Schema.Struct({
  code: Integer,
  message: Schema.String,
  data: Schema.optional(Schema.Unknown)
})

/** @category models */
export interface DetailedTask extends Schema.Schema.Type<typeof DetailedTask> {}

/**
 * A task with the member that belongs to its status: the input requests that have no response yet, the result, or the error.
 *
 * @category schemas
 */
export const DetailedTask = Schema.Struct({
  ...Task.fields,
  /** The input requests. Present when the status is `input_required`. */
  inputRequests: Schema.optional(InputRequests),
  /** The result of the request, also when the result has `isError`. Present when the status is `completed`. */
  result: Schema.optional(JsonObject),
  /** The error. Present when the status is `failed`. */
  error: Schema.optional(TaskError)
})

const TaskParams = Schema.Struct({ taskId: Schema.String, ...Meta.request })

/**
 * The responses, by the keys of their input requests. The server checks each response separately, and ignores a response whose input
 * request it does not know.
 */
const UpdateParams = Schema.Struct({
  taskId: Schema.String,
  inputResponses: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  ...Meta.request
})

const Acknowledgement = Schema.Struct(Meta.any)

const about = { nameParameter: "taskId" } as const

/** @category utils */
export const extension = Extension.make("io.modelcontextprotocol/tasks", {
  since: "2026-07-28",
  requests: {
    get: Extension.request("tasks/get", { params: TaskParams, result: DetailedTask, ...about }),
    update: Extension.request("tasks/update", { params: UpdateParams, result: Acknowledgement, ...about }),
    cancel: Extension.request("tasks/cancel", { params: TaskParams, result: Acknowledgement, ...about })
  },
  notifications: {
    changed: Extension.notification("notifications/tasks", {
      params: DetailedTask,
      filter: "taskIds",
      key: ({ taskId }) => taskId
    })
  },
  results: {
    created: Extension.resultType("task", { method: "tools/call", value: Task })
  }
})
