/**
 * The call/return machine behind a conversation: it sorts what comes in, runs a fiber for each request, waits for the answers
 * to ours, and ends both sides of every exchange in exactly one way.
 *
 * Receiving is ordered and never waits, exchanges run beside one another. It knows no method name but
 * `notifications/cancelled` and `notifications/progress`. It has no fiber of its own: who reads for it is not known here.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import type { Conversation, Options, Side } from "../Conversation.js"
import { Diagnostic, log } from "../Diagnostic.js"
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"
import type { CallError, Outbound, RequestOptions } from "../Outbound.js"
import { NoBackChannel } from "../Outbound.js"
import * as Progress from "../Progress.js"
import * as Transport from "../Transport.js"
import * as DeadlineTimer from "./DeadlineTimer.js"
import * as InFlight from "./InFlight.js"
import * as Outcome from "./Outcome.js"
import * as Pending from "./Pending.js"

/**
 * How many messages a batch may hold.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_BATCH = 100

/**
 * How many diagnostics may be in the middle of being reported.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_REPORTS = 64

/**
 * What conversations of one context have in common.
 *
 * @since 0.1.0
 * @category models
 */
export interface Surroundings {
  readonly runtime: Runtime.Runtime<never>
  readonly fiberRefs: FiberRefs.FiberRefs
  readonly clock: Clock.Clock
}

/**
 * Those of the context that this is run in.
 *
 * @since 0.1.0
 * @category constructors
 */
export const surroundings: Effect.Effect<Surroundings> = Effect.zipWith(
  Effect.runtime<never>(),
  Effect.clock,
  (own, clock) => {
    // Handlers can be interrupted, also where making a conversation cannot.
    const runtime = Runtime.enableRuntimeFlag(own, RuntimeFlags.Interruption)
    // Each request brings a context of its own.
    return { runtime, clock, fiberRefs: FiberRefs.delete(runtime.fiberRefs, FiberRef.currentContext) }
  }
)

const PATIENCE = "5 seconds"

/**
 * @since 0.1.0
 * @category models
 */
export class Machine implements Conversation {
  side!: Side
  private readonly inflight: InFlight.InFlight
  private readonly calls: Pending.Pending
  private reports: Set<Fiber.RuntimeFiber<void>> | undefined
  private closing = false
  /** How it ended, and who waits for that. */
  private over: Exit.Exit<void, Transport.TransportError> | undefined
  private done: Deferred.Deferred<void, Transport.TransportError> | undefined

  static make(
    around: Surroundings,
    transport: Transport.Transport,
    side: Side | ((outbound: Outbound) => Side),
    options: Options
  ): Machine {
    const machine = new Machine(around.runtime, transport, options, around)
    machine.side = typeof side === "function" ? side(machine) : side
    return machine
  }

  private constructor(
    private readonly runtime: Runtime.Runtime<never>,
    private readonly transport: Transport.Transport,
    private readonly options: Options,
    around: Surroundings
  ) {
    this.calls = new Pending.Pending(
      (ring) => new DeadlineTimer.DeadlineTimer(around.runtime, around.clock, ring),
      options.timeout === undefined ? Infinity : DeadlineTimer.millis(options.timeout)
    )
    this.inflight = new InFlight.InFlight(
      around,
      this.calls,
      options.maxInFlight ?? InFlight.MAX_IN_FLIGHT,
      (diagnostic) => this.report(diagnostic),
      transport
    )
  }

  get ended(): Effect.Effect<void, Transport.TransportError> {
    return Effect.suspend(() => this.over ?? Deferred.await(this.done ??= Deferred.unsafeMake(FiberId.none)))
  }

  get close(): Effect.Effect<void> {
    return Effect.withFiberRuntime((fiber) => {
      this.finish(Exit.void)
      // A handler in its first steps is not known by its fiber yet.
      return Effect.zipRight(
        Effect.yieldNow(),
        Effect.suspend(() => this.inflight.runs(fiber) ? Effect.void : Effect.ignore(this.ended))
      )
    })
  }

  readonly inFlight = () => this.inflight.size

  readonly pending = () => this.calls.size

  readonly request = (
    method: string,
    params?: Message.Params,
    options?: RequestOptions
  ): Effect.Effect<Message.Params, CallError> => {
    const { canAsk, unsafeSend } = this.transport
    const call = this.calls.request(unsafeSend, method, params, options)
    return canAsk === undefined
      ? call
      : Effect.suspend(() => canAsk() ? call : Effect.fail(new NoBackChannel({ method })))
  }

  readonly notify = (method: string, params?: Message.Params): Effect.Effect<void> =>
    Effect.suspend(() =>
      this.closing ? Effect.void : Effect.ignore(this.transport.send(Message.notification(method, params)))
    )

  readonly receive = (incoming: Message.Delivery, channel: InFlight.Channel = this.transport): void => {
    if (Message.isUndelivered(incoming)) return void this.calls.lose(incoming)
    if (Message.isMalformed(incoming)) return this.malformed(incoming, channel)
    if (Message.isResponse(incoming)) return this.response(incoming)
    if (Message.isRequest(incoming)) return this.asked(incoming, channel)
    this.told(incoming, channel)
  }

  /**
   * Closes on account of how the transport ended; the first call decides. Closing has a fiber of its own: whoever asked
   * for it may be among those that it interrupts.
   */
  finish(exit: Exit.Exit<void, Transport.TransportError>): void {
    if (this.closing) return
    this.closing = true
    const fault = Exit.isFailure(exit) ? faultOf(exit.cause) : undefined
    if (this.isIdle) this.end(fault)
    else Runtime.runFork(this.runtime, this.wind(fault))
  }

  private get isIdle(): boolean {
    return this.inflight.isIdle && this.calls.size === 0 && !this.calls.isAlarmed && (this.reports?.size ?? 0) === 0
  }

  private end(fault: Transport.TransportError | undefined): void {
    this.calls.close(fault)
    this.over = fault === undefined ? Exit.void : Exit.fail(fault)
    if (this.done !== undefined) Deferred.unsafeDone(this.done, this.over)
  }

  /** Waits for it, but no longer than closing may take. */
  patiently(effect: Effect.Effect<unknown>): Effect.Effect<unknown> {
    return Effect.timeoutOption(Effect.interruptible(effect), this.options.closeTimeout ?? PATIENCE)
  }

  private wind(fault: Transport.TransportError | undefined): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      // Handlers first: one that waits for the peer was interrupted, it did not fail.
      this.inflight.stop()
      const alarm = this.calls.close(fault)
      return this.inflight.close(Duration.decode(this.options.closeTimeout ?? PATIENCE)).pipe(
        Effect.zipRight(alarm === undefined ? Effect.void : Fiber.await(alarm)),
        Effect.zipRight(Effect.suspend(() => this.reported())),
        Effect.zipRight(Effect.sync(() => this.end(fault)))
      )
    })
  }

  private asked(request: Message.Request, channel: InFlight.Channel): void {
    if (this.closing) {
      channel.unsafeSend(Outcome.toMessage(request.id, Outcome.closing))
      return
    }
    const exchange = this.inflight.reserve(channel, request)
    if (exchange === "busy") {
      this.refuse(request, channel, JsonRpcError.INVALID_REQUEST, "Invalid request: the id is already in flight")
      this.report(Diagnostic.DuplicateRequest({ id: request.id, method: request.method }))
    } else if (exchange === "full") {
      const { limit } = this.inflight
      this.refuse(request, channel, JsonRpcError.UNAVAILABLE, `Too many requests: ${limit} are in flight`)
      this.report(Diagnostic.Overloaded({ method: request.method, limit }))
    } else {
      this.inflight.start(exchange, Outcome.attempt(() => this.side.request(request, exchange), dead))
    }
  }

  private told(notification: Message.Notification, channel: InFlight.Channel): void {
    if (this.closing) return
    const { method, params } = notification
    if (method === Pending.CANCELLED && Message.isRequestId(params?.requestId)) {
      this.inflight.cancel(channel, params.requestId)
    } else if (method === Progress.METHOD && this.calls.progress(params)) {
      return
    }
    const handler = Outcome.attempt(() => this.side.notification(notification, channel), Effect.failCause)
    if (handler !== undefined) this.inflight.handle(method, handler)
  }

  private response(response: Message.Response): void {
    if (this.calls.settle(response)) return
    if (response.id === undefined || response.id === null) {
      this.report(Diagnostic.UnattributedError({ error: (response as Message.Failure).error }))
    } else {
      this.report(Diagnostic.UnknownResponse({ response, late: this.calls.wasIssued(response.id) }))
    }
  }

  private malformed(malformed: Message.Malformed, channel: InFlight.Channel): void {
    const { batch } = malformed
    if (batch !== undefined && batch.length > 0 && batch.length <= MAX_BATCH && this.takesBatches()) {
      for (const element of batch) {
        const incoming = Message.fromUnknown(element)
        // A batch in a batch is a malformed request, whatever is in it.
        if (Message.isMalformed(incoming)) this.spoilt(incoming, channel)
        else this.receive(incoming, channel)
      }
      return
    }
    this.spoilt(malformed, channel)
  }

  private spoilt(malformed: Message.Malformed, channel: InFlight.Channel): void {
    if (malformed.kind === "request") channel.unsafeSend(Message.malformedResponse(malformed))
    if (malformed.kind === "response") this.calls.spoil(malformed)
    this.report(Diagnostic.Malformed({ malformed }))
  }

  private refuse(request: Message.Request, channel: InFlight.Channel, code: number, message: string): void {
    channel.unsafeSend(Message.failure(request.id, { code, message }))
  }

  private takesBatches(): boolean {
    return Outcome.attempt(() => this.options.batches?.() === true, () => false)
  }

  // On a fiber, so that whatever the application does with it cannot break the reader. Diagnostics that come faster than
  // they can be reported are lost.
  private report(diagnostic: Diagnostic): void {
    const reports = this.reports ??= new Set()
    if (reports.size >= MAX_REPORTS) return
    const fiber = Runtime.runFork(this.runtime, Effect.suspend(() => (this.options.report ?? log)(diagnostic)))
    if (fiber.unsafePoll() !== null) return
    reports.add(fiber)
    fiber.addObserver(() => reports.delete(fiber))
  }

  /** Waits for reports that are still being made; those that take too long are interrupted. */
  private reported(): Effect.Effect<unknown> {
    if (this.reports === undefined || this.reports.size === 0) return Effect.void
    const reports = [...this.reports]
    return Effect.zipRight(
      this.patiently(Fiber.awaitAll(reports)),
      Effect.sync(() => reports.forEach((report) => report.unsafeInterruptAsFork(report.id())))
    )
  }
}

const dead = (defect: Cause.Cause<never>): InFlight.Work => ({
  effect: Effect.failCause(defect),
  reply: Outcome.fromExit
})

const faultOf = (cause: Cause.Cause<Transport.TransportError>): Transport.TransportError | undefined =>
  Cause.isInterruptedOnly(cause) ? undefined : Option.getOrElse(
    Cause.failureOption(cause),
    () => new Transport.TransportError({ reason: "Read", message: "The transport died", cause })
  )
