/**
 * The functions with which a session handles the tasks of its server. They call a tool so that the call may become a task, and they read,
 * answer and cancel a task. The functions differ between the protocol eras: `legacy/Connect` and `modern/TaskExtension` each make a record
 * of them. The session (`NegotiatedSession`) contains the record. `RemoteTasks` makes the tasks that the application gets from this record.
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

/** The options of a call that also hold for the requests about its task. */
export type RequestOptions = Pick<CallOptions, "timeout">

export interface OpenTask {
  readonly poll: TaskPoll<Task, ClientError>
  /** Waits for the result of the task, and answers its questions meanwhile. */
  readonly result: Effect.Effect<CallToolResult, ClientError>
  readonly cancel: Effect.Effect<void, ClientError>
  /** Asks the server to notify the client of changes of the task, until the scope closes. */
  readonly listen: Effect.Effect<void, ClientError, Scope.Scope>
}

export interface EraTasks {
  /** The side that decides which calls become tasks; `undefined` when no call can become a task. */
  readonly decides: "client" | "server" | undefined
  /** Calls a tool. When the client decides, `task` asks for a task. On the left: the task that the call has become. */
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

/** Converts the error of a request about a task. `InvalidParams` means that the server does not have the task. */
export const goneOr = (taskId: string) => (error: ClientError): ClientError =>
  error._tag === "InvalidParams" ? new TaskEnded({ taskId, reason: "Gone" }) : error
