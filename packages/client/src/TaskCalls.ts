/**
 * The type of `ClientSession.tasks`: starts a call of a tool as a task, attaches to a task that is known by its id, and lists tasks.
 * Results are as the server sent them; the module `Tasks` decodes them by the definition of the tool. Tasks of both eras have this type.
 *
 * @since 0.1.0
 */
import type { Progress } from "@effect-mcp/jsonrpc/Progress"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as ProtocolTasks from "@effect-mcp/protocol/Tasks"
import type { CallToolResult } from "@effect-mcp/protocol/Tools"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { CallOptions, CallToolOptions, ListOptions } from "./CallOptions.js"
import type { ClientError } from "./ClientError.js"

/**
 * A task that a server has, or a call that the server has answered at once. It needs no scope, and interrupting one of its
 * effects does not cancel it. All that waits for it shares the requests for its status.
 *
 * @category models
 */
export interface Task<out A, out E> {
  /** The id to `attach` to the task with, after a restart too. `None` when the server answered the call at once. */
  readonly taskId: Option.Option<string>
  /**
   * The task as it is, and after each change, until it has ended. Requested at the pace of the server, which its notifications
   * shorten: at least once a minute, and no more than 20 times a second. Empty when the server answered the call at once.
   *
   * From 2026-07-28 on, it subscribes to the task while it runs. It fails with `TaskEnded` when the server has the task no
   * longer, and with the error of the request when six in a row were lost. It answers no questions.
   */
  readonly status: Stream.Stream<ProtocolTasks.Task, ClientError>
  /**
   * Waits for the end of the task, and answers its questions with the features of the client meanwhile, each once. It can be run
   * again. Fails with `TaskEnded` when the task was cancelled or has expired, and otherwise as the call would.
   */
  readonly result: Effect.Effect<A, E>
  /** Has the server cancel the task. Succeeds as well when the task has ended before. */
  readonly cancel: Effect.Effect<void, ClientError>
  /** The progress of the task from now on, until it has ended. Only 2025-11-25 sends any, and not to a client that attached. */
  readonly progress: Stream.Stream<Progress, ClientError>
}

/**
 * The options of a call that may become a task. `timeout` limits each request about the task too; none of them limits the task.
 *
 * @category models
 */
export interface StartOptions extends CallToolOptions {
  /** For how long the server should keep the task after it was created. Only 2025-11-25 lets a client choose. */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * The options of a task that exists.
 *
 * @category models
 */
export interface AttachOptions extends Pick<CallOptions, "timeout"> {
  /** The tool of the task: its result is checked against the output schema that the server lists. Default: no check. */
  readonly tool?: string | undefined
}

/** @category models */
export interface TaskCalls {
  /**
   * Calls a tool as a task where both sides support it. Otherwise it waits for the result of the call. Interrupting this effect
   * cancels the call.
   */
  readonly start: (
    name: string,
    args?: JsonObject,
    options?: StartOptions
  ) => Effect.Effect<Task<CallToolResult, ClientError>, ClientError>
  /** The task of this id. Nothing is sent; an id that the server does not know is found out by the first request. */
  readonly attach: (taskId: string, options?: AttachOptions) => Effect.Effect<Task<CallToolResult, ClientError>>
  /**
   * The tasks that the server has for this user, page after page. Only at 2025-11-25, and of servers that declare `tasks.list`;
   * otherwise it fails with `NotNegotiated`.
   */
  readonly list: (options?: Omit<ListOptions, "cursor">) => Stream.Stream<ProtocolTasks.Task, ClientError>
}
