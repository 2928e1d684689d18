/**
 * Runs the steps of the body of a durable tool one after another, for `Tasks`. This module also implements the functions of `DurableTask`:
 * it makes the steps from activities, clocks and deferred values of `@effect/workflow`.
 */
import * as Activity from "@effect/workflow/Activity"
import * as DurableClock from "@effect/workflow/DurableClock"
import * as DurableDeferred from "@effect/workflow/DurableDeferred"
import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import type * as Ask from "@effect-mcp/core/Ask"
import type * as DetachedTask from "@effect-mcp/core/DetachedTask"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { AskError } from "@effect-mcp/core/ServerSession"
import type { StoredTask, TaskOutcome, TaskStoreError } from "@effect-mcp/core/TaskStore"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Durable } from "../Durable.js"
import type { DurableTask } from "../DurableTask.js"

type Engine = WorkflowEngine | WorkflowInstance

/**
 * Runs a body to its end. For a step that has already ended, the engine gives the stored result. Any other step runs. Fails with the
 * failure of a step, and dies when two steps have the same name.
 */
export const run = <A, R>(body: Generator<Durable<any, any, R>, A, any>): Effect.Effect<A, unknown, R | Engine> =>
  Effect.gen(function*() {
    const names = new Set<string>()
    let next = body.next()
    while (next.done !== true) {
      const step = next.value
      if (names.has(step.name)) {
        return yield* Effect.dieMessage(
          `The body of a durable tool has two steps "${step.name}": give each its own name`
        )
      }
      names.add(step.name)
      const failed = yield* Effect.either(step.effect)
      next = failed._tag === "Right" ? body.next(failed.right) : yield* Effect.fail(failed.left)
    }
    return next.value
  })

/** Repeats the effect while the store of tasks refuses the request or does not answer. Any other error of the store becomes a defect. */
export const untilStored = <A, R>(effect: Effect.Effect<A, TaskStoreError, R>): Effect.Effect<A, never, R> =>
  Effect.orDie(Effect.retry(effect, {
    schedule: Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("1 second")),
    while: ({ reason }) => reason === "Refused" || reason === "Unavailable"
  }))

/** Returns the deferred value that is done when the client has answered the question with this key. */
export const answerOf = (key: string): DurableDeferred.DurableDeferred<typeof Schema.Void> =>
  DurableDeferred.make(`answer/${key}`)

/** How long a body waits for an answer in the store of tasks after a node has reported that there is an answer. */
const STORING = Duration.seconds(10)

/** An answer of the client, as the engine stores it; `null` when the store of tasks did not get the answer. */
const Answer = Schema.NullOr(Schema.Union(
  Schema.Struct({ result: Schema.Record({ key: Schema.String, value: Schema.Unknown }) }),
  Schema.Struct({
    error: Schema.Struct({ code: Schema.Number, message: Schema.String, data: Schema.optional(Schema.Unknown) })
  })
))

/** Why a question cannot be asked; `null` when the question was asked. */
const Refusal = Schema.NullOr(
  Schema.Struct({ code: Schema.Number, message: Schema.String, data: Schema.optional(Schema.Unknown) })
)

/** Makes the object with the functions that the body of a task can call. */
export const task = (tasks: DetachedTask.DetachedTasks, reference: DetachedTask.Reference): DurableTask => ({
  taskId: reference.taskId,
  step: (name, { failure, run, success }) =>
    new Durable(
      `step "${name}"`,
      Activity.make({
        name: `step/${name}`,
        success: success ?? Schema.Void as Schema.Schema<any>,
        error: failure ?? Schema.Never as unknown as Schema.Schema<any>,
        execute: run
      })
    ),
  sleep: (name, duration) => new Durable<void>(`sleep "${name}"`, DurableClock.sleep({ name, duration })),
  progress: (message) => Effect.asVoid(Effect.ignore(tasks.progress(reference, message))),
  ask: (name, questions) =>
    new Durable<any, AskError>(
      `ask "${name}"`,
      Effect.map(
        Effect.forEach(Object.entries(questions), ([key, question]) =>
          Effect.map(ask(tasks, reference, `${name}.${key}`, question), (answer) =>
            [key, answer] as const)),
        Object.fromEntries
      )
    )
})

/**
 * Asks until an answer fits the question, each time with a key that the task has not used before. Fails when the client cannot be asked,
 * and when the client has answered with an error.
 */
const ask = Effect.fnUntraced(function*<A>(
  tasks: DetachedTask.DetachedTasks,
  reference: DetachedTask.Reference,
  name: string,
  question: Ask.Question<A>
): Effect.fn.Return<A, AskError, Engine> {
  for (let n = 1;; n++) {
    const key = n === 1 ? name : `${name}-${n}`
    const refusal = yield* Activity.make({
      name: `ask/${key}`,
      success: Refusal,
      execute: put(tasks, reference, key, question)
    })
    if (refusal !== null) return yield* McpError.fromWire(refusal)
    yield* DurableDeferred.await(answerOf(key))
    const answer = yield* Activity.make({
      name: `answer/${key}`,
      success: Answer,
      execute: taken(tasks, reference, key)
    })
    yield* Activity.make({ name: `forget/${key}`, execute: Effect.asVoid(untilStored(tasks.forget(reference, key))) })
    if (answer === null) continue
    const decoded = yield* Effect.either(tasks.decode(reference, key, question, answer as TaskOutcome))
    if (decoded._tag === "Right") return decoded.right
    if (decoded.left._tag !== "InvalidParams" || "error" in answer) return yield* Effect.fail(decoded.left)
  }
})

/**
 * Asks a question. Returns why the client cannot be asked, or `null` when the question was asked. Tries again while the store of tasks
 * cannot be reached.
 */
const put = (
  tasks: DetachedTask.DetachedTasks,
  reference: DetachedTask.Reference,
  key: string,
  question: Ask.Question<any>
): Effect.Effect<typeof Refusal.Type> =>
  Effect.matchEffect(
    Effect.retry(tasks.ask(reference, key, question), {
      schedule: Schedule.spaced("1 second"),
      while: (error) => error._tag === "TaskStoreError" && error.reason !== "Full"
    }),
    {
      onFailure: (error) =>
        error._tag === "TaskStoreError"
          ? Effect.succeed({ code: -32603, message: error.message })
          : Effect.succeed(McpError.toWire(error, reference.revision === "2026-07-28" ? "modern" : "legacy")),
      onSuccess: () => Effect.succeed(null)
    }
  )

/**
 * Returns the answer of the client as soon as the store of tasks has the answer. Returns `null` after the time `STORING`, because the node
 * that reported the answer may have ended before it stored the answer.
 */
const taken = (
  tasks: DetachedTask.DetachedTasks,
  reference: DetachedTask.Reference,
  key: string
): Effect.Effect<typeof Answer.Type> => {
  const answers = Stream.filterMap(
    tasks.changes(reference),
    ({ answers }: StoredTask) => Object.hasOwn(answers, key) ? Option.fromNullable(answers[key]) : Option.none()
  )
  return Effect.map(
    TimeLimit.end(untilStored(Stream.runHead(answers)), STORING),
    (answer) => (Option.getOrNull(Option.flatten(answer)) as typeof Answer.Type)
  )
}
