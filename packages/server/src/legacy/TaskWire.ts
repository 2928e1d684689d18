/**
 * Tasks of 2025-11-25: the client decides which calls become tasks, among the tools that support it. A client reads the
 * result with `tasks/result`, which waits for it, and which carries the questions of the task meanwhile.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import * as Race from "@effect-mcp/jsonrpc/unstable/kit/Race"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import { REQUEST_CANCELLED } from "@effect-mcp/protocol/ErrorCodes"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as TaskMethods from "@effect-mcp/protocol/legacy/TaskMethods"
import { type InternalError, InvalidParams } from "@effect-mcp/protocol/McpError"
import * as ProtocolTasks from "@effect-mcp/protocol/Tasks"
import { related } from "@effect-mcp/protocol/unstable/RelatedTask"
import * as Version from "@effect-mcp/protocol/Version"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { HttpRefusal } from "../HttpRefusal.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import { Encoded } from "../runtime/Reply.js"
import type { TaskDialect } from "../runtime/TaskDialect.js"
import { type StoredTasks, type Viewer, writeAgain } from "../tasks/StoredTasks.js"
import * as TaskFacts from "../tasks/TaskFacts.js"
import type { StoredTask, TaskOutcome, TaskQuestion } from "../TaskStore.js"
import type { LegacySession } from "./Connection.js"
import * as Questions from "./Questions.js"

/** Whether a revision has these tasks. */
export const isIn = (version: Version.Version): boolean => version === "2025-11-25"

/** `detached` gives what the handler sends and asks with after the response. */
export const dialect = (
  session: LegacySession,
  detached: (mark: (params: JsonObject | undefined) => JsonObject) => ReturnType<TaskDialect["detached"]>
): TaskDialect => {
  const { facts: connection, version } = session
  return {
    version,
    wants: (support) => {
      // `null` counts as absent.
      const wanted = (session.call.params?.["task"] ?? undefined) as ProtocolTasks.TaskMetadata | undefined
      if (wanted === undefined && support === "required") {
        return Either.left(refused("This tool runs as a task only: send the member `task` with the call"))
      }
      // SHOULD answer with -32601 when the tool does not support tasks.
      if (wanted !== undefined && support === undefined) {
        return Either.left(refused("This tool does not run as a task: leave the member `task` out"))
      }
      return Either.right(wanted === undefined ? undefined : { ttl: wanted.ttl })
    },
    created: (task) => Effect.succeed(new Encoded({ task: toTask(task) })),
    detached: ({ taskId }) => detached((params) => related(params, taskId)),
    changed: (task) =>
      connection.inform(task.taskId, TaskMethods.taskStatus.name, toTask(task) as unknown as JsonObject),
    encode: (question) => Questions.encode(connection, question),
    decode: (question, answer) => Questions.decode(question, answer),
    // A tool result with `isError` makes a task of this revision `failed`.
    ended: (exit) => TaskFacts.endOf(session.outcomeOf(exit), ({ isError }) => isError === true)
  }
}

const refused = (why: string) =>
  new JsonRpcError.JsonRpcError({ code: JsonRpcError.METHOD_NOT_FOUND, message: `Method not found: ${why}` })

export const toTask = (task: StoredTask): ProtocolTasks.Task => ({
  ...TaskFacts.common(task),
  ttl: task.ttl,
  pollInterval: task.pollInterval
})

const viewerOf = (session: LegacySession): Viewer => ({
  owner: session.principal?.id ?? null,
  isOfEra: Version.isLegacy
})

type Params = { readonly taskId: string }

export const get = (tasks: StoredTasks, { taskId }: Params, session: LegacySession) =>
  Effect.map(tasks.get(viewerOf(session), taskId), toTask)

export const cancel = (tasks: StoredTasks, { taskId }: Params, session: LegacySession) =>
  Effect.flatMap(tasks.cancel(viewerOf(session), taskId), ([task, isCancelled]) =>
    isCancelled
      ? Effect.succeed(toTask(task))
      : Effect.fail(new InvalidParams({ message: `Invalid params: the task has ended already, it is ${task.status}` })))

export const list = (
  tasks: StoredTasks,
  { cursor }: { readonly cursor?: string | undefined },
  session: LegacySession,
  pageSize: number
) =>
  Effect.map(tasks.list(viewerOf(session), cursor, pageSize), ({ next, tasks }): ProtocolTasks.ListTasksResult => ({
    tasks: tasks.filter(({ revision }) => Version.isLegacy(revision)).map(toTask),
    ...(next === undefined ? undefined : { nextCursor: next })
  }))

/**
 * Sends a question of a task on the channel of this request, and waits for the answer, however long a person takes. Where this
 * client has not declared the capability or cannot be reached, it waits for another session to answer.
 */
const answered = ({ asker, facts }: LegacySession, method: string, params: JsonObject): Effect.Effect<TaskOutcome> =>
  Capabilities.declares(facts.clientCapabilities, QuestionCapability.of(method, params))
    ? Effect.matchEffect(asker.request(method, params, { timeout: Duration.infinity }), {
      onFailure: (error) =>
        error instanceof JsonRpcError.JsonRpcError
          ? Effect.succeed({ error: JsonRpcError.toObject(error) })
          : Effect.never,
      onSuccess: (result) => Effect.succeed({ result })
    })
    : Effect.never

/** Waits until the task has ended, and sends its questions to this client meanwhile. Gives the result of the call. */
export const result = (
  tasks: StoredTasks,
  { taskId }: Params,
  session: LegacySession
): Effect.Effect<JsonObject, unknown> =>
  Effect.flatMap(Deferred.make<never, HttpRefusal | InternalError | InvalidParams>(), (lost) => {
    const viewer = viewerOf(session)
    const asking = new Map<string, Fiber.RuntimeFiber<unknown, unknown>>()
    const ask = (key: string, { method, params }: TaskQuestion) =>
      answered(session, method, related(params, taskId)).pipe(
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
    // Answered by another request for the result, or withdrawn by the handler.
    const stop = ({ questions }: StoredTask) =>
      Effect.forEach(
        [...asking],
        ([key, fiber]) => Object.hasOwn(questions, key) ? Effect.void : Fiber.interruptFork(fiber),
        { discard: true }
      )
    const ended = tasks.changes(viewer, taskId).pipe(
      Stream.tap((task) => Effect.zipRight(stop(task), askAll(task))),
      Stream.filter(({ status }) => ProtocolTasks.isTerminal(status)),
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
    // Around the stream: what ends a stream from within also ends the fibers that its elements have forked.
    return Race.raceFirst(ended, Deferred.await(lost))
  })
