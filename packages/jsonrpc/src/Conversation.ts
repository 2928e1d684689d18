/**
 * A conversation over one transport: requests in both directions, each with one answer, until one side has had enough. It is
 * bidirectional and knows no side; what the methods mean is said above, how messages travel below.
 *
 * How it is made to go on, and to end, is in `Machine`.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Diagnostic } from "./Diagnostic.js"
import type * as JsonRpcError from "./JsonRpcError.js"
import type * as Message from "./Message.js"
import type { Outbound } from "./Outbound.js"
import type * as InFlight from "./runtime/InFlight.js"
import { Machine, surroundings } from "./runtime/Machine.js"
import * as Outcome from "./runtime/Outcome.js"
import * as Transport from "./Transport.js"

/**
 * What one side does with what it is asked and told. Both functions are called in the order of arrival, before anything
 * that arrived later is looked at; the effects they give run beside one another, and their first steps at once.
 *
 * @since 0.1.0
 * @category models
 */
export interface Side {
  readonly request: (request: Message.Request, exchange: InFlight.IncomingRequest) => InFlight.Work
  /** Gives what is to be done about it, if anything. A failing handler is reported and costs nothing else. */
  readonly notification: (
    notification: Message.Notification,
    channel: InFlight.Channel
  ) => Effect.Effect<void> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long our requests wait when they do not say so themselves. Default: for ever. */
  readonly timeout?: Duration.DurationInput | undefined
  /** How many of the peer's requests may be in flight; more are answered with -32000. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How long closing waits for handlers that cannot be interrupted. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /** Hears of everything that is odd and ends nothing, of 64 things at a time. Default: `Diagnostic.log`. */
  readonly report?: ((diagnostic: Diagnostic) => Effect.Effect<void>) | undefined
  /** Whether the peer may send JSON-RPC batches now. Default: never. */
  readonly batches?: (() => boolean) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Conversation extends Outbound {
  /** Takes in one more message, from the transport or from a channel beside it; answers leave on that channel. */
  readonly receive: (incoming: Message.Delivery, channel?: InFlight.Channel) => void
  /**
   * Ends the conversation: fails our calls, interrupts what we are answering, answers it once. Safe to run twice. Waits
   * for the end, except in a handler, which is what it would wait for.
   */
  readonly close: Effect.Effect<void>
  /** Waits until the conversation has ended; fails if the transport did. */
  readonly ended: Effect.Effect<void, Transport.TransportError>
  /** How many of the peer's requests are being answered now. */
  readonly inFlight: () => number
  /** How many of our requests wait for an answer now. */
  readonly pending: () => number
}

/**
 * Starts a conversation over a transport. It ends when the scope closes, and when the peer says no more: then our calls
 * fail with `ConnectionClosed`, and handlers are interrupted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  transport: Transport.Transport,
  side: Side | ((outbound: Outbound) => Side),
  options: Options = {}
): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.gen(function*() {
    const machine = Machine.make(yield* surroundings, transport, side, options)
    // A daemon, because closing must finish before reading stops: the two share the pipe.
    yield* Effect.acquireRelease(
      Effect.forkDaemon(Effect.interruptible(
        Effect.onExit(
          Effect.suspend(() => Transport.run(transport, machine.receive)),
          (exit) => Effect.sync(() => machine.finish(exit))
        )
      )),
      (reader) => Effect.ensuring(machine.close, machine.patiently(Fiber.interrupt(reader)))
    )
    return machine
  })

/**
 * A way to make conversations that nobody reads for: whoever makes one hands it what comes in, by `receive`, and closes
 * it. Each costs an object, and no fiber; all run in the context that this is run in. A transport's `incoming` is not
 * looked at.
 *
 * @since 0.1.0
 * @category constructors
 */
export const maker: Effect.Effect<
  (transport: Transport.Transport, side: (outbound: Outbound) => Side, options?: Options) => Conversation
> = Effect.map(
  surroundings,
  (around) => (transport, side, options = {}) => Machine.make(around, transport, side, options)
)

/**
 * A side out of a function: a request, and an `Outbound` to speak through meanwhile, give an effect of a result.
 *
 * @since 0.1.0
 * @category constructors
 */
export const side = <R = never, R2 = never>(handlers: {
  readonly request: (
    request: Message.Request,
    outbound: Outbound
  ) => Effect.Effect<Message.Params, JsonRpcError.JsonRpcError, R>
  readonly notification?: ((notification: Message.Notification) => Effect.Effect<void, never, R2>) | undefined
}): Effect.Effect<Side, never, R | R2> =>
  Effect.map(Effect.context<R | R2>(), (context) => ({
    request: (request, exchange) => ({
      effect: Effect.suspend(() => handlers.request(request, exchange)) as Effect.Effect<unknown, unknown>,
      context: context as Context.Context<never>,
      reply: Outcome.fromExit
    }),
    notification: (notification) =>
      handlers.notification === undefined
        ? undefined
        : Effect.provide(Effect.suspend(() => handlers.notification!(notification)), context)
  }))
