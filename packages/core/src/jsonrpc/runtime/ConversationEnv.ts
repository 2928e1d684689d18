/**
 * What the conversations of one context (`Conversation`), and requests without one (`Requests`), have in common: the runtime of their
 * fibers and the clock of their deadlines. Both are read once, so that a conversation allocates no runtime of its own.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

export interface ConversationEnv {
  readonly runtime: EffectInternals.Services
  /** The runtime without a context: each request brings its own. */
  readonly rest: EffectInternals.Rest
  readonly clock: Clock.Clock
}

export const current: Effect.Effect<ConversationEnv> = Effect.zipWith(
  // Handlers can be interrupted, even when the conversation is made in an uninterruptible region.
  EffectInternals.services,
  Effect.clock,
  (runtime, clock) => ({ runtime, clock, rest: EffectInternals.restOf(runtime) })
)
