/**
 * The requests that we answer, by channel and id. `start` reserves the id of a request, runs the fiber of the request when a permit is
 * free, records why it was interrupted, and sends one answer, or none if the peer cancelled the request.
 *
 * There are two ways in: a `Conversation` starts the requests of one peer; an HTTP request without a conversation
 * (`server/legacy/Stateless`, `server/modern/Http`) starts its request on a channel of its own, and interrupts it with the
 * `ActiveRequest` that `start` returns.
 *
 * Classes with mutable fields, because this code runs for every request and in the observers of fibers, where no Effect can run: a fiber
 * that awaits the fiber of the handler would add 14 µs to a call of 3 µs. A request is in the table from before it runs or waits until it
 * is answered; `count` is the number of requests in the table. `closing` turns true once, before anything is interrupted.
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

/** How many characters of the reason of a cancel are kept. */
const MAX_REASON = 1024

/** The limit for each client, where many clients share the requests. */
export interface PerClient {
  /** How many requests of one client may run at once. */
  readonly limit: number
  /** The client that a channel belongs to. Channels without a client share the limit of all clients. */
  readonly clientOf: (channel: Channel) => string | undefined
}

type RequestPermits = Permits<ActiveRequest, Message.Request>

/** What the requests belong to, such as a conversation. */
export interface Owner {
  /** How many requests may run, and how many may wait. As many handlers of notifications may run as requests. */
  readonly limits: Limits
  readonly report: (diagnostic: Diagnostic) => void
  /** Our requests to the peer. Without them, handlers cannot send requests. */
  readonly calls?: Calls | undefined
  /** A channel that lasts as long as the requests, so its table stays when it is empty. */
  readonly mainChannel?: Channel | undefined
  readonly perClient?: PerClient | undefined
}

/** Requests that belong to no conversation. Closing the scope interrupts and answers them. */
export const make = (
  options: Pick<Owner, "limits" | "perClient"> & {
    /** How long closing waits for handlers that cannot be interrupted. */
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
  /** While true, handlers send no notification but progress: the peer could not tell which request it belongs to. */
  isQuiet = false
  /** The requests by their channels. An idle session does not pay for it. */
  private channels: Map<Channel, Map<Message.RequestId, ActiveRequest>> | undefined
  private notifications: Map<Fiber.RuntimeFiber<void>, string> | undefined
  private onIdle: Set<() => void> | undefined
  private count = 0
  private readonly permits: RequestPermits
  /** The permits of requests that never wait, and run although no other permit is free. */
  private extraPermits: RequestPermits | undefined
  private clients: Map<string, RequestPermits> | undefined
  /** The permits that requests wait for. */
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
   * Starts the request, or lets it wait for a permit. The first steps of the request run before this returns. A request whose
   * id is in flight, or that may not wait, is refused: then this returns `undefined`.
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
    // It was interrupted in its first steps.
    if (request.reason !== undefined) EffectInternals.interrupt(fiber)
  }

  /** Starts the requests that have waited for the permits that are free now. */
  private startWaiting(): void {
    // A request that ends in its first steps frees a permit for the next: the loop that runs starts the next, too.
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

  /** The next request for which a permit is free. Clients take turns. */
  private next(): readonly [ActiveRequest, Message.Request] | undefined {
    // Then no client has a free permit, however many requests wait.
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

  /** Runs the handler of a notification; drops it when too many are running, and once the requests are closing. */
  handle(method: string, handler: Effect.Effect<void>): void {
    // A cancel is also a notification: what it has interrupted may have closed the conversation.
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

  /** Interrupts the request that the peer has cancelled. Ids that are unknown or already answered are ignored. */
  cancel(channel: Channel, id: Message.RequestId, reason: unknown): void {
    const other = otherForm(id)
    const own = this.channels?.get(channel)
    const found = own?.get(id) ?? this.search(id) ??
      (other === undefined ? undefined : own?.get(other) ?? this.search(other))
    if (found === undefined) return
    if (found === "several") return this.owner.report(Diagnostic.AmbiguousCancel({ id }))
    found.cancel(reason)
  }

  /** Interrupts requests, also requests that the peer may not cancel. They get no answer. */
  abandon(isAbandoned: (request: ActiveRequest) => boolean): void {
    const requests = this.requests().filter(isAbandoned)
    // The requests that wait come first: the end of a handler would start one of them.
    for (const request of requests) if (request.waitsFor !== undefined) this.interrupt(request, "cancelled")
    for (const request of requests) if (!request.answered) this.interrupt(request, "cancelled")
  }

  isHandler(fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean {
    return this.notifications?.has(fiber as Fiber.RuntimeFiber<void>) === true ||
      this.requests().some((request) => request.fiber === fiber)
  }

  /** Interrupts the handlers, and answers the requests that wait. */
  interruptAll(): void {
    this.closing = true
    const requests = this.requests()
    // The requests that wait come first: the end of a handler would start one of them.
    for (const request of requests) {
      if (request.waitsFor !== undefined) this.answer(request, request.closing?.() ?? Outcome.closing)
    }
    for (const request of requests) if (!request.answered) this.interrupt(request, "closing")
    for (const fiber of this.notifications?.keys() ?? []) EffectInternals.interrupt(fiber)
  }

  /** Waits until every handler has ended, for as long as `limited` allows; then answers the requests that still run. */
  close(limited: (effect: Effect.Effect<void>) => Effect.Effect<unknown>): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.isIdle ? Effect.void : Effect.zipRight(limited(this.awaitIdle), Effect.sync(() => this.detach()))
    )
  }

  /** Answers the requests whose handlers still run, and no longer waits for them. */
  private detach(): void {
    for (const request of this.requests()) {
      this.owner.report(Diagnostic.Detached({ method: request.method }))
      this.answer(request, request.closing?.() ?? Outcome.closing)
    }
    for (const method of this.notifications?.values() ?? []) this.owner.report(Diagnostic.Detached({ method }))
  }

  /** Waits until no request and no handler of a notification runs. */
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

  /** The only request with this id, on any channel. */
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

  /** Interrupts a request. Only the first call has an effect. */
  interrupt(request: ActiveRequest, reason: "cancelled" | "closing"): void {
    // A fiber keeps the cause of every interruption: a second interruption would cost more than the first.
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
      // The answer reports the failure of the handler, so the failure of the release is reported here.
      this.reportDefect(request.method, released)
      this.finish(request, exit)
    })
  }

  private finish(request: ActiveRequest, exit: Exit.Exit<unknown, unknown>): void {
    if (request.answered) return
    request.open = false
    if (request.reason === "cancelled") return this.leaveUnanswered(request)
    if (request.sending > 0) {
      // Notifications that still wait for space on the channel are sent before the answer.
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

  // Called in an observer, where not even a broken transport may throw.
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
 * One request of the peer while a handler answers it, with the functions that send to its sender on its behalf.
 *
 * `fiber` is unset until the first steps of the handler have run; `reason` is set before the fiber is interrupted; once
 * `open` is false nothing more is sent on behalf of the request; once `answered` is true it is no longer in the table.
 */
export class ActiveRequest implements IncomingRequest {
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  reason: "cancelled" | "closing" | undefined
  cancelReason: string | undefined
  answered = false
  cancellable = true
  open = true
  /** The permits that the request waits for. */
  waitsFor: RequestPermits | undefined
  /** How many notifications wait for space on the channel. */
  sending = 0
  onSent: (() => void) | undefined
  /** The answer when the conversation closes. */
  closing: (() => Outcome.Outcome) | undefined
  // What is left of the work while its effect runs: the effect itself is garbage then.
  reply: Work["reply"] = Outcome.fromExit
  release: Work["release"]
  context: Work["context"]

  constructor(
    readonly id: Message.RequestId,
    readonly method: string,
    readonly channel: Channel,
    private readonly requests: Requests,
    readonly side: RequestSide,
    /** The limit that has given the request a permit, once the request runs. */
    readonly limit: OwnLimit
  ) {}

  /** Interrupts the request because its sender does not want an answer any more. The request gets no answer. */
  cancel(reason?: unknown): void {
    if (!this.cancellable) return
    if (typeof reason === "string") this.cancelReason ??= reason.slice(0, MAX_REASON)
    this.requests.interrupt(this, "cancelled")
  }

  /** Ends the request as the close of a conversation does: the handler is interrupted, and the request gets its `closing` answer. */
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
  `Too many requests: ${running} are running and ${size} wait; send it again when one is answered`

/** The outcome of a request that has not run, because the side cannot serve it now. */
const unserved = (side: RequestSide, request: Message.Request, message: string): Outcome.Outcome => ({
  error: { code: side.unavailableCode?.(request) ?? JsonRpcError.UNAVAILABLE, message },
  isUnserved: true
})

const closingOf = (side: RequestSide, request: Message.Request): Outcome.Outcome =>
  unserved(side, request, Outcome.closing.error!.message)

/** "Internal error" in place of what is neither a result nor an error. */
const valid = (outcome: Outcome.Outcome): Outcome.Outcome => {
  const { error, result } = outcome
  const isValid = error === undefined
    ? typeof result === "object" && result !== null && !Array.isArray(result)
    : Number.isInteger(error.code) && typeof error.message === "string"
  return isValid ? outcome : Outcome.died(Cause.die(new TypeError("A handler returned neither a result nor an error")))
}

const dying = (defect: Cause.Cause<never>): Work => ({ effect: Effect.failCause(defect), reply: Outcome.fromExit })
