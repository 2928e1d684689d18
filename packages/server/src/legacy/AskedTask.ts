/**
 * Questions that the client answers as tasks, at 2025-11-25: this server creates the task with the question, requests its status
 * at the pace of the client, and fetches the answer when the task has ended.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import { REQUEST_CANCELLED } from "@effect-mcp/protocol/ErrorCodes"
import * as Issue from "@effect-mcp/protocol/Issue"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as TaskMethods from "@effect-mcp/protocol/legacy/TaskMethods"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Tasks from "@effect-mcp/protocol/Tasks"
import * as Mend from "@effect-mcp/protocol/unstable/Mend"
import * as TaskPoll from "@effect-mcp/protocol/unstable/TaskPoll"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Question } from "../Ask.js"
import type { AskAsTaskOptions, AskedTask, AskError } from "../ServerSession.js"
import * as TaskCapability from "../tasks/TaskCapability.js"
import type { TaskQuestion } from "../TaskStore.js"
import * as LegacyAsk from "./Ask.js"
import type { Connection } from "./Connection.js"

/** Sends a request to the client. */
export type Post = (request: TaskQuestion, options: { readonly isWaiting: boolean }) => Effect.Effect<Params, AskError>

/** Asks a question as a task. `mark` adds the task that the handler itself serves. */
export const make = <A>(
  connection: Connection,
  mark: (params: JsonObject) => Params,
  question: Question<A>,
  options: AskAsTaskOptions | undefined,
  post: Post
): Effect.Effect<AskedTask<A>, AskError> =>
  Effect.suspend(() => {
    if (question.kind === "roots") {
      return Effect.fail(new McpError.InternalError({ message: "The roots are no question for a task: use listRoots" }))
    }
    const task = options?.ttl === undefined ? {} : { ttl: Math.ceil(Duration.toMillis(options.ttl)) }
    const encoded = LegacyAsk.encode(connection, {
      ...question,
      requires: { ...question.requires, ...TaskCapability.of(question) },
      params: { ...question.params, task }
    })
    if (Either.isLeft(encoded)) return Effect.fail(encoded.left)
    const { method, params } = encoded.right
    return Effect.flatMap(
      post({ method, params: mark(params) as JsonObject }, { isWaiting: false }),
      (answer): Effect.Effect<AskedTask<A>, AskError> =>
        answer["task"] === undefined
          // A client that ignores `task` has answered.
          ? Effect.map(LegacyAsk.decode(question, answer as JsonObject), answered)
          : Effect.flatMap(
            decoded(method, decodeCreated, answer),
            ({ task }) => following(task, question, post)
          )
    )
  })

const following = <A>(
  task: Tasks.Task,
  question: Question<A>,
  post: Post
): Effect.Effect<AskedTask<A>> => {
  const params = { taskId: task.taskId }
  const request = ({ name }: Method.Request, isWaiting = false) => post({ method: name, params }, { isWaiting })
  const get = Effect.flatMap(
    request(TaskMethods.getTask),
    (answer) => decoded(TaskMethods.getTask.name, TaskMethods.getTask.decodeResult, answer)
  )
  const fetch = (isWaiting: boolean) =>
    Effect.flatMap(
      request(TaskMethods.getTaskPayload, isWaiting),
      (answer) => LegacyAsk.decode(question, answer as JsonObject)
    )
  return Effect.map(TaskPoll.make<Tasks.Task, AskError>(get, task), (poll) => ({
    taskId: Option.some(task.taskId),
    status: poll.states,
    result: TaskPoll.result(
      poll,
      fetch,
      ({ statusMessage = "The task was cancelled" }): AskError =>
        new McpError.PeerError({ code: REQUEST_CANCELLED, message: statusMessage })
    ),
    cancel: request(TaskMethods.cancelTask).pipe(
      // The client refuses to cancel a task that has ended.
      Effect.catchTag(
        "InvalidParams",
        (error) => Effect.filterOrFail(get, ({ status }) => Tasks.isTerminal(status), () => error)
      ),
      Effect.ensuring(Effect.sync(poll.wake)),
      Effect.asVoid
    )
  }))
}

const answered = <A>(answer: A): AskedTask<A> => ({
  taskId: Option.none(),
  status: Stream.empty,
  result: Effect.succeed(answer),
  cancel: Effect.void
})

const decoded = <A>(method: string, decode: Method.Decode<A>, answer: Params): Effect.Effect<A, AskError> =>
  Either.match(decode(answer), {
    onLeft: ({ issue }) => Effect.fail(LegacyAsk.invalid(method, Issue.sentence(issue))),
    onRight: Effect.succeed
  })

const decodeCreated = Mend.decoder(Tasks.CreateTaskResult, "client")
