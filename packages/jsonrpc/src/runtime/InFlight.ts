/**
 * Requests we are answering, by channel and id, and how to stop them: the room that starts a request's fiber, records why
 * it was interrupted, and sees to it that each ends in exactly one answer, or in the silence that a cancel asks for.
 *
 * A channel is one way for answers to leave: the pipe itself, or one POST of many. Equal ids on two channels are two
 * requests. What we have asked the peer is `Pending`.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as FiberRefs from "effect/FiberRefs"
import * as Runtime from "effect/Runtime"
import { Diagnostic } from "../Diagnostic.js"
import * as Message from "../Message.js"
import type { CallError, Outbound, RequestOptions } from "../Outbound.js"
import { NoBackChannel } from "../Outbound.js"
import type { Transport } from "../Transport.js"
import * as Outcome from "./Outcome.js"
import type { Pending } from "./Pending.js"
import { twinOf } from "./Pending.js"

/**
 * How many requests may be in flight at once, and how many notifications may be being handled.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_IN_FLIGHT = 64

/**
 * A way for answers to leave.
 *
 * @since 0.1.0
 * @category models
 */
export interface Channel extends Pick<Transport, "send" | "unsafeSend" | "canAsk"> {
  /**
   * Hears of a request on it that will not be answered, because the peer has cancelled it. A pipe leaves this out: silence
   * is what its peer expects.
   */
  readonly unanswered?: ((id: Message.RequestId) => void) | undefined
  /** What is known of where it comes from, for the layers above. Not looked at here. */
  readonly facts?: unknown
}

/**
 * How one request is served: an effect to run on a fiber of its own, and what to make of its end.
 *
 * @since 0.1.0
 * @category models
 */
export interface Work {
  readonly effect: Effect.Effect<unknown, unknown>
  /** What the effect runs in; left out, the context that the conversation was made in. */
  readonly context?: Context.Context<never> | undefined
  /** The answer to the way the effect ended. Not asked when the request was cancelled. */
  readonly reply: (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome
  /** What is still to be released before the answer leaves, if anything. */
  readonly release?: ((exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void> | undefined) | undefined
  /** Whether the peer may cancel it. Default: true. */
  readonly cancellable?: boolean | undefined
}

/**
 * One request while it is being answered, and the way to speak to its sender meanwhile: once it is answered or cancelled,
 * requests are refused with `NoBackChannel` and notifications dropped.
 *
 * @since 0.1.0
 * @category models
 */
export class IncomingRequest implements Outbound {
  /** @internal */ fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  /** @internal */ reason: "cancelled" | "closing" | undefined
  /** @internal */ answered = false
  /** @internal */ cancellable = true
  /** @internal Whether more may be said on its behalf. */ open = true
  /** @internal How many notifications wait for room on the channel. */ sending = 0
  /** @internal */ whenSent: (() => void) | undefined

  constructor(
    readonly id: Message.RequestId,
    readonly method: string,
    /** What it came in on. */
    readonly channel: Channel,
    /** @internal */ readonly pending: Pending
  ) {}

  request(method: string, params?: Message.Params, options?: RequestOptions): Effect.Effect<Message.Params, CallError> {
    return Effect.suspend(() =>
      this.open && this.channel.canAsk?.() !== false
        ? this.pending.request(this.channel.unsafeSend, method, params, options)
        : Effect.fail(new NoBackChannel({ method }))
    )
  }

  notify(method: string, params?: Message.Params): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.open
        ? Effect.acquireUseRelease(
          Effect.sync(() => this.sending++),
          () => Effect.ignore(this.channel.send(Message.notification(method, params))),
          () =>
            Effect.sync(() => {
              if (--this.sending === 0) this.whenSent?.()
            })
        )
        : Effect.void
    )
  }
}

/**
 * @since 0.1.0
 * @category models
 */
export class InFlight {
  private readonly channels = new Map<Channel, Map<Message.RequestId, IncomingRequest>>()
  private notifications: Map<Fiber.RuntimeFiber<void>, string> | undefined
  private whenIdle: Set<() => void> | undefined
  private requests = 0

  constructor(
    private readonly around: {
      readonly runtime: Runtime.Runtime<never>
      /** Those of the runtime, without a context: each request brings its own. */
      readonly fiberRefs: FiberRefs.FiberRefs
    },
    private readonly pending: Pending,
    readonly limit: number,
    private readonly report: (diagnostic: Diagnostic) => void,
    /** The one channel that stays: its table is not made anew whenever it has been empty. */
    private readonly main?: Channel
  ) {}

  /** How many requests are being answered. */
  get size(): number {
    return this.requests
  }

  /** Reserves the id; gives the answer to send instead when the id is busy or too much is in flight. */
  reserve(channel: Channel, request: Message.Request): IncomingRequest | "busy" | "full" {
    let exchanges = this.channels.get(channel)
    if (exchanges?.has(request.id) === true) return "busy"
    if (this.requests >= this.limit) return "full"
    if (exchanges === undefined) this.channels.set(channel, exchanges = new Map())
    const exchange = new IncomingRequest(request.id, request.method, channel, this.pending)
    exchanges.set(request.id, exchange)
    this.requests++
    return exchange
  }

  /** Runs the work of a reserved request. Its first steps run before this returns. */
  start(exchange: IncomingRequest, work: Work): void {
    exchange.cancellable = work.cancellable !== false
    const fiber = Runtime.runFork(this.runtimeOf(work.context), work.effect)
    exchange.fiber = fiber
    fiber.addObserver((exit) => this.ended(exchange, work, exit))
    // It was interrupted while it ran its first steps.
    if (exchange.reason !== undefined) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  /** Runs the handler of a notification; dropped when too many are being handled. */
  handle(method: string, handler: Effect.Effect<void>): void {
    const notifications = this.notifications ??= new Map()
    if (notifications.size >= this.limit) return this.report(Diagnostic.Overloaded({ method, limit: this.limit }))
    const fiber = Runtime.runFork(this.around.runtime, handler)
    const exit = fiber.unsafePoll()
    if (exit !== null) return this.handled(method, exit)
    notifications.set(fiber, method)
    fiber.addObserver((exit) => {
      notifications.delete(fiber)
      this.handled(method, exit)
      this.settle()
    })
  }

  /** Interrupts the request that the peer no longer wants. Unknown and finished ones are none of our business. */
  cancel(channel: Channel, id: Message.RequestId): void {
    const twin = twinOf(id)
    const found = this.channels.get(channel)?.get(id) ?? this.search(id) ??
      (twin === undefined ? undefined : this.channels.get(channel)?.get(twin) ?? this.search(twin))
    if (found === undefined) return
    if (found === "several") return this.report(Diagnostic.AmbiguousCancel({ id }))
    if (found.cancellable) this.interrupt(found, "cancelled")
  }

  /** Whether the fiber is the one of a handler. */
  runs(fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean {
    return this.notifications?.has(fiber as Fiber.RuntimeFiber<void>) === true ||
      this.exchanges().some((exchange) => exchange.fiber === fiber)
  }

  /** Interrupts everything. Nothing may be reserved any more. */
  stop(): void {
    for (const exchange of this.exchanges()) this.interrupt(exchange, "closing")
    for (const fiber of this.notifications?.keys() ?? []) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  /** Waits for what was stopped, for that long, and answers what still runs on its behalf. */
  close(patience: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.isIdle
        ? Effect.void
        : Effect.zipRight(Effect.timeoutOption(this.idle, patience), Effect.sync(() => this.detach()))
    )
  }

  /** Whether nothing is being answered, and no notification handled. */
  get isIdle(): boolean {
    return this.requests === 0 && (this.notifications?.size ?? 0) === 0
  }

  private detach(): void {
    for (const exchange of this.exchanges()) {
      this.report(Diagnostic.Detached({ method: exchange.method }))
      this.answer(exchange, Outcome.closing)
    }
    for (const method of this.notifications?.values() ?? []) this.report(Diagnostic.Detached({ method }))
  }

  private get idle(): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const wake = () => resume(Effect.void)
      if (this.isIdle) return wake()
      const waiting = this.whenIdle ??= new Set()
      waiting.add(wake)
      return Effect.sync(() => waiting.delete(wake))
    })
  }

  private exchanges(): ReadonlyArray<IncomingRequest> {
    return [...this.channels.values()].flatMap((exchanges) => [...exchanges.values()])
  }

  private search(id: Message.RequestId): IncomingRequest | "several" | undefined {
    let found: IncomingRequest | undefined
    for (const exchanges of this.channels.values()) {
      const exchange = exchanges.get(id)
      if (exchange === undefined) continue
      if (found !== undefined) return "several"
      found = exchange
    }
    return found
  }

  private interrupt(exchange: IncomingRequest, reason: "cancelled" | "closing"): void {
    exchange.reason ??= reason
    if (exchange.reason === "cancelled") exchange.open = false
    exchange.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  private ended(exchange: IncomingRequest, work: Work, exit: Exit.Exit<unknown, unknown>): void {
    const release = Outcome.attempt(() => work.release?.(exit), Effect.failCause)
    if (release === undefined) return this.finish(exchange, work, exit)
    Runtime.runFork(this.runtimeOf(work.context), release).addObserver((released) =>
      this.finish(exchange, work, released._tag === "Failure" && exit._tag === "Success" ? released : exit)
    )
  }

  private finish(exchange: IncomingRequest, work: Work, exit: Exit.Exit<unknown, unknown>): void {
    if (exchange.answered) return
    exchange.open = false
    if (exchange.reason === "cancelled") return this.silence(exchange)
    if (exchange.sending > 0) {
      // What was said before the answer leaves before it, also where it still waits for room.
      exchange.whenSent = () => this.finish(exchange, work, exit)
      return
    }
    const closed = exchange.reason === "closing" && exit._tag === "Failure" && Cause.isInterrupted(exit.cause)
    this.answer(exchange, closed ? Outcome.closing : Outcome.total(exit, work.reply))
  }

  private answer(exchange: IncomingRequest, reply: Outcome.Outcome): void {
    this.remove(exchange)
    if (reply.died !== undefined) {
      this.report(Diagnostic.HandlerDied({ method: exchange.method, cause: reply.died }))
    }
    this.tell(exchange, ({ channel, id }) => channel.unsafeSend(Outcome.toMessage(id, reply)))
  }

  private silence(exchange: IncomingRequest): void {
    this.remove(exchange)
    if (exchange.channel.unanswered !== undefined) this.tell(exchange, ({ channel, id }) => channel.unanswered!(id))
  }

  // From an observer, where not even a broken transport may throw.
  private tell(exchange: IncomingRequest, how: (exchange: IncomingRequest) => void): void {
    Outcome.attempt(
      () => how(exchange),
      (cause) => this.report(Diagnostic.HandlerDied({ method: exchange.method, cause }))
    )
  }

  private remove(exchange: IncomingRequest): void {
    exchange.answered = true
    exchange.open = false
    this.requests--
    const exchanges = this.channels.get(exchange.channel)!
    exchanges.delete(exchange.id)
    if (exchanges.size === 0 && exchange.channel !== this.main) this.channels.delete(exchange.channel)
    this.settle()
  }

  private handled(method: string, exit: Exit.Exit<void>): void {
    if (exit._tag === "Failure" && !Cause.isInterruptedOnly(exit.cause)) {
      this.report(Diagnostic.HandlerDied({ method, cause: exit.cause }))
    }
  }

  private settle(): void {
    if (this.whenIdle === undefined || this.whenIdle.size === 0 || !this.isIdle) return
    for (const wake of this.whenIdle) wake()
    this.whenIdle.clear()
  }

  private runtimeOf(context: Context.Context<never> | undefined): Runtime.Runtime<never> {
    const { fiberRefs, runtime } = this.around
    return context === undefined ? runtime : Runtime.make({
      context,
      fiberRefs,
      runtimeFlags: runtime.runtimeFlags
    })
  }
}
