/**
 * Waits for the end of a task at the upstream, and returns the result of the call that has become this task. When the task asks questions,
 * the client of the call gets the questions. An interruption cancels the task.
 *
 * `Forward` uses this module for calls that become tasks. When the client wants a task, the client gets the id of another task, which
 * belongs to the proxy's own server.
 */
import { TooManyRounds } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Tasks from "@effect-mcp/core/protocol/Tasks"
import type { AskError } from "@effect-mcp/core/ServerSession"
import { extension } from "@effect-mcp/core/TasksClient"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as TaskPoll from "@effect-mcp/core/unstable/protocol/TaskPoll"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { ProxyFailure } from "../upstream/UpstreamError.js"
import * as UpstreamQuestions from "../upstream/UpstreamQuestions.js"

/** The longest time for which a cancellation waits for the upstream's answer. */
const CANCEL_WAIT = "1 second"

/** Waits for a task of revision 2025-11-25. The questions of such a task are requests, which `Link` passes to the client. */
export const legacy = ({ tasks }: ClientSessionService, taskId: string): Effect.Effect<JsonObject, ProxyFailure> =>
  Effect.flatMap(
    tasks.attach(taskId),
    (task) => cancelling(task.result as Effect.Effect<any, ProxyFailure>, task.cancel)
  )

/** The functions and data of the client that has sent the call, for a task of revision 2026-07-28. */
export interface Client {
  /** An effect that runs before the wait. If the client wants a task, this effect makes the client's call a task of the proxy's server. */
  readonly start: Effect.Effect<void, AskError>
  readonly ask: UpstreamQuestions.Ask
  /**
   * Returns a function that ends the client's request with questions, so that the client answers with a new request. Returns `undefined`
   * when the client cannot get questions in this way. Then `ask` asks the client, and the request of the client waits.
   */
  readonly pass: () => ((questions: UpstreamQuestions.Questions) => Effect.Effect<never, McpError.McpError>) | undefined
  /** The answers of the client to questions that `pass` has sent. */
  readonly responses: JsonObject | undefined
  readonly capabilities: ClientCapabilities
}

interface Task extends Client {
  readonly session: ClientSessionService
  readonly taskId: string
  /**
   * Whether `passTo` has sent questions to the client. With `true` an interruption does not cancel the task, because the client will
   * continue the task.
   */
  readonly isPassed: Ref.Ref<boolean>
}

/** The state of the wait for a task. */
interface Self extends Task {
  readonly poll: TaskPoll.TaskPoll<State, ProxyFailure>
  /** The keys of the questions that the client was asked; `follow` adds keys. */
  readonly asked: Set<string>
  /** `answer` completes this with a failure when a question got no answer. */
  readonly failed: Deferred.Deferred<never, ProxyFailure>
}

/** Waits for a task of the extension `io.modelcontextprotocol/tasks`. The client of the call answers each question of the task once. */
export const modern = (
  session: ClientSessionService,
  taskId: string,
  client: Client
): Effect.Effect<JsonObject, ProxyFailure> => {
  const task: Task = { ...client, session, taskId, isPassed: Ref.unsafeMake(false) }
  return cancelling(
    Effect.zipRight(Effect.tapError(client.start, () => cancel(task)), waiting(task)),
    Effect.unlessEffect(cancel(task), Ref.get(task.isPassed))
  )
}

const waiting = Effect.fnUntraced(
  function*(task: Task) {
    const { responses } = task
    const self: Self = {
      ...task,
      poll: yield* TaskPoll.make<State, ProxyFailure>(read(task)),
      asked: new Set(Object.keys(responses ?? {})),
      failed: yield* Deferred.make<never, ProxyFailure>()
    }
    if (responses !== undefined) yield* update(task, responses)
    return yield* Effect.tapErrorCause(
      raceFirst(follow(self), Deferred.await(self.failed)),
      () => Effect.whenEffect(bounded(cancel(task)), Deferred.isDone(self.failed))
    )
  },
  Effect.scoped
)

/** Asks the client the questions of the task, until the task has ended. */
const follow = Effect.fnUntraced(function*(self: Self) {
  const { asked, pass, poll } = self
  let seen = 0
  while (true) {
    const [{ questions, state, status }, number] = yield* poll.next(seen)
    if (Tasks.isTerminal(status)) return yield* outcome(state)
    const fresh = Object.entries(questions).filter(([key]) => !asked.has(key))
    const passing = fresh.length === 0 ? undefined : pass()
    if (passing !== undefined) return yield* passTo(self, passing(Object.fromEntries(fresh)))
    if (asked.size + fresh.length > UpstreamQuestions.MAX) {
      yield* cancel(self)
      return yield* new TooManyRounds({ method: "tools/call", rounds: UpstreamQuestions.MAX })
    }
    for (const [key] of fresh) asked.add(key)
    yield* Effect.forEach(fresh, ([key, question]) => answer(self, key, question), { discard: true })
    seen = number
  }
})

/** Ends the request of the client with the questions. */
const passTo = (self: Self, passing: Effect.Effect<never, McpError.McpError>) =>
  Effect.onError(
    Effect.zipRight(Ref.set(self.isPassed, true), passing),
    (cause) => Cause.isInterruptedOnly(cause) ? Effect.void : cancel(self)
  )

/** Asks the client one question on a separate fiber, and sends the answer to the upstream. */
const answer = (
  self: Self,
  key: string,
  question: UpstreamQuestions.Question
): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.flatMap(self.ask(question), (response) => update(self, { [key]: response })).pipe(
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) || Exit.isInterrupted(exit)
        ? Effect.sync(self.poll.wake)
        : Deferred.failCause(self.failed, exit.cause)
    ),
    Effect.ignore,
    Effect.interruptible,
    Effect.forkScoped
  )

const send = ({ capabilities, session, taskId }: Task, method: string, params: JsonObject = {}) =>
  session.request(method, { taskId, ...params }, { capabilities }) as Effect.Effect<JsonObject, ProxyFailure>

const cancel = (task: Task): Effect.Effect<void> => Effect.ignore(send(task, extension.requests.cancel.name))

const update = (task: Task, inputResponses: JsonObject) =>
  Effect.retry(send(task, extension.requests.update.name, { inputResponses }), {
    while: TaskPoll.isLost,
    times: TaskPoll.MAX_LOST
  })

const read = (task: Task) =>
  Effect.flatMap(send(task, extension.requests.get.name), (state): Effect.Effect<State, ProxyFailure> => {
    const { inputRequests, pollIntervalMs, status } = state
    const questions = UpstreamQuestions.of(inputRequests)
    return typeof status === "string" && questions !== undefined &&
        Object.keys(questions).length <= UpstreamQuestions.MAX &&
        (pollIntervalMs === undefined || typeof pollIntervalMs === "number")
      ? Effect.succeed({ status: status as Tasks.TaskStatus, pollInterval: pollIntervalMs, questions, state })
      : invalid
  })

interface State extends TaskPoll.Polled {
  readonly questions: UpstreamQuestions.Questions
  readonly state: JsonObject
}

const outcome = ({ error, result, status }: JsonObject): Effect.Effect<JsonObject, ProxyFailure> =>
  status === "completed" && typeof result === "object" && result !== null
    ? Effect.succeed(result as JsonObject)
    : status === "failed" && typeof (error as JsonObject | undefined)?.code === "number"
    ? Effect.fail(McpError.fromWire(new JsonRpcError(error as never)))
    : invalid

const invalid = Effect.fail(
  new TransportError({ reason: "Decode", message: "The upstream sent no valid state of a task" })
)

/** Cancels the task at the upstream when the effect is interrupted. */
const cancelling = <A, E>(result: Effect.Effect<A, E>, cancel: Effect.Effect<unknown, unknown>): Effect.Effect<A, E> =>
  Effect.onInterrupt(result, () => bounded(cancel))

/** Runs a cancellation, and waits at most `CANCEL_WAIT` for its end. */
const bounded = (cancel: Effect.Effect<unknown, unknown>): Effect.Effect<void> =>
  Effect.ignore(TimeLimit.end(cancel, CANCEL_WAIT))
