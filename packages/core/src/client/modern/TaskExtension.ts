/**
 * Tasks of this era, the extension `io.modelcontextprotocol/tasks`: the server decides which calls become tasks. The client
 * answers the input requests of a task as it answers the input requests of a call, each once, and sends the responses with
 * `tasks/update`.
 *
 * @see https://github.com/modelcontextprotocol/ext-tasks
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import { all as concurrently, raceFirst } from "../../kit/Race.js"
import * as SingleFlight from "../../kit/SingleFlight.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as McpError from "../../protocol/McpError.js"
import type { InputRequest } from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as ModernTasks from "../../protocol/modern/TasksExtension.js"
import * as Mend from "../../protocol/schema/Mend.js"
import * as Tasks from "../../protocol/Tasks.js"
import * as TaskPoll from "../../protocol/tasks/TaskPoll.js"
import type { CallToolResult } from "../../protocol/Tools.js"
import type { ModernVersion } from "../../protocol/Version.js"
import { type ClientError, InputRefused, NotNegotiated, TaskEnded, TooManyRounds } from "../ClientError.js"
import type { CallOptions } from "../ClientSession.js"
import * as Decoding from "../session/Decoding.js"
import { type EraTasks, goneOr, type OpenTask } from "../session/EraTasks.js"
import type { EraCalls } from "../session/ExtensionMethods.js"
import type * as MethodCalls from "../session/MethodCalls.js"
import type { Options } from "../session/NegotiatedSession.js"
import * as ModernCalls from "./Calls.js"
import * as InputRounds from "./InputRounds.js"
import * as MethodTable from "./MethodTable.js"

type State = Tasks.Task & Pick<ModernTasks.DetailedTask, "error" | "inputRequests" | "result">

/** Input requests that are answered together. */
interface Asked {
  readonly keys: ReadonlyArray<string>
  readonly fiber: Fiber.RuntimeFiber<void>
  /** Whether the responses are on their way. */
  readonly isSent: () => boolean
}

const { cancel, get, update } = ModernTasks.extension.requests

export const make = (
  { extensions, features }: Options,
  call: MethodCalls.Call,
  extended: EraCalls,
  rounds: InputRounds.Options,
  version: ModernVersion
): EraTasks => {
  const { answer, maxInFlight, maxRounds, report, resultTypes } = rounds
  const created = resultTypes.get(Methods.callTool.name)?.get(ModernTasks.extension.results.created.type)
  const isOurs = created?.extension === ModernTasks.extension.id
  const isGiven = extensions.byId.has(ModernTasks.extension.id)

  const request = (name: string, params: JsonObject, options: CallOptions | undefined) =>
    isGiven
      ? extended.call(name, params, options)
      : Effect.fail(
        new NotNegotiated({
          method: name,
          version,
          capability: `extensions.${ModernTasks.extension.id}`,
          declaredBy: "client"
        })
      )

  const read = (result: JsonObject): Effect.Effect<State, ClientError> =>
    InputRounds.countOf(result["inputRequests"]) > InputRounds.MAX_QUESTIONS
      ? invalid(`the task asks more than ${InputRounds.MAX_QUESTIONS} questions at once`)
      : Effect.map(Decoding.decodeOrFail(get.name, decodeTask, result, report), toState)

  /** The outcome of a task that has ended, as the outcome of the call. */
  const outcome = ({ error, result, status, statusMessage, taskId }: State): Effect.Effect<
    CallToolResult,
    ClientError
  > => {
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

  const open = (poll: TaskPoll.TaskPoll<State, ClientError>, taskId: string, options: CallOptions): OpenTask => {
    // MUST answer each input request once, however often the result is awaited.
    const answered = new Set<string>()
    let count = 0

    const send = (inputResponses: JsonObject) =>
      request(update.name, { taskId, inputResponses }, options).pipe(
        Effect.retry({ while: TaskPoll.isLost, times: TaskPoll.MAX_LOST, schedule: RESEND }),
        // The task has ended, or is gone: the poll finds out.
        Effect.catchTag("InvalidParams", () => Effect.void)
      )

    const ask = (
      requests: ReadonlyArray<readonly [string, InputRequest]>,
      failed: Deferred.Deferred<never, ClientError>
    ): Effect.Effect<Asked, ClientError, Scope.Scope> => {
      const keys = requests.map(([key]) => key)
      if (++count > maxRounds) {
        return Effect.fail(new TooManyRounds({ method: Methods.callTool.name, rounds: maxRounds }))
      }
      for (const key of keys) answered.add(key)
      let isSent = false
      const answers = requests.map(([key, one]) =>
        Effect.mapBoth(answer(key, one), {
          onFailure: (cause) => new InputRefused({ method: Methods.callTool.name, input: one.method, cause }),
          onSuccess: (response) => [key, response] as const
        })
      )
      return concurrently(answers, maxInFlight).pipe(
        Effect.flatMap((responses) => {
          isSent = true
          return send(Object.fromEntries(responses))
        }),
        Effect.zipRight(Effect.sync(poll.wake)),
        Effect.onError(() =>
          Effect.sync(() => {
            if (!isSent) { for (const key of keys) answered.delete(key) }
          })
        ),
        Effect.catchAllCause((cause) => Effect.asVoid(Deferred.failCause(failed, cause))),
        Effect.interruptible,
        Effect.forkScoped,
        Effect.map((fiber) => ({ keys, fiber, isSent: () => isSent }))
      )
    }

    const result = Effect.scoped(Effect.gen(function*() {
      const failed = yield* Deferred.make<never, ClientError>()
      const asked = new Set<Asked>()
      const follow = (seen: number): Effect.Effect<CallToolResult, ClientError, Scope.Scope> =>
        Effect.flatMap(poll.next(seen), ([state, number]) => {
          if (Tasks.isTerminal(state.status)) return outcome(state)
          const outstanding = state.inputRequests ?? {}
          const fresh = Object.entries(outstanding).filter(([key]) => !answered.has(key))
          // Answered by another client of the task, or withdrawn by the server.
          const withdrawn = [...asked].filter(({ isSent, keys }) =>
            !isSent() && !keys.some((key) => Object.hasOwn(outstanding, key))
          )
          for (const one of withdrawn) asked.delete(one)
          return Effect.forEach(withdrawn, ({ fiber }) => Fiber.interruptFork(fiber), { discard: true }).pipe(
            Effect.zipRight(
              fresh.length === 0
                ? Effect.void
                : Effect.map(ask(fresh, failed), (one) => asked.add(one))
            ),
            Effect.zipRight(follow(number))
          )
        })
      return yield* raceFirst(follow(0), Deferred.await(failed))
    }))

    return {
      poll,
      result: SingleFlight.make<CallToolResult, ClientError>().join(result),
      cancel: request(cancel.name, { taskId }, options).pipe(
        Effect.mapError(goneOr(taskId)),
        Effect.ensuring(Effect.sync(poll.wake)),
        Effect.asVoid
      ),
      // MUST NOT send the member to a server without the extension.
      listen: created === undefined ? Effect.void : extended.subscribe!(FILTER, [taskId], poll.wake)
    }
  }

  return {
    // A feature of the application that reads tasks goes first.
    decides: created !== undefined && isOurs && !features.results.has(created) ? "server" : undefined,
    call: (params, options) =>
      created === undefined || !isOurs
        ? Effect.map(call("tools/call", params, options), Either.right)
        : Effect.map(
          extended.either(created, params as unknown as JsonObject, options),
          Either.mapLeft(toState)
        ),
    open: (taskId, first, options) => {
      const limits = { timeout: options?.timeout }
      const reading = Effect.mapError(Effect.flatMap(request(get.name, { taskId }, limits), read), goneOr(taskId))
      // The first state of a task has neither its questions nor its result.
      const known = first?.status === "working" ? first : undefined
      return Effect.map(TaskPoll.make<State, ClientError>(reading, known), (poll) => open(poll, taskId, limits))
    },
    list: () => Stream.fail(new NotNegotiated({ method: LIST, version, capability: undefined, declaredBy: "server" }))
  }
}

/** The wait before responses are sent again whose acknowledgement was lost. The server ignores them when it has them. */
const RESEND = Schedule.spaced(TaskPoll.DEFAULT_INTERVAL)

const LIST = "tasks/list"

/** The member of the filter of a subscription. */
const FILTER = ModernTasks.extension.notifications.changed.filter!

const decodeTask = Mend.decoder(ModernTasks.DetailedTask, "client")

const toState = ({ pollIntervalMs, ttlMs, ...task }: ModernTasks.DetailedTask): State => ({
  ...task,
  ttl: ttlMs,
  pollInterval: pollIntervalMs
})

const invalid = (why: string): Effect.Effect<never, TransportError> =>
  Effect.fail(new TransportError({ reason: "Decode", message: `The result of "${get.name}" is not valid: ${why}` }))
