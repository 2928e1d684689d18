/**
 * What the era of a session does for the tasks of its server: how a tool is called so that the call may become a task, and how the task is
 * read, answered and cancelled. `legacy/Connect` and `modern/TaskExtension` each make such a record, the session (`NegotiatedSession`) has
 * the record, and `RemoteTasks` makes the handles of the application from the record.
 */
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Task, TaskMetadata } from "../../protocol/Tasks.js"
import type { TaskPoll } from "../../protocol/tasks/TaskPoll.js"
import type { CallToolParams, CallToolResult } from "../../protocol/Tools.js"
import { type ClientError, TaskEnded } from "../ClientError.js"
import type { CallOptions } from "../ClientSession.js"

/** The options of a call that the requests about its task have too. */
export type RequestOptions = Pick<CallOptions, "timeout">

export interface OpenTask {
  readonly poll: TaskPoll<Task, ClientError>
  /** Waits for the result, and answers questions meanwhile. */
  readonly result: Effect.Effect<CallToolResult, ClientError>
  readonly cancel: Effect.Effect<void, ClientError>
  /** Has the server notify of changes of the task until the scope closes. */
  readonly listen: Effect.Effect<void, ClientError, Scope.Scope>
}

export interface EraTasks {
  /** The side that decides which calls become tasks; `undefined` when none does. */
  readonly decides: "client" | "server" | undefined
  /** Calls a tool, with `task` where the client decides. Left: the task that the call has become. */
  readonly call: (
    params: CallToolParams,
    options: CallOptions | undefined,
    task: TaskMetadata | undefined
  ) => Effect.Effect<Either.Either<CallToolResult, Task>, ClientError>
  readonly open: (
    taskId: string,
    first: Task | undefined,
    options: RequestOptions | undefined
  ) => Effect.Effect<OpenTask>
  readonly list: (options: CallOptions | undefined) => Stream.Stream<Task, ClientError>
}

/** The error of a request about a task. A server that refuses the parameters of such a request does not have the task. */
export const goneOr = (taskId: string) => (error: ClientError): ClientError =>
  error._tag === "InvalidParams" ? new TaskEnded({ taskId, reason: "Gone" }) : error
