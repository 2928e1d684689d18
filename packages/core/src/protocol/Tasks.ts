/**
 * The experimental tasks of revision 2025-11-25. The receiver of a request, a server or a client, may answer at once with a task, and the
 * sender fetches the result later. This module also has the statuses of tasks, which both protocol eras share, and the function that tells
 * whether a status is final. `modern/TasksExtension` has the tasks of revision 2026-07-28. `server/tasks/TaskRunner` runs tasks.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Integer, type JsonObject } from "./Json.js"
import * as Meta from "./Meta.js"
import { pageFields } from "./Pagination.js"
import { since, until } from "./schema/Since.js"

/** @category schemas */
export const TaskStatus: Schema.Literal<["working", "input_required", "completed", "failed", "cancelled"]> = Schema
  .Literal("working", "input_required", "completed", "failed", "cancelled")

/** @category models */
export type TaskStatus = typeof TaskStatus.Type

/**
 * Whether a status is final. A task with a final status never changes again.
 *
 * @category guards
 */
export const isTerminal = (status: TaskStatus): boolean => status !== "working" && status !== "input_required"

/** @category models */
export interface TaskMetadata extends Schema.Schema.Type<typeof TaskMetadata> {}

/**
 * The parameter with which the sender of a request asks the receiver to create a task. `ttl` is how many milliseconds the receiver should
 * keep the task.
 *
 * @category schemas
 */
export const TaskMetadata = Schema.Struct({ ttl: Schema.optional(Integer) })

/**
 * The field of requests that a receiver may answer with a task.
 *
 * @category constants
 */
export const taskField = { task: until("2025-11-25", since("2025-11-25", Schema.optional(TaskMetadata))) }

/**
 * The value of the key `io.modelcontextprotocol/related-task` in `_meta`.
 *
 * @category models
 */
export interface RelatedTask extends Schema.Schema.Type<typeof RelatedTask> {}

/** @category schemas */
export const RelatedTask = Schema.Struct({ taskId: Schema.String })

/** @category models */
export interface Task extends Schema.Schema.Type<typeof Task> {}

/** @category schemas */
export const Task = Schema.Struct({
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optional(Schema.String),
  /** When the task was created, in ISO 8601. */
  createdAt: Schema.String,
  /** When the task was last changed, in ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** How many milliseconds after its creation the receiver keeps the task. `null`: for ever. */
  ttl: Schema.NullOr(Integer),
  /** How many milliseconds the sender should wait between two `tasks/get`. */
  pollInterval: Schema.optional(Integer)
})

/** @category models */
export interface CreateTaskResult extends Schema.Schema.Type<typeof CreateTaskResult> {}

/**
 * The result with which the receiver answers a request that asked for a task.
 *
 * @category schemas
 */
export const CreateTaskResult = Schema.Struct({ task: Task, ...Meta.any })

/** @category models */
export interface TaskParams extends Schema.Schema.Type<typeof TaskParams> {}

/**
 * The parameters of each request about one task.
 *
 * @category schemas
 */
export const TaskParams = Schema.Struct({ taskId: Schema.String, ...Meta.request })

/** @category models */
export interface TaskResult extends Schema.Schema.Type<typeof TaskResult> {}

/**
 * The result of `tasks/get` and of `tasks/cancel`, and the parameters of `notifications/tasks/status`.
 *
 * @category schemas
 */
export const TaskResult = Schema.Struct({ ...Task.fields, ...Meta.any })

/**
 * The result of `tasks/result`, which is the result of the request that created the task.
 *
 * @category schemas
 */
export const TaskPayload: Schema.Schema<{ readonly _meta?: Meta.Meta | undefined } & JsonObject> = Schema.Struct(
  Meta.any,
  { key: Schema.String, value: Schema.Unknown }
).annotations({ arbitrary: () => (fc) => fc.constantFrom({}, { content: [] }, { _meta: {}, roots: [] }) })

/** @category models */
export interface ListTasksResult extends Schema.Schema.Type<typeof ListTasksResult> {}

/** @category schemas */
export const ListTasksResult = Schema.Struct({ tasks: Schema.Array(Task), ...pageFields })
