/**
 * What the body of a durable tool can do: steps, questions, waits. Each has a name of its own in its body, under which the engine stores
 * what it gave: a name that changes in a new version of the program is a new step, for the tasks that are under way, too.
 *
 * @since 0.1.0
 */
import type * as Ask from "@effect-mcp/core/Ask"
import type { AskError } from "@effect-mcp/core/ServerSession"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Durable } from "./Durable.js"

/** @category models */
export interface StepOptions<A, E, R> {
  /** How the engine stores what the step gives. Default: it gives nothing. */
  readonly success?: Schema.Schema<A, any> | undefined
  /** How the engine stores the failure of the step. Default: it cannot fail. */
  readonly failure?: Schema.Schema<E, any> | undefined
  /**
   * Runs until it has ended once. When its process ends before, it begins again at another: it must be idempotent. A defect ends the task
   * as failed.
   */
  readonly run: Effect.Effect<NoInfer<A>, NoInfer<E>, R>
}

/** @category models */
export interface DurableTask {
  /**
   * The id of the task. On a server without users, who knows the id can read the task, answer its questions and cancel it: do not log
   * the id.
   */
  readonly taskId: string
  /** Runs an effect, and stores what it gives. Never repeated when it has ended; at least once until then. */
  readonly step: <A = void, E = never, R = never>(name: string, options: StepOptions<A, E, R>) => Durable<A, E, R>
  /**
   * Asks the client: the task is `input_required` until it has answered all of the questions, for days if need be, and nothing runs
   * meanwhile. An answer that does not fit to its question is asked for again.
   */
  readonly ask: <const Q extends Readonly<Record<string, Ask.Question<any>>>>(
    name: string,
    questions: Q
  ) => Durable<{ readonly [K in keyof Q]: Ask.Question.Answer<Q[K]> }, AskError>
  /** Waits, also while no process runs. */
  readonly sleep: (name: string, duration: Duration.DurationInput) => Durable<void>
  /** Stores the message of the status, of which it takes the first 1,000 characters. For the effects of steps. */
  readonly progress: (message: string) => Effect.Effect<void>
}
