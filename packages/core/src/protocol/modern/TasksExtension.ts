/**
 * The extension `io.modelcontextprotocol/tasks`: a server may answer `tools/call` with a task at once, and the client fetches the result
 * later. Give `extension` to each server and each client that shall have these tasks; `server/TasksServer` and `client/TasksClient` export
 * it.
 *
 * `Tasks` has what these tasks share with the experimental tasks of 2025-11-25, which this extension never enables.
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
 * What is known of a task, whatever its status.
 *
 * @category schemas
 */
export const Task = Schema.Struct({
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optional(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  /** ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** Milliseconds after creation until the server may remove the task; `null` means never. */
  ttlMs: Schema.NullOr(Integer),
  /** Milliseconds to wait between two `tasks/get`. It may change. */
  pollIntervalMs: Schema.optional(Integer),
  ...Meta.any
})

/** @category errors */
export interface TaskError extends Schema.Schema.Type<typeof TaskError> {}

/**
 * The JSON-RPC error with which the request of a failed task ended.
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
 * A task with what its status brings: the questions that have no answer, the result, or the error.
 *
 * @category schemas
 */
export const DetailedTask = Schema.Struct({
  ...Task.fields,
  /** Of a task that is `input_required`. */
  inputRequests: Schema.optional(InputRequests),
  /** Of a task that is `completed`; a result with `isError` too. */
  result: Schema.optional(JsonObject),
  /** Of a task that has `failed`. */
  error: Schema.optional(TaskError)
})

const TaskParams = Schema.Struct({ taskId: Schema.String, ...Meta.request })

/**
 * The responses by the keys of their requests. The server checks each response by itself, and ignores a response for which
 * it has no request.
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
