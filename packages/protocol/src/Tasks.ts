/**
 * The experimental tasks of 2025-11-25: a request may be answered with a task at once, and its result fetched later.
 * Only types and the transitions between statuses; nothing here runs a task. The tasks extension of 2026-07-28 is in
 * `modern/Tasks`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.js"
import { Integer } from "./Json.js"
import * as Meta from "./Meta.js"
import { pageFields } from "./Pagination.js"
import { since, until } from "./schema/Since.js"

export const TaskStatus: Schema.Literal<["working", "input_required", "completed", "failed", "cancelled"]> = Schema
  .Literal("working", "input_required", "completed", "failed", "cancelled")

export type TaskStatus = typeof TaskStatus.Type

/** Whether a status is final: a task that has it never changes again. */
export const isTerminal = (status: TaskStatus): boolean => status !== "working" && status !== "input_required"

export interface TaskMetadata extends Schema.Schema.Type<typeof TaskMetadata> {}

/** Requests a task. `ttl`: for how many milliseconds the receiver should store it. */
export const TaskMetadata = Schema.Struct({ ttl: Schema.optional(Integer) })

/** The field of requests that can be answered with a task. */
export const taskField = { task: until("2025-11-25", since("2025-11-25", Schema.optional(TaskMetadata))) }

/** The value of the `_meta` key `related-task`. */
export interface RelatedTask extends Schema.Schema.Type<typeof RelatedTask> {}

export const RelatedTask = Schema.Struct({ taskId: Schema.String })

export interface Task extends Schema.Schema.Type<typeof Task> {}

export const Task = Schema.Struct({
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optional(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  /** ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** Milliseconds after creation; `null` means for ever. */
  ttl: Schema.NullOr(Integer),
  /** Milliseconds to wait between two `tasks/get`. */
  pollInterval: Schema.optional(Integer)
})

export interface CreateTaskResult extends Schema.Schema.Type<typeof CreateTaskResult> {}

/** The result of a request with `TaskMetadata`. */
export const CreateTaskResult = Schema.Struct({ task: Task, ...Meta.any })

export interface TaskParams extends Schema.Schema.Type<typeof TaskParams> {}

/** The parameters of the requests about one task. */
export const TaskParams = Schema.Struct({ taskId: Schema.String, ...Meta.request })

export interface TaskResult extends Schema.Schema.Type<typeof TaskResult> {}

/** The result of `tasks/get` and `tasks/cancel`, and a status notification. */
export const TaskResult = Schema.Struct({ ...Task.fields, ...Meta.any })

/** The result of `tasks/result`: the result of the request that created the task. */
export const TaskPayload: Schema.Schema<{ readonly _meta?: Meta.Meta | undefined } & JsonObject> = Schema.Struct(
  Meta.any,
  { key: Schema.String, value: Schema.Unknown }
).annotations({ arbitrary: () => (fc) => fc.constantFrom({}, { content: [] }, { _meta: {}, roots: [] }) })

export interface ListTasksResult extends Schema.Schema.Type<typeof ListTasksResult> {}

export const ListTasksResult = Schema.Struct({ tasks: Schema.Array(Task), ...pageFields })
