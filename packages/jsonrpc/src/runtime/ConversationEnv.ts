/**
 * What the conversations of one context have in common: the runtime of their fibers and the clock of their deadlines.
 * Both are read once, so that a conversation allocates no runtime of its own.
 */
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Edition from "../kit/Edition.js"

export interface ConversationEnv {
  readonly runtime: Edition.Services
  /** The runtime with the context of a request. */
  readonly inContext: (context: Context.Context<never>) => Edition.Services
  readonly clock: Clock.Clock
}

export const current: Effect.Effect<ConversationEnv> = Effect.zipWith(
  // Handlers can be interrupted, even when the conversation is made in an uninterruptible region.
  Edition.services,
  Effect.clock,
  (runtime, clock) => ({ runtime, clock, inContext: Edition.inContext(runtime) })
)
