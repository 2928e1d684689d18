/**
 * What the body of a durable tool can do: steps, questions, waits. Each has a name that is unique in its body, and the engine stores the
 * result under this name. So a step with another name in a new version of the program is a new step, also for tasks that are under way.
 *
 * @since 0.1.0
 */
import type * as Ask from "@effect-mcp/core/Ask"
import type { AskError } from "@effect-mcp/core/ServerSession"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Durable } from "./Durable.js"

/**
 * The options of `DurableTask.step`.
 *
 * @category models
 */
export interface StepOptions<A, E, R> {
  /** How the engine stores the result of the step. Default: the step has no result. */
  readonly success?: Schema.Schema<A, any> | undefined
  /** How the engine stores the failure of the step. Default: the step cannot fail. */
  readonly failure?: Schema.Schema<E, any> | undefined
  /**
   * The effect of the step. When its process ends before the effect has ended, the effect begins again at another process: it must be
   * idempotent. A defect ends the task as failed.
   */
  readonly run: Effect.Effect<NoInfer<A>, NoInfer<E>, R>
}

/**
 * The functions that the body of a durable tool may call, and the id of its task.
 *
 * @category models
 */
export interface DurableTask {
  /**
   * The id of the task. Do not log the id: on a server without users, anyone who knows the id can read the task, answer its questions and
   * cancel it.
   */
  readonly taskId: string
  /** Runs an effect, and stores its result. An effect that has ended never runs again; until then it may begin several times. */
  readonly step: <A = void, E = never, R = never>(name: string, options: StepOptions<A, E, R>) => Durable<A, E, R>
  /**
   * Asks the client. The task is `input_required` until the client has answered all questions, for days if need be, and nothing runs
   * meanwhile. When an answer does not fit its question, the question is asked again.
   */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    name: string,
    questions: Q
  ) => Durable<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /** Waits, also while no process runs. */
  readonly sleep: (name: string, duration: Duration.DurationInput) => Durable<void>
  /**
   * Stores the first 1,000 characters of the message as the status message of the task. It is for the effects of steps, and never fails.
   */
  readonly progress: (message: string) => Effect.Effect<void>
}
