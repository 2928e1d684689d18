/**
 * Tasks of 2025-11-25: the client decides which calls become tasks, among the tools that the server lists with support for
 * them. `tasks/result` gives the result; while a task is `input_required`, it also has the server send its questions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import * as SingleFlight from "@effect-mcp/jsonrpc/unstable/kit/SingleFlight"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import { declares } from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as TaskMethods from "@effect-mcp/protocol/legacy/TaskMethods"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Tasks from "@effect-mcp/protocol/Tasks"
import type { CallToolResult } from "@effect-mcp/protocol/Tools"
import * as Mend from "@effect-mcp/protocol/unstable/Mend"
import * as TaskPoll from "@effect-mcp/protocol/unstable/TaskPoll"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { CallOptions } from "../CallOptions.js"
import type { ClientError } from "../ClientError.js"
import { invalidResult, TaskEnded } from "../ClientError.js"
import * as Pages from "../Pages.js"
import type { Calls } from "../session/Calls.js"
import * as Decoding from "../session/Decoding.js"
import type { EraTasks } from "../session/EraTasks.js"
import { goneOr } from "../session/EraTasks.js"

export interface Options {
  readonly calls: Calls
  readonly version: LegacyVersion
  readonly serverCapabilities: ServerCapabilities
  readonly report: Decoding.Report
}

export const make = ({ calls, report, serverCapabilities, version }: Options): EraTasks => {
  const request = <A>(
    { name }: Pick<Method.Request, "name">,
    decode: Method.Decode<A>,
    params: Params | undefined,
    options: CallOptions | undefined
  ): Effect.Effect<A, ClientError> =>
    Effect.flatMap(calls.request(name, params, options), (result) => decoded(name, decode, result))

  const decoded = <A>(name: string, decode: Method.Decode<A>, result: Params): Effect.Effect<A, ClientError> =>
    Decoding.decodeOrFail(name, decode, result, { report, onIssue: (issue) => invalidResult(`"${name}"`, issue) })

  return {
    // MUST NOT send `task` to a server that does not declare it.
    decides: version === "2025-11-25" && declares(serverCapabilities, "tasks.requests.tools.call")
      ? "client"
      : undefined,
    call: (params, options, task) =>
      task === undefined
        ? Effect.map(calls.call("tools/call", params, options), Either.right)
        : Effect.flatMap(
          calls.request(
            Methods.callTool.name,
            Methods.callTool.narrowParams(version)({ ...params, task }) as Params,
            options
          ),
          (result): Effect.Effect<Either.Either<any, Tasks.Task>, ClientError> =>
            result["task"] === undefined
              ? Effect.map(decoded(Methods.callTool.name, Methods.callTool.decodeResult, result), Either.right)
              : Effect.map(decoded(Methods.callTool.name, decodeCreated, result), ({ task }) => Either.left(task))
        ),
    open: (taskId, first, options) => {
      const params = { taskId }
      const limits = { timeout: options?.timeout }
      const get = Effect.mapError(
        request(TaskMethods.getTask, TaskMethods.getTask.decodeResult, params, limits),
        goneOr(taskId)
      )
      const fetch = (isWaiting: boolean) =>
        // The result has the type of that of the call.
        request(
          TaskMethods.getTaskPayload,
          Methods.callTool.decodeResult,
          params,
          isWaiting ? { timeout: Duration.infinity } : limits
        ).pipe(
          // The server may have refused the parameters of the call, or it has the task no longer.
          Effect.tapErrorTag("InvalidParams", () => get)
        )
      return Effect.map(TaskPoll.make<Tasks.Task, ClientError>(get, first), (poll) => ({
        poll,
        result: SingleFlight.make<CallToolResult, ClientError>().join(TaskPoll.result(
          poll,
          fetch,
          ({ statusMessage }) => new TaskEnded({ taskId, reason: "Cancelled", statusMessage })
        )),
        cancel: calls.request(TaskMethods.cancelTask.name, params, limits).pipe(
          // The server refuses to cancel a task that has ended.
          Effect.catchTag(
            "InvalidParams",
            (error) => Effect.filterOrFail(get, ({ status }) => Tasks.isTerminal(status), () => error)
          ),
          Effect.ensuring(Effect.sync(poll.wake)),
          Effect.asVoid
        ),
        // The server notifies the session that has begun the task, if it notifies at all.
        listen: Effect.void
      }))
    },
    list: (options) =>
      Pages.stream(
        TaskMethods.listTasks.name,
        (cursor) =>
          request(
            TaskMethods.listTasks,
            TaskMethods.listTasks.decodeResult,
            cursor === undefined ? undefined : { cursor },
            options
          ),
        ({ tasks }) => tasks
      )
  }
}

const decodeCreated = Mend.decoder(Tasks.CreateTaskResult, "client")
