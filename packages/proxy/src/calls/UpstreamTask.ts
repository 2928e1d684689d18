/**
 * Waits for the task that a call has become at the upstream, and gives the result of the call. Questions of the task go to the client
 * of the call. Interrupting the effect cancels the task.
 *
 * `Forward` decides which calls become tasks. A task that the client sees is a task of the proxy's own server, not the task here.
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
import type * as Scope from "effect/Scope"
import type { Ask } from "../upstream/Questions.js"
import * as Questions from "../upstream/Questions.js"
import type { ProxyFailure } from "../upstream/UpstreamError.js"

/** How long a cancellation waits for the acknowledgement of the upstream. */
const CANCEL_WAIT = "1 second"

/** Waits for a task of 2025-11-25. Its questions are requests, which `Link` passes on. */
export const legacy = ({ tasks }: ClientSessionService, taskId: string): Effect.Effect<JsonObject, ProxyFailure> =>
  Effect.flatMap(
    tasks.attach(taskId),
    (task) => cancelling(task.result as Effect.Effect<any, ProxyFailure>, task.cancel)
  )

/** What the client of a call does for a task of the extension. */
export interface Client {
  /** Runs first: makes the call a task of the proxy's server, where the client wants a task. */
  readonly start: Effect.Effect<void, AskError>
  readonly ask: Ask
  /**
   * Ends the request of the client with the questions; the client answers with another request. `undefined` where `ask` asks the
   * client while its request waits.
   */
  readonly pass: () => ((questions: Questions.Questions) => Effect.Effect<never, McpError.McpError>) | undefined
  /** The answers of the client to questions that `pass` has sent. */
  readonly responses: JsonObject | undefined
  readonly capabilities: ClientCapabilities
}

/** Waits for a task of the extension. The client of the call answers each question of the task once. */
export const modern = (
  { request }: ClientSessionService,
  taskId: string,
  { ask, capabilities, pass, responses, start }: Client
): Effect.Effect<JsonObject, ProxyFailure> => {
  let isPassed = false
  const send = (method: string, params: JsonObject = {}) =>
    request(method, { taskId, ...params }, { capabilities }) as Effect.Effect<JsonObject, ProxyFailure>
  const update = (inputResponses: JsonObject) =>
    Effect.retry(send(extension.requests.update.name, { inputResponses }), {
      while: TaskPoll.isLost,
      times: TaskPoll.MAX_LOST
    })
  const read = Effect.flatMap(send(extension.requests.get.name), (state): Effect.Effect<State, ProxyFailure> => {
    const { inputRequests, pollIntervalMs, status } = state
    const questions = Questions.of(inputRequests)
    return typeof status === "string" && questions !== undefined && Object.keys(questions).length <= Questions.MAX &&
        (pollIntervalMs === undefined || typeof pollIntervalMs === "number")
      ? Effect.succeed({ status: status as Tasks.TaskStatus, pollInterval: pollIntervalMs, questions, state })
      : invalid
  })
  const waiting = Effect.scoped(Effect.gen(function*() {
    const poll = yield* TaskPoll.make<State, ProxyFailure>(read)
    const failed = yield* Deferred.make<never, ProxyFailure>()
    const asked = new Set(Object.keys(responses ?? {}))
    const answer = (key: string, question: Questions.Question) =>
      Effect.flatMap(ask(question), (response) => update({ [key]: response })).pipe(
        Effect.onExit((exit) =>
          Exit.isSuccess(exit) || Exit.isInterrupted(exit)
            ? Effect.sync(poll.wake)
            : Deferred.failCause(failed, exit.cause)
        ),
        Effect.ignore,
        Effect.interruptible,
        Effect.forkScoped
      )
    const follow = (seen: number): Effect.Effect<JsonObject, ProxyFailure, Scope.Scope> =>
      Effect.flatMap(poll.next(seen), ([{ questions, state, status }, number]) => {
        if (Tasks.isTerminal(status)) return outcome(state)
        const fresh = Object.entries(questions).filter(([key]) => !asked.has(key))
        const passing = fresh.length === 0 ? undefined : pass()
        if (passing !== undefined) {
          isPassed = true
          return Effect.onError(
            passing(Object.fromEntries(fresh)),
            (cause) => Cause.isInterruptedOnly(cause) ? Effect.void : cancel
          )
        }
        if (asked.size + fresh.length > Questions.MAX) {
          return Effect.zipRight(
            cancel,
            Effect.fail(new TooManyRounds({ method: "tools/call", rounds: Questions.MAX }))
          )
        }
        for (const [key] of fresh) asked.add(key)
        return Effect.zipRight(
          Effect.forEach(fresh, ([key, question]) => answer(key, question), { discard: true }),
          follow(number)
        )
      })
    if (responses !== undefined) yield* update(responses)
    return yield* Effect.tapErrorCause(
      raceFirst(follow(0), Deferred.await(failed)),
      () => Effect.whenEffect(bounded(cancel), Deferred.isDone(failed))
    )
  }))
  const cancel = Effect.ignore(send(extension.requests.cancel.name))
  return cancelling(
    Effect.zipRight(Effect.tapError(start, () => cancel), waiting),
    Effect.suspend(() => isPassed ? Effect.void : cancel)
  )
}

interface State extends TaskPoll.Polled {
  readonly questions: Questions.Questions
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

/** Waits at most `CANCEL_WAIT` for the acknowledgement. */
const bounded = (cancel: Effect.Effect<unknown, unknown>): Effect.Effect<void> =>
  Effect.ignore(TimeLimit.end(cancel, CANCEL_WAIT))
