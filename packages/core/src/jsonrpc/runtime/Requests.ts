/**
 * The requests of the peer that this side answers, by channel and id. `start` reserves the id of a request, and runs the handler on a fiber
 * when a permit is free. This module sends one answer for each request, or no answer if the peer has cancelled the request.
 *
 * There are two callers. A `Conversation` starts the requests of one peer. The HTTP modules without a conversation
 * (`server/legacy/Stateless`, `server/modern/Http`) start each request on a separate channel, and interrupt the request with the
 * `ActiveRequest` that `start` returns.
 *
 * The classes have mutable fields because this code runs for every request, and in the observers of fibers, where no Effect can run. A
 * fiber that awaits the fiber of the handler would add 14 µs to a call of 3 µs. A request is in `channels` from before it runs or waits
 * until it is answered. `closing` becomes `true` before any handler is interrupted, and stays `true`.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as EventLoop from "../../kit/EventLoop.js"
import { type Limits, Permits } from "../../kit/Semaphore.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Waking from "../../kit/Waking.js"
import { Diagnostic } from "../Diagnostic.js"
import * as JsonRpcError from "../JsonRpcError.js"
import { NoBackChannel } from "../LocalError.js"
import * as Message from "../Message.js"
import * as MessageText from "../MessageText.js"
import type { CallError, RequestOptions } from "../Outbound.js"
import * as Outcome from "../Outcome.js"
import * as Progress from "../Progress.js"
import type { Channel, IncomingRequest, OwnLimit, RequestSide, Work } from "../Side.js"
import type { Calls } from "./Calls.js"
import * as ConversationEnv from "./ConversationEnv.js"
import { attempt, Diagnostics, ofOutcome } from "./Diagnostics.js"
import { otherForm } from "./RequestIds.js"

/** How many characters of the reason of a cancellation are stored. */
const MAX_REASON = 1024

/** A limit for each client, for a server whose clients share one `Requests`. */
export interface PerClient {
  /** How many requests of one client may run at the same time. */
  readonly limit: number
  /** Returns the client to which a channel belongs. For a channel without a client, only the common limit of all clients applies. */
  readonly clientOf: (channel: Channel) => string | undefined
}

type RequestPermits = Permits<ActiveRequest, Message.Request>

/** The owner of the requests, such as a conversation. */
export interface Owner {
  /**
   * How many requests may run, and how many may wait. The limit for running requests is also the limit for running handlers of
   * notifications.
   */
  readonly limits: Limits
  readonly report: (diagnostic: Diagnostic) => void
  /** The requests of this side to the peer. Without `calls`, handlers cannot send requests. */
  readonly calls?: Calls | undefined
  /** A channel that exists until the requests close. Its table of requests stays when the table is empty. */
  readonly mainChannel?: Channel | undefined
  readonly perClient?: PerClient | undefined
}

/** Makes `Requests` that belong to no conversation. When the scope closes, the requests are interrupted and answered. */
export const make = (
  options: Pick<Owner, "limits" | "perClient"> & {
    /** How long the requests wait for handlers that cannot be interrupted when the scope closes. */
    readonly closeTimeout: Duration.DurationInput
    readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
  }
): Effect.Effect<Requests, never, Scope.Scope> =>
  Effect.flatMap(ConversationEnv.current, (env) => {
    const diagnostics = new Diagnostics(env.runtime, options.report)
    const requests = new Requests(env, { ...options, report: (diagnostic) => diagnostics.report(diagnostic) })
    return Effect.acquireRelease(Effect.succeed(requests), () =>
      Effect.flatMap(TimeLimit.shared(options.closeTimeout), (limited) => {
        requests.interruptAll()
        return Effect.zipRight(requests.close(limited), diagnostics.drain(limited))
      }))
  })

export class Requests {
  closing = false
  /** Whether handlers send no notifications except progress. Other notifications do not name the request to which they belong. */
  isQuiet = false
  /** The requests by channel and id. `undefined` until the first request, so that an idle session needs no memory for it. */
  private channels: Map<Channel, Map<Message.RequestId, ActiveRequest>> | undefined
  private notifications: Map<Fiber.RuntimeFiber<void>, string> | undefined
  private onIdle: Set<() => void> | undefined
  private count = 0
  private readonly permits: RequestPermits
  /** Additional permits for requests that never wait. These requests take an additional permit when no other permit is free. */
  private extraPermits: RequestPermits | undefined
  private clients: Map<string, RequestPermits> | undefined
  /** The permits for which requests wait. */
  private waitedFor: Set<RequestPermits> | undefined
  private starting = false

  constructor(
    private readonly env: Pick<ConversationEnv.ConversationEnv, "rest" | "runtime">,
    private readonly owner: Owner
  ) {
    this.permits = new Permits(owner.limits)
  }

  get size(): number {
    return this.count
  }

  get calls(): Calls | undefined {
    return this.owner.calls
  }

  get isIdle(): boolean {
    return this.count === 0 && (this.notifications?.size ?? 0) === 0
  }

  /**
   * Starts a request, or lets the request wait for a permit. The first steps of the handler run before `start` returns. Refuses a request
   * whose id another unanswered request has, and a request that must wait when too many requests wait already. Returns `undefined` for a
   * refused request.
   */
  start(channel: Channel, message: Message.Request, side: RequestSide): ActiveRequest | undefined {
    if (this.closing) return this.refuse(channel, message, closingOf(side, message))
    const { id, method } = message
    let requests = this.channels?.get(channel)
    if (requests?.has(id) === true) {
      return this.refuse(channel, message, busy, Diagnostic.DuplicateRequest({ id, method }))
    }
    const own = side.ownLimit?.(message, channel)
    let permits = own === undefined ? this.permitsOf(channel) : undefined
    let waits = !(own ?? permits!).enter()
    if (waits && permits !== undefined && attempt(() => side.neverWaits?.(method) === true, () => false)) {
      permits.settle()
      permits = this.extraPermits ??= new Permits({ ...this.permits.limits, waiting: 0 })
      waits = !permits.enter()
    }
    const text = waits ? MessageText.lengthOf(message) : 0
    if (waits && permits?.canWait(text) !== true) {
      permits?.settle()
      return permits === undefined
        ? this.refuse(channel, message, unserved(side, message, TOO_MANY_OPEN))
        : this.refuse(
          channel,
          message,
          unserved(side, message, overloaded(permits)),
          Diagnostic.Overloaded({ method, limit: permits.limits.running })
        )
    }
    if (requests === undefined) (this.channels ??= new Map()).set(channel, requests = new Map())
    const request = new ActiveRequest(id, method, channel, this, side, own ?? permits!)
    requests.set(id, request)
    this.count++
    if (waits) this.wait(request, permits!, message, text)
    else this.run(request, message)
    return request
  }

  private refuse(
    channel: Channel,
    { id, method }: Message.Request,
    outcome: Outcome.Outcome,
    diagnostic?: Diagnostic
  ): undefined {
    this.send(channel, { id, method }, outcome)
    if (diagnostic !== undefined) this.owner.report(diagnostic)
  }

  private wait(request: ActiveRequest, permits: RequestPermits, message: Message.Request, text: number): void {
    const { channel, id } = request
    permits.wait(request, message, text)
    request.waitsFor = permits
    request.closing = () => closingOf(request.side, message)
    this.waitedFor ??= new Set()
    this.waitedFor.add(permits)
    if (channel.onWaiting !== undefined) this.callChannel(message.method, () => channel.onWaiting!(id))
  }

  private run(request: ActiveRequest, message: Message.Request): void {
    const { cancellable, closing, context, effect, release, reply } = attempt(
      () => request.side.onRequest(message, request),
      dying
    )
    request.cancellable = cancellable !== false
    request.closing = closing
    request.reply = reply
    request.release = release
    request.context = context
    const fiber = EffectInternals.runFork(this.runtimeOf(context), effect)
    request.fiber = fiber
    fiber.addObserver((exit) => this.onExit(request, exit))
    // The request was interrupted in its first steps.
    if (request.reason !== undefined) EffectInternals.interrupt(fiber)
  }

  /** Starts waiting requests for which a permit is free now. */
  private startWaiting(): void {
    // A request that ends in its first steps frees a permit. Then the loop that already runs starts the next request.
    if (this.starting) return
    this.starting = true
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const [request, message] = next
      request.waitsFor = undefined
      const { channel, id } = request
      if (channel.onStarted !== undefined) this.callChannel(message.method, () => channel.onStarted!(id))
      this.run(request, message)
    }
    this.starting = false
  }

  /**
   * Takes a permit for the next waiting request, and returns the request; `undefined` when no request can start. The clients get permits in
   * turn.
   */
  private next(): readonly [ActiveRequest, Message.Request] | undefined {
    // This check avoids a loop over the permits of each client when no client can have a free permit.
    if (!this.permits.isFree) return undefined
    const waitedFor = this.waitedFor!
    for (const permits of waitedFor) {
      const next = permits.next()
      if (next === undefined && permits.size > 0) continue
      waitedFor.delete(permits)
      if (permits.size > 0) waitedFor.add(permits)
      if (next !== undefined) return next
    }
    return undefined
  }

  private permitsOf(channel: Channel): RequestPermits {
    const { perClient } = this.owner
    const client = perClient?.clientOf(channel)
    if (perClient === undefined || client === undefined) return this.permits
    const clients = this.clients ??= new Map()
    let permits = clients.get(client)
    if (permits === undefined) {
      permits = new Permits(
        { ...this.permits.limits, running: perClient.limit },
        this.permits,
        () => clients.delete(client)
      )
      clients.set(client, permits)
    }
    return permits
  }

  /** Runs the handler of a notification. Drops the notification when too many handlers of notifications run, or after closing has begun. */
  handle(method: string, handler: Effect.Effect<void>): void {
    // A cancellation is also a notification, and the handler that it has interrupted may have closed the conversation.
    if (this.closing) return
    const notifications = this.notifications ??= new Map()
    const limit = this.permits.limits.running
    if (notifications.size >= limit) return this.owner.report(Diagnostic.Overloaded({ method, limit }))
    const fiber = EffectInternals.runFork(this.env.runtime, handler)
    const exit = EffectInternals.exitOf(fiber)
    if (exit !== undefined) return this.reportDefect(method, exit)
    notifications.set(fiber, method)
    fiber.addObserver((exit) => {
      notifications.delete(fiber)
      this.reportDefect(method, exit)
      this.wakeIfIdle()
    })
  }

  /** Interrupts the request that the peer has cancelled. Ignores an id that no unanswered request has. */
  cancel(channel: Channel, id: Message.RequestId, reason: unknown): void {
    const other = otherForm(id)
    const own = this.channels?.get(channel)
    const found = own?.get(id) ?? this.search(id) ??
      (other === undefined ? undefined : own?.get(other) ?? this.search(other))
    if (found === undefined) return
    if (found === "several") return this.owner.report(Diagnostic.AmbiguousCancel({ id }))
    found.cancel(reason)
  }

  /**
   * Interrupts the requests for which `isAbandoned` returns `true`, also requests that the peer cannot cancel. These requests get no
   * answer.
   */
  abandon(isAbandoned: (request: ActiveRequest) => boolean): void {
    const requests = this.requests().filter(isAbandoned)
    // Requests that wait come first, because the end of a handler would start one of them.
    for (const request of requests) if (request.waitsFor !== undefined) this.interrupt(request, "cancelled")
    for (const request of requests) if (!request.answered) this.interrupt(request, "cancelled")
  }

  isHandler(fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean {
    return this.notifications?.has(fiber as Fiber.RuntimeFiber<void>) === true ||
      this.requests().some((request) => request.fiber === fiber)
  }

  /** Begins closing: interrupts the handlers, and answers the requests that wait. */
  interruptAll(): void {
    this.closing = true
    const requests = this.requests()
    // Requests that wait come first, because the end of a handler would start one of them.
    for (const request of requests) {
      if (request.waitsFor !== undefined) this.answer(request, request.closing?.() ?? Outcome.closing)
    }
    for (const request of requests) if (!request.answered) this.interrupt(request, "closing")
    for (const fiber of this.notifications?.keys() ?? []) EffectInternals.interrupt(fiber)
  }

  /** Waits until every handler has ended, or until `limited` ends the wait. Then answers the requests that still run. */
  close(limited: (effect: Effect.Effect<void>) => Effect.Effect<unknown>): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.isIdle ? Effect.void : Effect.zipRight(limited(this.awaitIdle), Effect.sync(() => this.detach()))
    )
  }

  /** Answers the requests whose handlers still run. Nobody waits for these handlers any more. */
  private detach(): void {
    for (const request of this.requests()) {
      this.owner.report(Diagnostic.Detached({ method: request.method }))
      this.answer(request, request.closing?.() ?? Outcome.closing)
    }
    for (const method of this.notifications?.values() ?? []) this.owner.report(Diagnostic.Detached({ method }))
  }

  /** Waits until no request and no handler of a notification is left. */
  get awaitIdle(): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const wake = () => resume(Effect.void)
      if (this.isIdle) return wake()
      const waiting = this.onIdle ??= new Set()
      waiting.add(wake)
      return Effect.sync(() => waiting.delete(wake))
    })
  }

  private requests(): ReadonlyArray<ActiveRequest> {
    return [...this.channels?.values() ?? []].flatMap((requests) => [...requests.values()])
  }

  /** Finds the request with this id on any channel. Returns `"several"` when more than one channel has a request with this id. */
  private search(id: Message.RequestId): ActiveRequest | "several" | undefined {
    let found: ActiveRequest | undefined
    for (const requests of this.channels?.values() ?? []) {
      const request = requests.get(id)
      if (request === undefined) continue
      if (found !== undefined) return "several"
      found = request
    }
    return found
  }

  /** Interrupts a request. Further calls for the same request change nothing. */
  interrupt(request: ActiveRequest, reason: "cancelled" | "closing"): void {
    // A fiber keeps the cause of every interruption, so a second interruption would cost more than the first.
    if (request.reason !== undefined) return
    request.reason = reason
    if (reason === "cancelled") request.open = false
    if (request.waitsFor !== undefined) return this.leaveUnanswered(request)
    if (request.fiber !== undefined) EffectInternals.interrupt(request.fiber)
  }

  private onExit(request: ActiveRequest, exit: Exit.Exit<unknown, unknown>): void {
    const release = attempt(() => request.release?.(exit), Effect.failCause)
    if (release === undefined) return this.finish(request, exit)
    EffectInternals.runFork(this.runtimeOf(request.context), release).addObserver((released) => {
      if (released._tag === "Success") return this.finish(request, exit)
      if (exit._tag === "Success") return this.finish(request, released)
      // The answer reports the failure of the handler, so the failure of the release is reported as a diagnostic.
      this.reportDefect(request.method, released)
      this.finish(request, exit)
    })
  }

  private finish(request: ActiveRequest, exit: Exit.Exit<unknown, unknown>): void {
    if (request.answered) return
    request.open = false
    if (request.reason === "cancelled") return this.leaveUnanswered(request)
    if (request.sending > 0) {
      // Notifications that still wait for space on the channel must be sent before the answer.
      request.onSent = () => this.finish(request, exit)
      return
    }
    const closed = request.reason === "closing" && exit._tag === "Failure" && Cause.isInterrupted(exit.cause)
    this.answer(
      request,
      closed ? request.closing?.() ?? Outcome.closing : attempt(() => valid(request.reply(exit)), Outcome.died)
    )
  }

  private answer(request: ActiveRequest, outcome: Outcome.Outcome): void {
    this.remove(request)
    if (outcome.died !== undefined || outcome.flaw !== undefined) {
      this.owner.report(ofOutcome(request.method, outcome))
    }
    this.send(request.channel, request, outcome)
    if (this.waitedFor !== undefined) this.startWaiting()
    if (this.onIdle !== undefined) this.wakeIfIdle()
  }

  private leaveUnanswered(request: ActiveRequest): void {
    this.remove(request)
    const { channel, id, method } = request
    if (channel.onUnanswered !== undefined) this.callChannel(method, () => channel.onUnanswered!(id))
    if (this.waitedFor !== undefined) this.startWaiting()
    if (this.onIdle !== undefined) this.wakeIfIdle()
  }

  // An observer of a fiber calls this function. An exception must not leave the function there, even if the transport is broken.
  private send(
    channel: Channel,
    { id, method }: Pick<Message.Request, "id" | "method">,
    outcome: Outcome.Outcome
  ): void {
    attempt<unknown>(
      () =>
        channel.answer === undefined ? channel.unsafeSend(Message.response(id, outcome)) : channel.answer(id, outcome),
      (cause) => this.owner.report(Diagnostic.HandlerDied({ method, cause }))
    )
  }

  private callChannel(method: string, call: () => void): void {
    attempt(call, (cause) => this.owner.report(Diagnostic.HandlerDied({ method, cause })))
  }

  private remove(request: ActiveRequest): void {
    request.answered = true
    request.open = false
    this.count--
    if (request.waitsFor === undefined) request.limit.leave()
    else request.waitsFor.drop(request)
    const channels = this.channels!
    const requests = channels.get(request.channel)!
    requests.delete(request.id)
    if (requests.size === 0 && request.channel !== this.owner.mainChannel) {
      channels.delete(request.channel)
      if (channels.size === 0) this.channels = undefined
    }
  }

  private reportDefect(method: string, exit: Exit.Exit<unknown, unknown>): void {
    if (exit._tag === "Failure" && !Cause.isInterruptedOnly(exit.cause)) {
      this.owner.report(Diagnostic.HandlerDied({ method, cause: exit.cause }))
    }
  }

  private wakeIfIdle(): void {
    const { onIdle } = this
    if (onIdle === undefined || onIdle.size === 0 || !this.isIdle) return
    this.onIdle = undefined
    for (const wake of onIdle) Waking.wake(wake)
  }

  private runtimeOf(context: Context.Context<never> | undefined): EffectInternals.Services {
    const { rest, runtime } = this.env
    return context === undefined ? runtime : EffectInternals.makeServices(context, rest)
  }
}

/**
 * One request of the peer while a handler answers it, with functions that send to the peer on behalf of the request.
 *
 * `fiber` is set after the first steps of the handler have run. `reason` is set before the fiber is interrupted. When `open` is `false`, no
 * message is sent on behalf of the request. When `answered` is `true`, the request is no longer in the table.
 */
export class ActiveRequest implements IncomingRequest {
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  reason: "cancelled" | "closing" | undefined
  cancelReason: string | undefined
  answered = false
  cancellable = true
  open = true
  /** The permits for which the request waits; `undefined` when it does not wait. */
  waitsFor: RequestPermits | undefined
  /** How many notifications of the request wait for space on the channel. */
  sending = 0
  onSent: (() => void) | undefined
  /** Returns the answer for a request that is open when the conversation closes. */
  closing: (() => Outcome.Outcome) | undefined
  // Three members of the `Work`. The `Work` itself is not stored, so that the memory of its effect can be freed when the effect runs.
  reply: Work["reply"] = Outcome.fromExit
  release: Work["release"]
  context: Work["context"]

  constructor(
    readonly id: Message.RequestId,
    readonly method: string,
    readonly channel: Channel,
    private readonly requests: Requests,
    readonly side: RequestSide,
    /** The limit that has given, or will give, a permit to the request. */
    readonly limit: OwnLimit
  ) {}

  /**
   * Interrupts the request because the peer does not want an answer any more. The request gets no answer. Does nothing when the peer cannot
   * cancel the request.
   */
  cancel(reason?: unknown): void {
    if (!this.cancellable) return
    if (typeof reason === "string") this.cancelReason ??= reason.slice(0, MAX_REASON)
    this.requests.interrupt(this, "cancelled")
  }

  /** Ends the request as when a conversation closes: interrupts the handler, and sends the `closing` answer. */
  end(): void {
    this.requests.interrupt(this, "closing")
  }

  request(method: string, params?: Message.Params, options?: RequestOptions): Effect.Effect<Message.Params, CallError> {
    return Effect.suspend(() => {
      const calls = this.open && this.channel.canRequest?.() !== false ? this.requests.calls : undefined
      return calls !== undefined
        ? calls.request(this.channel.unsafeSend, method, params, options)
        : Effect.fail(new NoBackChannel({ method }))
    })
  }

  notify(method: string, params?: Message.Params): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.open || (this.requests.isQuiet && method !== Progress.METHOD)) return EventLoop.drop
      const { channel } = this
      const message = Message.notification(method, params)
      // The answer can overtake only a notification that waits for space. Other notifications are not counted, which saves two thirds of
      // their time.
      if (channel.canSend?.() === true) return channel.unsafeSend(message) ? EventLoop.sent(true) : EventLoop.drop
      return Effect.acquireUseRelease(
        Effect.sync(() => this.sending++),
        () => Effect.catchAll(channel.send(message), () => EventLoop.drop),
        () =>
          Effect.sync(() => {
            if (--this.sending === 0) this.onSent?.()
          })
      )
    })
  }
}

const busy: Outcome.Outcome = {
  error: { code: JsonRpcError.INVALID_REQUEST, message: "Invalid request: the id is already in flight" }
}

const TOO_MANY_OPEN = "Too many of these requests are open; end one first"

const overloaded = ({ running, size }: RequestPermits): string =>
  `Too many requests: ${running} are running and ${size} wait; send it again when another request is answered`

/** Makes the outcome of a request whose handler does not run, because this side cannot serve the request now. */
const unserved = (side: RequestSide, request: Message.Request, message: string): Outcome.Outcome => ({
  error: { code: side.unavailableCode?.(request) ?? JsonRpcError.UNAVAILABLE, message },
  isUnserved: true
})

const closingOf = (side: RequestSide, request: Message.Request): Outcome.Outcome =>
  unserved(side, request, Outcome.closing.error!.message)

/** Returns the outcome, or "Internal error" if the outcome has no valid result and no valid error. */
const valid = (outcome: Outcome.Outcome): Outcome.Outcome => {
  const { error, result } = outcome
  const isValid = error === undefined
    ? typeof result === "object" && result !== null && !Array.isArray(result)
    : Number.isInteger(error.code) && typeof error.message === "string"
  return isValid ? outcome : Outcome.died(Cause.die(new TypeError("A handler returned neither a result nor an error")))
}

const dying = (defect: Cause.Cause<never>): Work => ({ effect: Effect.failCause(defect), reply: Outcome.fromExit })
