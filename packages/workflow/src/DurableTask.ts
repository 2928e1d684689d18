/**
 * Defines the functions that the body of a durable tool can call. These functions make steps, questions to the client, and waits. Each
 * step, question and wait has a name, which must be unique in the body. The engine stores the result under this name. So when a new version
 * of your program gives a step another name, the engine runs the step again, even in tasks that are already running.
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
  /** The schema with which the engine stores the result of the step. Without this option the step has no result. */
  readonly success?: Schema.Schema<A, any> | undefined
  /** The schema with which the engine stores the failure of the step. Without this option the step cannot fail. */
  readonly failure?: Schema.Schema<E, any> | undefined
  /**
   * The effect of the step. When the process ends before the effect has ended, the effect begins again at another process. So the effect
   * must be idempotent. After a defect the task ends as failed.
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
  /**
   * Runs an effect, and stores its result. An effect that has ended never runs again. Before its end, an effect may begin several times.
   */
  readonly step: <A = void, E = never, R = never>(name: string, options: StepOptions<A, E, R>) => Durable<A, E, R>
  /**
   * Asks the client. The task has the status `input_required` until the client has answered all questions. This may take days, and no code
   * of the task runs during this time. When an answer does not fit its question, the task asks the question again.
   */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    name: string,
    questions: Q
  ) => Durable<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /** Waits for a duration. The time also passes while no process of the server runs. */
  readonly sleep: (name: string, duration: Duration.DurationInput) => Durable<void>
  /**
   * Stores the first 1,000 characters of the message as the status message of the task. Call this function in the effects of steps. It
   * never fails.
   */
  readonly progress: (message: string) => Effect.Effect<void>
}
