/**
 * The services for the fibers and the clock for the deadlines, which all conversations of one context (`Conversation`) share with requests
 * that have no conversation (`Requests`). They are read one time, so that a conversation allocates no services.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as EffectInternals from "../../kit/EffectInternals.js"

export interface ConversationEnv {
  readonly runtime: EffectInternals.Services
  /** The services without a context, because each request has a separate context. */
  readonly rest: EffectInternals.Rest
  readonly clock: Clock.Clock
}

export const current: Effect.Effect<ConversationEnv> = Effect.zipWith(
  // Handlers can be interrupted, also when the conversation is made in an uninterruptible region.
  EffectInternals.services,
  Effect.clock,
  (runtime, clock) => ({ runtime, clock, rest: EffectInternals.restOf(runtime) })
)
