/**
 * The tasks of the modern era (revision 2026-07-28), which are the extension `io.modelcontextprotocol/tasks`. The server decides which
 * calls become tasks. `Connect` makes the `EraTasks` of its session with this module. `TaskQuestions` decides which input requests of a
 * task the client answers. The features of the client answer each of these input requests once, as they answer the input requests of a
 * call. The client sends the responses with `tasks/update`.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as MutableRef from "effect/MutableRef"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import { all as concurrently, raceFirst } from "../../kit/Race.js"
import * as SingleFlight from "../../kit/SingleFlight.js"
import type * as Extension from "../../protocol/Extension.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as McpError from "../../protocol/McpError.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as TasksExtension from "../../protocol/modern/TasksExtension.js"
import * as Mend from "../../protocol/schema/Mend.js"
import type * as Tasks from "../../protocol/Tasks.js"
import * as TaskPoll from "../../protocol/tasks/TaskPoll.js"
import type { CallToolResult } from "../../protocol/Tools.js"
import type { ModernVersion } from "../../protocol/Version.js"
import { type ClientError, InputRefused, NotNegotiated, TaskEnded } from "../ClientError.js"
import * as Decoding from "../session/Decoding.js"
import { type EraTasks, goneOr, type OpenTask, type RequestOptions } from "../session/EraTasks.js"
import type { EraCalls } from "../session/ExtensionMethods.js"
import type * as MethodCalls from "../session/MethodCalls.js"
import type { Options } from "../session/NegotiatedSession.js"
import * as InputRounds from "./InputRounds.js"
import * as MethodTable from "./MethodTable.js"
import * as ModernCalls from "./ModernCalls.js"
import * as TaskQuestions from "./TaskQuestions.js"

type State = Tasks.Task & Pick<TasksExtension.DetailedTask, "error" | "inputRequests" | "result">

const { cancel, get, update } = TasksExtension.extension.requests

interface Self {
  readonly extended: EraCalls
  readonly rounds: InputRounds.Options
  readonly version: ModernVersion
  /** Whether the application gave the extension to the client. */
  readonly isGiven: boolean
  /**
   * The type of the result with which a server says that a call has become a task. `undefined` when one side has not declared the
   * extension.
   */
  readonly created: Extension.ResultType | undefined
}

/** A task for whose result the client waits. */
interface Waiting {
  readonly self: Self
  readonly poll: TaskPoll.TaskPoll<State, ClientError>
  readonly taskId: string
  readonly limits: RequestOptions
  readonly questions: Ref.Ref<TaskQuestions.Known>
}

/** Questions that are answered together. */
interface Asked {
  readonly keys: ReadonlyArray<string>
  readonly fiber: Fiber.RuntimeFiber<void>
  /** Whether the responses were sent, or are being sent. */
  readonly isSent: MutableRef.MutableRef<boolean>
}

export const make = (
  { extensions, features }: Options,
  call: MethodCalls.Call,
  extended: EraCalls,
  rounds: InputRounds.Options,
  version: ModernVersion
): EraTasks => {
  const { id, results } = TasksExtension.extension
  const created = rounds.resultTypes.get(Methods.callTool.name)?.get(results.created.type)
  const isOurs = created?.extension === id
  const self: Self = { extended, rounds, version, isGiven: extensions.byId.has(id), created }
  return {
    // A feature of the application that reads such results takes precedence.
    decides: created !== undefined && isOurs && !features.results.has(created) ? "server" : undefined,
    call: (params, options) =>
      created === undefined || !isOurs
        ? Effect.map(call("tools/call", params, options), Either.right)
        : Effect.map(
          extended.either(created, params as unknown as JsonObject, options),
          Either.mapLeft(toState)
        ),
    open: (taskId, first, options) => open(self, taskId, first, { timeout: options?.timeout }),
    list: () => Stream.fail(new NotNegotiated({ method: LIST, version, capability: undefined, declaredBy: "server" }))
  }
}

const request = (
  { extended, isGiven, version }: Self,
  name: string,
  params: JsonObject,
  options: RequestOptions
): Effect.Effect<JsonObject, ClientError> =>
  isGiven
    ? extended.call(name, params, options)
    : Effect.fail(
      new NotNegotiated({
        method: name,
        version,
        capability: `extensions.${TasksExtension.extension.id}`,
        declaredBy: "client"
      })
    )

const open = Effect.fnUntraced(function*(
  self: Self,
  taskId: string,
  first: Tasks.Task | undefined,
  limits: RequestOptions
) {
  const { created, extended } = self
  const reading = Effect.mapError(
    Effect.flatMap(request(self, get.name, { taskId }, limits), (result) => read(self, result)),
    goneOr(taskId)
  )
  // The first state of a task has no questions and no result, so it is useful only for a task that is working.
  const known = first?.status === "working" ? first : undefined
  const poll = yield* TaskPoll.make<State, ClientError>(reading, known)
  const waiting: Waiting = { self, poll, taskId, limits, questions: yield* Ref.make(TaskQuestions.none) }
  const opened: OpenTask = {
    poll,
    result: SingleFlight.make<CallToolResult, ClientError>().join(result(waiting)),
    cancel: request(self, cancel.name, { taskId }, limits).pipe(
      Effect.mapError(goneOr(taskId)),
      Effect.ensuring(Effect.sync(poll.wake)),
      Effect.asVoid
    ),
    // The client MUST NOT send this member to a server that has not declared the extension.
    listen: created === undefined ? Effect.void : extended.subscribe!(FILTER, [taskId], poll.wake)
  }
  return opened
})

const read = ({ rounds: { report } }: Self, result: JsonObject): Effect.Effect<State, ClientError> =>
  InputRounds.countOf(result["inputRequests"]) > InputRounds.MAX_QUESTIONS
    ? invalid(`the task asks more than ${InputRounds.MAX_QUESTIONS} questions at once`)
    : Effect.map(Decoding.decodeOrFail(get.name, decodeTask, result, report), toState)

/** Follows the states of a task and answers its questions, until the task has ended. Returns the result of the task. */
const result = (waiting: Waiting): Effect.Effect<CallToolResult, ClientError> =>
  Effect.scoped(Effect.flatMap(
    Deferred.make<never, ClientError>(),
    (failed) => raceFirst(follow(waiting, failed), Deferred.await(failed))
  ))

const follow = Effect.fnUntraced(function*(waiting: Waiting, failed: Deferred.Deferred<never, ClientError>) {
  const { poll, questions, self } = waiting
  let asked: ReadonlyArray<Asked> = []
  let seen = 0
  while (true) {
    const [state, number] = yield* poll.next(seen)
    const unsent = asked.filter(({ isSent }) => !MutableRef.get(isSent))
    const next = TaskQuestions.next(yield* Ref.get(questions), unsent, state, self.rounds.maxRounds)
    if (next._tag === "End") return yield* outcome(self, state)
    if (next._tag === "Refuse") return yield* next.error
    yield* Effect.forEach(next.withdraw, ({ fiber }) => Fiber.interruptFork(fiber), { discard: true })
    asked = unsent.filter((one) => !next.withdraw.includes(one))
    if (next.ask.length > 0) asked = [...asked, yield* ask(waiting, next.ask, failed)]
    seen = number
  }
})

/** Answers questions in the background, and sends the responses. When this fails, `failed` fails with the same error. */
const ask = (
  waiting: Waiting,
  requests: ReadonlyArray<TaskQuestions.Question>,
  failed: Deferred.Deferred<never, ClientError>
): Effect.Effect<Asked, never, Scope.Scope> => {
  const { poll, questions, self: { rounds: { answer, maxInFlight } } } = waiting
  const keys = requests.map(([key]) => key)
  const isSent = MutableRef.make(false)
  const answers = requests.map(([key, one]) =>
    Effect.mapBoth(answer(key, one, undefined), {
      onFailure: (cause) => new InputRefused({ method: Methods.callTool.name, input: one.method, cause }),
      onSuccess: (response) => [key, response] as const
    })
  )
  const answering = concurrently(answers, maxInFlight).pipe(
    Effect.flatMap((responses) => {
      MutableRef.set(isSent, true)
      return send(waiting, Object.fromEntries(responses))
    }),
    Effect.zipRight(Effect.sync(poll.wake)),
    Effect.interruptible,
    Effect.onError(() =>
      MutableRef.get(isSent)
        ? Effect.void
        : Ref.update(questions, (known) => TaskQuestions.unasked(known, keys))
    ),
    // An interruption of this fiber is no outcome of the task.
    Effect.catchAllCause((cause) => Effect.interruptible(Effect.asVoid(Deferred.failCause(failed, cause))))
  )
  // Uninterruptible, so that the questions can be asked again although the fiber is interrupted before it starts.
  return Effect.uninterruptible(
    Ref.update(questions, (known) => TaskQuestions.asked(known, keys)).pipe(
      Effect.zipRight(Effect.forkScoped(answering)),
      Effect.map((fiber) => ({ keys, fiber, isSent }))
    )
  )
}

const send = ({ limits, self, taskId }: Waiting, inputResponses: JsonObject): Effect.Effect<unknown, ClientError> =>
  request(self, update.name, { taskId, inputResponses }, limits).pipe(
    Effect.retry({ while: TaskPoll.isLost, times: TaskPoll.MAX_LOST, schedule: RESEND }),
    // The task has ended, or the server no longer has it. The poll finds out which.
    Effect.catchTag("InvalidParams", () => Effect.void)
  )

/** Returns the outcome of a task that has ended, in the form of the outcome of its call. */
const outcome = (
  { rounds: { report } }: Self,
  { error, result, status, statusMessage, taskId }: State
): Effect.Effect<CallToolResult, ClientError> => {
  if (status === "cancelled") return Effect.fail(new TaskEnded({ taskId, reason: "Cancelled", statusMessage }))
  if (status === "failed") {
    return Effect.fail(
      error === undefined
        ? new TaskEnded({ taskId, reason: "Failed", statusMessage })
        : McpError.fromWire(new JsonRpcError(error))
    )
  }
  const { decodeResult } = MethodTable.calls["tools/call"]
  return result === undefined
    ? invalid("the task is completed, and has no result")
    : Effect.map(
      Decoding.decodeOrFail(Methods.callTool.name, decodeResult, result, report),
      (result) => ModernCalls.withoutEnvelope(result as unknown as JsonObject) as unknown as CallToolResult
    )
}

/** The waits before responses are sent again, when their acknowledgement was lost. The server ignores responses that it already has. */
const RESEND = Schedule.spaced(TaskPoll.DEFAULT_INTERVAL)

const LIST = "tasks/list"

/** The member of the filter of `subscriptions/listen` for tasks. */
const FILTER = TasksExtension.extension.notifications.changed.filter!

const decodeTask = Mend.decoder(TasksExtension.DetailedTask, "client")

const toState = ({ pollIntervalMs, ttlMs, ...task }: TasksExtension.DetailedTask): State => ({
  ...task,
  ttl: ttlMs,
  pollInterval: pollIntervalMs
})

const invalid = (why: string): Effect.Effect<never, TransportError> =>
  Effect.fail(new TransportError({ reason: "Decode", message: `The result of "${get.name}" is not valid: ${why}` }))
