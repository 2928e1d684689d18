/**
 * Defines the type of a step in the body of a durable tool. The body yields the step, and gets the result of the step. A step is not an
 * `Effect`. So the body cannot run other effects, and cannot run two steps at the same time. Otherwise the body could make other decisions
 * when the engine runs the body again.
 *
 * `DurableTask` makes steps. `runtime/Body` runs them.
 *
 * @since 0.1.0
 */
import type { WorkflowEngine, WorkflowInstance } from "@effect/workflow/WorkflowEngine"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"

/**
 * A step of the body of a durable tool.
 *
 * @category models
 */
export class Durable<out A, out E = never, out R = never> {
  constructor(
    /** The name of the step, which is unique in its body. */
    readonly name: string,
    /** The effect that runs the step, inside of a workflow. */
    readonly effect: Effect.Effect<A, E, R | WorkflowEngine | WorkflowInstance>
  ) {}

  /**
   * The same step, with the result as an `Either`: a success is a `Right`, and a failure is a `Left`. So a failure of the step does not end
   * the body.
   */
  get either(): Durable<Either.Either<A, E>, never, R> {
    return new Durable(this.name, Effect.either(this.effect))
  }

  *[Symbol.iterator](): Generator<Durable<A, E, R>, A, any> {
    return yield this
  }
}

/** @category models */
export declare namespace Durable {
  /** The failures of a step. */
  export type Error<D> = D extends Durable<any, infer E, any> ? E : never

  /** The services that a step requires. */
  export type Context<D> = D extends Durable<any, any, infer R> ? R : never
}
