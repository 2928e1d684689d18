/**
 * Tasks of a server: calls of tools that go on after the server has answered their requests. A client starts a task, reads its status,
 * answers its questions, cancels it, and gets its result. With the id of a task, the client can do all this also after a restart.
 *
 * With revision 2025-11-25 a client needs no preparation. With revision 2026-07-28, tasks are the extension
 * `io.modelcontextprotocol/tasks`, and the client needs `extension` in its option `extensions`. A client that only wants the result calls
 * the tool with `callTool`, which waits for the result.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as Tool from "../definition/Tool.js"
import type { JsonObject } from "../protocol/Json.js"
import * as TasksExtension from "../protocol/modern/TasksExtension.js"
import type * as Tasks from "../protocol/Tasks.js"
import type { CallToolResult } from "../protocol/Tools.js"
import type * as Client from "./Client.js"
import type { ClientError, ToolError } from "./ClientError.js"
import type { AttachOptions, ClientSessionService, StartOptions, Task, TaskCalls } from "./ClientSession.js"
import * as TypedTool from "./session/TypedTool.js"

/**
 * The extension for tasks of revision 2026-07-28, for the option `extensions` of a client.
 *
 * @category constants
 */
export const extension: typeof TasksExtension.extension = TasksExtension.extension

type Session = Pick<ClientSessionService, "tasks">

/**
 * The task of a tool. The definition of the tool decodes the result of the task and its declared failures.
 *
 * @category models
 */
export type TaskOf<T> = Task<Client.Success<T>, Tool.Tool.Failure<T> | ToolError | ClientError>

type Rest<T> = {} extends Tool.Tool.Arguments<T> ? [args?: Tool.Tool.Arguments<T>, options?: StartOptions]
  : [args: Tool.Tool.Arguments<T>, options?: StartOptions]

/**
 * Starts a tool as a task if both the server and the tool support tasks. In this case the effect ends when the server has answered with the
 * task. Otherwise the effect waits for the result of the call, and the task has no id.
 *
 * @example
 * ```ts
 * import type * as ClientSession from "@effect-mcp/core/ClientSession"
 * import * as TasksClient from "@effect-mcp/core/TasksClient"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const Report = Tool.make("report", { parameters: { year: Schema.Int }, success: Schema.String, task: "optional" })
 *
 * export const report = (session: ClientSession.ClientSessionService) =>
 *   Effect.gen(function*() {
 *     const task = yield* TasksClient.start(session, Report, { year: 2026 }, { ttl: "1 hour" })
 *     yield* Effect.fork(Stream.runForEach(task.status, ({ status }) => Effect.log(status)))
 *     return yield* task.result
 *   })
 * ```
 * @category utils
 */
export const start: {
  <T extends Tool.Tool.Any>(
    session: Session,
    tool: T,
    ...rest: Rest<T>
  ): Effect.Effect<TaskOf<T>, ClientError>
  (
    session: Session,
    tool: string,
    args?: JsonObject,
    options?: StartOptions
  ): Effect.Effect<Task<CallToolResult, ClientError>, ClientError>
} = (
  { tasks }: Session,
  tool: string | Tool.Tool.Any,
  args?: any,
  options?: StartOptions
): Effect.Effect<Task<any, any>, any> =>
  typeof tool === "string"
    ? tasks.start(tool, args, options)
    : Effect.flatMap(
      TypedTool.encode(tool, args),
      (encoded) => Effect.map(tasks.start(tool.name, encoded, { ...options, checkOutput: false }), typed(tool))
    )

/**
 * Returns the task with this id, which an earlier `start` returned, in this run of the program or in an earlier run. The effect sends
 * nothing. When the server no longer has the task, the effects of the task fail with `TaskEnded`.
 *
 * @category utils
 */
export const attach: {
  <T extends Tool.Tool.Any>(
    session: Session,
    tool: T,
    taskId: string,
    options?: Pick<AttachOptions, "timeout">
  ): Effect.Effect<TaskOf<T>>
  (
    session: Session,
    tool: string,
    taskId: string,
    options?: Pick<AttachOptions, "timeout">
  ): Effect.Effect<Task<CallToolResult, ClientError>>
} = (
  { tasks }: Session,
  tool: string | Tool.Tool.Any,
  taskId: string,
  options?: Pick<AttachOptions, "timeout">
): Effect.Effect<Task<any, any>> =>
  typeof tool === "string"
    ? tasks.attach(taskId, { ...options, tool })
    : Effect.map(tasks.attach(taskId, options), typed(tool))

const typed = (tool: Tool.Tool.Any) => (task: Task<CallToolResult, ClientError>): Task<any, any> => ({
  ...task,
  result: Effect.flatMap(task.result, TypedTool.reader(tool))
})

/**
 * Lists the tasks that the server has for this user; see `TaskCalls`.
 *
 * @category utils
 */
export const list = (
  { tasks }: Session,
  options?: Parameters<TaskCalls["list"]>[0]
): Stream.Stream<Tasks.Task, ClientError> => tasks.list(options)
