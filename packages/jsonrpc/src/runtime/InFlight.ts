/**
 * The requests we are answering, by channel and id. It starts the fiber of each request when there is a place for it,
 * records why it was interrupted, and sends one answer to each, or none if the peer cancelled it. `Places` counts.
 *
 * A class with mutable fields, because this code runs for every request and in the observers of fibers, where no Effect
 * can run: a fiber that awaits the fiber of the handler would add 14 µs to a call of 3 µs. A request is in the table
 * from before it runs or waits until it is answered; `count` is the number of requests in the table.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import { Diagnostic } from "../Diagnostic.js"
import type * as Message from "../Message.js"
import * as Outcome from "../Outcome.js"
import type { Channel, IncomingRequest, PerClient, Side, Work } from "../Side.js"
import { ActiveRequest } from "./ActiveRequest.js"
import * as Attempt from "./Attempt.js"
import type { ConversationEnv } from "./ConversationEnv.js"
import { ofOutcome } from "./Diagnostics.js"
import * as MessageSize from "./MessageSize.js"
import type { Pending } from "./Pending.js"
import type { Limits } from "./Places.js"
import { Places } from "./Places.js"
import { otherForm } from "./RequestIds.js"

/** How many characters of the reason of a cancel are kept. */
const MAX_REASON = 1024

/** The conversation whose requests these are. */
export interface Host {
  /** The work of a request, when it starts. */
  readonly plan: (message: Message.Request, request: IncomingRequest) => Work
  /** The code of the error of a request that cannot be served now. */
  readonly unavailableCode: (message: Message.Request) => number
  /** Whether requests of this method run also when no place is free. */
  readonly neverWaits: (method: string) => boolean
  readonly side: Pick<Side, "hasOwnLimit">
  readonly report: (diagnostic: Diagnostic) => void
}

export class InFlight {
  private readonly channels = new Map<Channel, Map<Message.RequestId, ActiveRequest>>()
  private notifications: Map<Fiber.RuntimeFiber<void>, string> | undefined
  private onIdle: Set<() => void> | undefined
  private count = 0
  private readonly places: Places<ActiveRequest>
  /** The places of requests that never wait, and run while no other place is free. */
  private extraPlaces: Places<ActiveRequest> | undefined
  /** Those of requests that take no place from others. */
  private ownPlaces: Places<ActiveRequest> | undefined
  private clients: Map<string, Places<ActiveRequest>> | undefined
  /** The places that requests wait for. */
  private waitedFor: Set<Places<ActiveRequest>> | undefined
  private starting = false

  constructor(
    private readonly env: Pick<ConversationEnv, "runtime" | "fiberRefs">,
    private readonly pending: Pending,
    private readonly host: Host,
    /** How many requests may run and wait. As many handlers of notifications may run. */
    private readonly limits: Limits,
    /** The channel of the transport. It lasts as long as the conversation, so its table stays when it is empty. */
    private readonly mainChannel?: Channel,
    private readonly perClient?: PerClient
  ) {
    this.places = new Places(limits)
  }

  get size(): number {
    return this.count
  }

  get isIdle(): boolean {
    return this.count === 0 && (this.notifications?.size ?? 0) === 0
  }

  /**
   * Starts the request, or lets it wait for a place. Its first steps run before this returns. Returns `busy` when its
   * id is in flight, and the places that it may not wait for when too many wait.
   */
  receive(channel: Channel, message: Message.Request): "busy" | Places<ActiveRequest> | undefined {
    const { id, method } = message
    let requests = this.channels.get(channel)
    if (requests?.has(id) === true) return "busy"
    let places = this.host.side.hasOwnLimit?.(message) === true
      ? this.ownPlaces ??= new Places({ running: Infinity, waiting: 0, text: 0 })
      : this.perClient === undefined
      ? this.places
      : this.placesOf(this.perClient, channel)
    let waits = !places.enter()
    if (waits && this.host.neverWaits(method)) {
      places.settle()
      places = this.extraPlaces ??= new Places({ ...this.limits, waiting: 0 })
      waits = !places.enter()
    }
    const text = waits ? MessageSize.of(message) : 0
    if (waits && !places.canWait(text)) {
      places.settle()
      return places
    }
    if (requests === undefined) this.channels.set(channel, requests = new Map())
    const request = new ActiveRequest(id, method, channel, this.pending, places)
    requests.set(id, request)
    this.count++
    if (waits) this.wait(request, message, text)
    else this.start(request, message)
    return undefined
  }

  private wait(request: ActiveRequest, message: Message.Request, text: number): void {
    const { channel, id, places } = request
    places.wait(request, message, text)
    request.closing = () => ({ error: { ...Outcome.closing.error!, code: this.host.unavailableCode(message) } })
    this.waitedFor ??= new Set()
    this.waitedFor.add(places)
    if (channel.onWaiting !== undefined) this.callChannel(request, () => channel.onWaiting!(id))
  }

  private start(request: ActiveRequest, message: Message.Request): void {
    const work = this.host.plan(message, request)
    request.cancellable = work.cancellable !== false
    request.closing = work.closing
    const fiber = Runtime.runFork(this.runtimeOf(work.context), work.effect)
    request.fiber = fiber
    fiber.addObserver((exit) => this.onExit(request, work, exit))
    // It was interrupted in its first steps.
    if (request.reason !== undefined) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  /** Starts the requests that have waited for the places that are free now. */
  private startWaiting(): void {
    // A request that ends in its first steps makes a place for the next: the loop that runs starts that one, too.
    if (this.starting) return
    this.starting = true
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const [request, message] = next
      const { channel, id } = request
      if (channel.onStarted !== undefined) this.callChannel(request, () => channel.onStarted!(id))
      this.start(request, message)
    }
    this.starting = false
  }

  /** The next request that a place is free for. Clients take turns. */
  private next(): readonly [ActiveRequest, Message.Request] | undefined {
    // Then no client can have one, however many wait.
    if (!this.places.isFree) return undefined
    const waitedFor = this.waitedFor!
    for (const places of waitedFor) {
      const next = places.next()
      if (next === undefined && places.size > 0) continue
      waitedFor.delete(places)
      if (places.size > 0) waitedFor.add(places)
      if (next !== undefined) return next
    }
    return undefined
  }

  private placesOf({ clientOf, limit }: PerClient, channel: Channel): Places<ActiveRequest> {
    const client = clientOf(channel)
    if (client === undefined) return this.places
    const clients = this.clients ??= new Map()
    let places = clients.get(client)
    if (places === undefined) {
      places = new Places({ ...this.limits, running: limit }, this.places, () => clients.delete(client))
      clients.set(client, places)
    }
    return places
  }

  /** Runs the handler of a notification; drops it when too many are running. */
  handle(method: string, handler: Effect.Effect<void>): void {
    const notifications = this.notifications ??= new Map()
    const limit = this.limits.running
    if (notifications.size >= limit) return this.host.report(Diagnostic.Overloaded({ method, limit }))
    const fiber = Runtime.runFork(this.env.runtime, handler)
    const exit = fiber.unsafePoll()
    if (exit !== null) return this.reportDefect(method, exit)
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
    const found = this.channels.get(channel)?.get(id) ?? this.search(id) ??
      (other === undefined ? undefined : this.channels.get(channel)?.get(other) ?? this.search(other))
    if (found === undefined) return
    if (found === "several") return this.host.report(Diagnostic.AmbiguousCancel({ id }))
    if (!found.cancellable) return
    if (typeof reason === "string") found.cancelReason ??= reason.slice(0, MAX_REASON)
    this.interrupt(found, "cancelled")
  }

  isHandler(fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean {
    return this.notifications?.has(fiber as Fiber.RuntimeFiber<void>) === true ||
      this.requests().some((request) => request.fiber === fiber)
  }

  /** Interrupts the handlers, and answers the requests that wait. */
  interruptAll(): void {
    const requests = this.requests()
    // First those that wait: the end of a handler would start one.
    for (const request of requests) if (request.places.waits(request)) this.answer(request, closingOf(request))
    for (const request of requests) if (!request.answered) this.interrupt(request, "closing")
    for (const fiber of this.notifications?.keys() ?? []) fiber.unsafeInterruptAsFork(FiberId.none)
  }

  /** Waits until every handler has ended, no longer than the timeout; then answers the requests that still run. */
  close(timeout: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.isIdle
        ? Effect.void
        : Effect.zipRight(Effect.timeoutOption(this.awaitIdle, timeout), Effect.sync(() => this.detach()))
    )
  }

  /** Answers the requests whose handlers still run, and no longer waits for them. */
  private detach(): void {
    for (const request of this.requests()) {
      this.host.report(Diagnostic.Detached({ method: request.method }))
      this.answer(request, closingOf(request))
    }
    for (const method of this.notifications?.values() ?? []) this.host.report(Diagnostic.Detached({ method }))
  }

  private get awaitIdle(): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const wake = () => resume(Effect.void)
      if (this.isIdle) return wake()
      const waiting = this.onIdle ??= new Set()
      waiting.add(wake)
      return Effect.sync(() => waiting.delete(wake))
    })
  }

  private requests(): ReadonlyArray<ActiveRequest> {
    return [...this.channels.values()].flatMap((requests) => [...requests.values()])
  }

  /** The only request with this id, on any channel: of clients that share the conversation, it could be another's. */
  private search(id: Message.RequestId): ActiveRequest | "several" | undefined {
    if (this.perClient !== undefined) return undefined
    let found: ActiveRequest | undefined
    for (const requests of this.channels.values()) {
      const request = requests.get(id)
      if (request === undefined) continue
      if (found !== undefined) return "several"
      found = request
    }
    return found
  }

  private interrupt(request: ActiveRequest, reason: "cancelled" | "closing"): void {
    // A fiber keeps the cause of every interruption: a second one would cost more than the first.
    if (request.reason !== undefined) return
    request.reason = reason
    if (reason === "cancelled") request.open = false
    if (request.places.waits(request)) return this.leaveUnanswered(request)
    request.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  private onExit(request: ActiveRequest, work: Work, exit: Exit.Exit<unknown, unknown>): void {
    const release = Attempt.attempt(() => work.release?.(exit), Effect.failCause)
    if (release === undefined) return this.finish(request, work, exit)
    Runtime.runFork(this.runtimeOf(work.context), release).addObserver((released) => {
      if (released._tag === "Success") return this.finish(request, work, exit)
      if (exit._tag === "Success") return this.finish(request, work, released)
      // The answer tells of the failure of the handler.
      this.reportDefect(request.method, released)
      this.finish(request, work, exit)
    })
  }

  private finish(request: ActiveRequest, work: Work, exit: Exit.Exit<unknown, unknown>): void {
    if (request.answered) return
    request.open = false
    if (request.reason === "cancelled") return this.leaveUnanswered(request)
    if (request.sending > 0) {
      // Notifications that still wait for space on the channel are sent before the answer.
      request.onSent = () => this.finish(request, work, exit)
      return
    }
    const closed = request.reason === "closing" && exit._tag === "Failure" && Cause.isInterrupted(exit.cause)
    this.answer(request, closed ? closingOf(request) : Attempt.outcomeOf(exit, work.reply))
  }

  private answer(request: ActiveRequest, outcome: Outcome.Outcome): void {
    this.remove(request)
    const diagnostic = ofOutcome(request.method, outcome)
    if (diagnostic !== undefined) this.host.report(diagnostic)
    this.callChannel(request, ({ channel, id }) => channel.unsafeSend(Outcome.toMessage(id, outcome)))
    if (this.waitedFor !== undefined) this.startWaiting()
  }

  private leaveUnanswered(request: ActiveRequest): void {
    this.remove(request)
    if (request.channel.onUnanswered !== undefined) {
      this.callChannel(request, ({ channel, id }) => channel.onUnanswered!(id))
    }
    if (this.waitedFor !== undefined) this.startWaiting()
  }

  // Called in an observer, where not even a broken transport may throw.
  private callChannel(request: ActiveRequest, call: (request: ActiveRequest) => void): void {
    Attempt.attempt(
      () => call(request),
      (cause) => this.host.report(Diagnostic.HandlerDied({ method: request.method, cause }))
    )
  }

  private remove(request: ActiveRequest): void {
    request.answered = true
    request.open = false
    this.count--
    if (!request.places.drop(request)) request.places.leave()
    const requests = this.channels.get(request.channel)!
    requests.delete(request.id)
    if (requests.size === 0 && request.channel !== this.mainChannel) this.channels.delete(request.channel)
    this.wakeIfIdle()
  }

  private reportDefect(method: string, exit: Exit.Exit<unknown, unknown>): void {
    if (exit._tag === "Failure" && !Cause.isInterruptedOnly(exit.cause)) {
      this.host.report(Diagnostic.HandlerDied({ method, cause: exit.cause }))
    }
  }

  private wakeIfIdle(): void {
    if (this.onIdle === undefined || this.onIdle.size === 0 || !this.isIdle) return
    for (const wake of this.onIdle) wake()
    this.onIdle.clear()
  }

  private runtimeOf(context: Context.Context<never> | undefined): Runtime.Runtime<never> {
    const { fiberRefs, runtime } = this.env
    return context === undefined ? runtime : Runtime.make({
      context,
      fiberRefs,
      runtimeFlags: runtime.runtimeFlags
    })
  }
}

const closingOf = ({ closing }: ActiveRequest): Outcome.Outcome => closing?.() ?? Outcome.closing
