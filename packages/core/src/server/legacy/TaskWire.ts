/**
 * Tasks with revision 2025-11-25, for `Era` and `ServerSide`. `TasksServer` adds this module to a server, through `dispatch/ServerTasks`.
 * The client decides which calls become tasks, among the calls of tools that support tasks. A client reads the result with the request
 * `tasks/result`. The server answers this request when the task has ended. Before that, the server sends the questions of the task to the
 * client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import { NoBackChannel } from "../../jsonrpc/LocalError.js"
import * as Outbound from "../../jsonrpc/Outbound.js"
import * as Race from "../../kit/Race.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { REQUEST_CANCELLED } from "../../protocol/ErrorCodes.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as TaskMethods from "../../protocol/legacy/TaskMethods.js"
import { InvalidParams } from "../../protocol/McpError.js"
import { related } from "../../protocol/rules/RelatedTask.js"
import * as Tasks from "../../protocol/Tasks.js"
import * as Version from "../../protocol/Version.js"
import type { Refuses } from "../Authenticator.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import type { TaskDialect } from "../runtime/TaskDialect.js"
import * as TaskViewer from "../runtime/TaskViewer.js"
import { type Ended, type StoredTasks, type Viewer, writeAgain } from "../tasks/StoredTasks.js"
import * as TaskFacts from "../tasks/TaskFacts.js"
import type { StoredTask, TaskOutcome, TaskQuestion } from "../TaskStore.js"
import type { Connection } from "./Connection.js"
import * as Questions from "./Questions.js"

/** Whether a revision has these task methods. */
const isIn = (version: Version.Version): boolean => version === "2025-11-25"

/**
 * Makes the functions for tasks of one request. `detached` makes the functions with which the handler sends and asks after the response.
 */
const dialect = (
  handler: HandlerContext<Connection>,
  detached: (mark: (params: JsonObject | undefined) => JsonObject) => ReturnType<TaskDialect["detached"]>
): TaskDialect => {
  const { facts: connection, version } = handler
  return {
    version,
    wants: (support) => {
      // `null` means absent.
      const wanted = (handler.received.params?.["task"] ?? undefined) as Tasks.TaskMetadata | undefined
      if (wanted === undefined && support === "required") {
        return Either.left(refused("This tool runs only as a task: send the member `task` with the call"))
      }
      // SHOULD answer with -32601 when the tool does not support tasks.
      if (wanted !== undefined && support === undefined) {
        return Either.left(refused("This tool does not run as a task: leave the member `task` out"))
      }
      return Either.right(wanted === undefined ? undefined : { ttl: wanted.ttl })
    },
    created: (task) => Effect.succeed(new HandlerOutcome.Encoded({ task: toTask(task) })),
    detached: (task) =>
      isForOthers(handler, task)
        ? silent(handler)
        : detached((params) => related(params, task.taskId)),
    changed: (task) =>
      isForOthers(handler, task)
        ? Effect.void
        : connection.inform(task.taskId, TaskMethods.taskStatus.name, toTask(task) as unknown as JsonObject),
    encode: (question) => Questions.encode(connection, question),
    decode: Questions.decode,
    ended: (exit) => TaskFacts.endOf(handler.outcomeOf(exit), isFailure)
  }
}

/** With this revision, a tool result with `isError` makes the task `failed`. */
const isFailure = ({ isError }: JsonObject): boolean => isError === true

/** Makes the end of a detached task from the end of its work. */
const ended = (
  { version }: { readonly version: Version.LegacyVersion },
  tool: string,
  exit: Exit.Exit<unknown, unknown>
): Ended => {
  const encode = HandlerOutcome.encoder(Methods.callTool, version, { isTrusted: false, isStable: false })
  const received = { method: Methods.callTool.name, params: { name: tool } }
  return TaskFacts.endOf(HandlerOutcome.ofRequest({ received, encode }, exit, "legacy"), isFailure)
}

/**
 * Whether a client with another token could receive messages that a task sends outside of requests. Over HTTP, the request that opens the
 * stream of a session may have another token than the call of the task. If this function gives `true`, the task sends nothing outside of
 * requests. The client then reads the task with requests, and the server checks the tokens of these requests.
 */
const isForOthers = ({ origin: { sessionId } }: HandlerContext<Connection>, { requires }: StoredTask): boolean =>
  requires !== undefined && sessionId !== undefined

/**
 * Makes the functions with which a handler sends and asks, for a handler that must send nothing outside of requests. The client gets the
 * questions of the task through `tasks/result`.
 */
const silent = ({ asker, outbound }: HandlerContext<Connection>): ReturnType<TaskDialect["detached"]> => ({
  outbound: { ...Outbound.none, channel: outbound.channel },
  asker: {
    ...asker,
    askAsTask: ({ kind }) => Effect.fail(new NoBackChannel({ method: kind })),
    request: Outbound.none.request
  }
})

const refused = (why: string) =>
  new JsonRpcError.JsonRpcError({ code: JsonRpcError.METHOD_NOT_FOUND, message: `Method not found: ${why}` })

const toTask = (task: StoredTask): Tasks.Task => ({
  ...TaskFacts.common(task),
  ttl: task.ttl,
  pollInterval: task.pollInterval
})

const viewerOf = (handler: HandlerContext<Connection>): Viewer => TaskViewer.make(handler, Version.isLegacy)

type Params = { readonly taskId: string }

const get = (tasks: StoredTasks, { taskId }: Params, handler: HandlerContext<Connection>) =>
  Effect.map(tasks.get(viewerOf(handler), taskId), toTask)

const cancel = (tasks: StoredTasks, { taskId }: Params, handler: HandlerContext<Connection>) =>
  Effect.flatMap(tasks.cancel(viewerOf(handler), taskId), ([task, isCancelled]) =>
    isCancelled
      ? Effect.succeed(toTask(task))
      : Effect.fail(new InvalidParams({ message: `Invalid params: the task has ended already, it is ${task.status}` })))

const list = (
  tasks: StoredTasks,
  { cursor }: { readonly cursor?: string | undefined },
  handler: HandlerContext<Connection>,
  pageSize: number
) =>
  Effect.map(tasks.list(viewerOf(handler), cursor, pageSize), ({ next, tasks }): Tasks.ListTasksResult => ({
    tasks: tasks.map(toTask),
    ...(next === undefined ? undefined : { nextCursor: next })
  }))

/**
 * Sends a question of a task on the channel of this request, and waits for the answer without a time limit. When the client has not
 * declared the capability, or the server cannot reach the client, this effect waits forever, because another session may answer.
 */
const answered = (
  { asker, facts }: HandlerContext<Connection>,
  method: string,
  params: JsonObject
): Effect.Effect<TaskOutcome> =>
  Capabilities.declares(facts.clientCapabilities, QuestionCapability.of(method, params))
    ? Effect.matchEffect(asker.request(method, params, { timeout: Duration.infinity }), {
      onFailure: (error) =>
        error instanceof JsonRpcError.JsonRpcError
          ? Effect.succeed({ error: JsonRpcError.toObject(error) })
          : Effect.never,
      onSuccess: (result) => Effect.succeed({ result })
    })
    : Effect.never

/** Waits until the task has ended. While it waits, sends the questions of the task to this client. Gives the result of the call. */
const result = (
  tasks: StoredTasks,
  { taskId }: Params,
  handler: HandlerContext<Connection>
): Effect.Effect<JsonObject, unknown> =>
  Effect.flatMap(Deferred.make<never, Refuses | InvalidParams>(), (lost) => {
    const viewer = viewerOf(handler)
    const asking = new Map<string, Fiber.RuntimeFiber<unknown, unknown>>()
    const ask = (key: string, { method, params }: TaskQuestion) =>
      answered(handler, method, related(params, taskId)).pipe(
        Effect.flatMap((answer) =>
          Effect.retry(tasks.answer(viewer, taskId, (asked) => asked === key ? answer : undefined), {
            schedule: writeAgain,
            while: ({ _tag }) => _tag !== "InvalidParams"
          })
        ),
        Effect.tapError((error) => Deferred.fail(lost, error)),
        Effect.fork
      )
    const askAll = ({ questions }: StoredTask) =>
      Effect.forEach(
        Object.entries(questions),
        ([key, question]) =>
          asking.has(key) ? Effect.void : Effect.map(ask(key, question), (fiber) => asking.set(key, fiber)),
        {
          discard: true
        }
      )
    // Another request has brought the answer, or the handler has withdrawn the question.
    const stop = ({ questions }: StoredTask) =>
      Effect.forEach(
        [...asking],
        ([key, fiber]) => Object.hasOwn(questions, key) ? Effect.void : Fiber.interruptFork(fiber),
        { discard: true }
      )
    const ended = tasks.changes(viewer, taskId).pipe(
      Stream.tap((task) => Effect.zipRight(stop(task), askAll(task))),
      Stream.filter(({ status }) => Tasks.isTerminal(status)),
      Stream.runHead,
      Effect.flatMap((found): Effect.Effect<JsonObject, InvalidParams | JsonRpcError.JsonRpcError> => {
        if (Option.isNone(found)) {
          return Effect.fail(new InvalidParams({ message: "Invalid params: the task has expired" }))
        }
        const { outcome } = found.value
        if (outcome === undefined) {
          return Effect.fail(
            new JsonRpcError.JsonRpcError({ code: REQUEST_CANCELLED, message: "The task was cancelled" })
          )
        }
        return "error" in outcome
          ? Effect.fail(new JsonRpcError.JsonRpcError(outcome.error))
          : Effect.succeed(related(outcome.result, taskId))
      })
    )
    // Races outside of the stream, because an end of the stream would also end the fibers that its elements have forked.
    return Race.raceFirst(ended, Deferred.await(lost))
  })

/** The functions for revision 2025-11-25 that a server with tasks needs. */
export interface Wire {
  readonly isIn: typeof isIn
  readonly dialect: typeof dialect
  readonly get: typeof get
  readonly result: typeof result
  readonly cancel: typeof cancel
  readonly list: typeof list
  readonly ended: typeof ended
  readonly encode: typeof Questions.encode
  readonly decode: TaskDialect["decode"]
}

export const wire: Wire = {
  isIn,
  dialect,
  get,
  result,
  cancel,
  list,
  ended,
  encode: Questions.encode,
  decode: Questions.decode
}
