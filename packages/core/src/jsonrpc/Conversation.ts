/**
 * A conversation sends and receives the JSON-RPC messages of one transport, until one side ends the conversation. The peer is the other
 * side, a client or a server. A conversation passes each response and each progress notification to the request of this side that waits for
 * it. It passes the requests and notifications of the peer to its `Side`. `make` starts a fiber that reads the transport. `factory` makes
 * conversations whose owner reads the transport.
 *
 * The conversation receives messages in order, and never waits for a handler before it receives the next message. Requests run
 * concurrently. A conversation handles two methods itself, `notifications/cancelled` and `notifications/progress`. The folders `client` and
 * `server` handle all other methods. `Transport` reads and writes messages. `runtime/Requests` stores the requests of the peer, and
 * `runtime/Calls` stores the requests of this side.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Deadlines from "../kit/Deadlines.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as EventLoop from "../kit/EventLoop.js"
import { raceFirst } from "../kit/Race.js"
import * as TimeLimit from "../kit/TimeLimit.js"
import { Diagnostic, logger } from "./Diagnostic.js"
import { NoBackChannel, TransportError } from "./LocalError.js"
import * as Message from "./Message.js"
import type { Outbound } from "./Outbound.js"
import * as Progress from "./Progress.js"
import * as Batch from "./runtime/Batch.js"
import * as Calls from "./runtime/Calls.js"
import * as ConversationEnv from "./runtime/ConversationEnv.js"
import { attempt, Diagnostics } from "./runtime/Diagnostics.js"
import * as Requests from "./runtime/Requests.js"
import type { Channel, Side } from "./Side.js"
import * as Transport from "./Transport.js"

/**
 * The default of `Options.maxInFlight`.
 *
 * @category constants
 */
export const MAX_IN_FLIGHT = 64

/**
 * The default of `Options.maxWaiting`.
 *
 * @category constants
 */
export const MAX_WAITING = 1024

/**
 * The default of `Options.maxWaitingText`, in characters.
 *
 * @category constants
 */
export const MAX_WAITING_TEXT = 16 * 1024 * 1024

/** @category models */
export interface Options {
  /** How long each request of this side waits for an answer, if the request has no `timeout` option. Default: no limit. */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * How many requests of the peer may run at the same time. Further requests wait. The number is also the limit for notifications that are
   * handled at the same time; further notifications are dropped. Default: 64.
   */
  readonly maxInFlight?: number | undefined
  /** How many requests of the peer may wait to run. Further requests are refused. Default: 1,024. */
  readonly maxWaiting?: number | undefined
  /** How many characters all waiting requests together may have. Further requests are refused. Default: 16 Mi (16 × 1,024 × 1,024). */
  readonly maxWaitingText?: number | undefined
  /** How many requests of this side may be sent and not yet answered. Further requests wait before they are sent. Default: 1,024. */
  readonly maxPending?: number | undefined
  /** How long the conversation waits for handlers that cannot be interrupted when it closes. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * The function that receives each diagnostic. At most 64 of its effects run at the same time, and further diagnostics are dropped.
   * Default: `Diagnostic.logger`.
   */
  readonly report?: ((diagnostic: Diagnostic) => Effect.Effect<void>) | undefined
  /**
   * Whether input that is not a message gets no error response. With `true`, the conversation only reports this input as a diagnostic.
   * Input that resembles a request with an id still gets an error response. A client sets `true`, because a server may write lines that are
   * not messages, and an error response could make the server write more of these lines. With `false`, all input that is not a message gets
   * an error response, except input that resembles a response or a notification. Default: `false`.
   */
  readonly reportOnly?: boolean | undefined
  /**
   * Checks whether a silent peer is still there. When the peer has sent nothing for `interval`, the conversation sends a request of the
   * method that `method` returns. When the peer sends nothing within `interval` after each of two such requests in a row, the conversation
   * ends. While `method` returns `undefined`, the conversation sends no such request. Default: no check.
   */
  readonly heartbeat?: {
    readonly interval: Duration.DurationInput
    readonly method: () => string | undefined
  } | undefined
  /** Returns whether the peer may send JSON-RPC batches at this moment. Default: the peer must not send batches. */
  readonly batches?: (() => boolean) | undefined
  /**
   * The number after which the ids of this side's requests begin. If an earlier conversation used the same transport, give the id of the
   * last request of that conversation. Default: the current time in milliseconds if the transport resumes a session, otherwise 0.
   */
  readonly afterId?: number | undefined
}

/**
 * A conversation. The members are getters of a class, so a copy by object spread has no members.
 *
 * @category models
 */
export interface Conversation extends Outbound {
  /**
   * Handles one message of the transport or of another channel. The conversation sends the answer on the same channel. Default channel: the
   * transport.
   */
  readonly receive: (incoming: Transport.Delivery, channel?: Channel) => void
  /**
   * Ends the conversation: fails the calls of this side, interrupts the handlers, and answers each request of the peer one time. Waits
   * until the conversation has ended, except when a handler of this conversation runs this effect. You can run this effect several times.
   */
  readonly close: Effect.Effect<void>
  /** Waits until the conversation has ended. Fails if the transport has failed. */
  readonly ended: Effect.Effect<void, TransportError>
  /** How many requests of the peer have no answer yet. Requests that wait to run are included. */
  readonly inFlight: () => number
  /** How many requests of this side wait for an answer. */
  readonly pending: () => number
  /**
   * Runs an effect, and pauses the timeouts of this side's requests until the effect has ended. Use this when the peer waits for the effect
   * and cannot answer in the meantime. `maxTotalTimeout` is not paused.
   */
  readonly pauseTimeouts: Transport.PauseTimeouts
}

/**
 * A conversation that has no fiber. The code that made the conversation is its owner. The owner runs `read`, or passes each message to
 * `receive`, and closes the conversation.
 *
 * @category models
 */
export interface Passive extends Conversation {
  /**
   * Reads the transport on the current fiber, and handles each message, until the peer ends the transport. Then the conversation begins to
   * close. To end the conversation from this side, first run `close`, and then interrupt the fiber that runs `read`. In this order the
   * conversation can still send its last answers.
   */
  readonly read: (transport: Transport.Transport) => Effect.Effect<void, TransportError>
  /**
   * Checks whether the peer is still there, for an owner that does not run `read`. The effect never succeeds. It fails when the peer is
   * gone.
   */
  readonly heartbeat: Effect.Effect<never, TransportError>
  /** Begins to close the conversation. An owner that reads the transport itself calls this function with the exit of its reader. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => void
  /**
   * Ends the conversation when another conversation takes over the transport. The calls of this side fail immediately. After that, this
   * side sends no notifications, except progress of the peer's requests. If `endsNow` returns `true` for the method of a peer's request,
   * the handler is interrupted and the request gets no answer. All other requests of the peer run to their end and are answered. Then the
   * conversation has ended.
   */
  readonly retire: (endsNow: (method: string) => boolean) => Effect.Effect<void>
  /** Interrupts the peer's request with this id, if the request has no answer yet. The request gets no answer. */
  readonly abandon: (id: Message.RequestId) => void
  /** Returns the id of the last request of this side, for `Options.afterId` of the next conversation over the transport. */
  readonly lastId: () => number
}

/**
 * Starts a conversation over a transport. The conversation ends when the scope closes, or when the peer ends the transport. When the
 * conversation ends, the calls of this side fail with `ConnectionClosed`, and the handlers are interrupted.
 *
 * @category constructors
 */
export const make = (
  transport: Transport.Transport,
  side: Side | ((conversation: Conversation) => Side),
  options: Options = {}
): Effect.Effect<Conversation, never, Scope.Scope> =>
  Effect.flatMap(ConversationEnv.current, (env) => {
    const conversation = start(env, transport, side, options)
    return Effect.as(
      Effect.acquireRelease(
        // This is a daemon fiber, because the conversation must be closed before the reader stops.
        Effect.forkDaemon(Effect.interruptible(conversation.read(transport))),
        (reader) =>
          Effect.flatMap(
            conversation.closeTimeout,
            (limited) => Effect.ensuring(conversation.close, limited(Fiber.interrupt(reader)))
          )
      ),
      conversation
    )
  })

/**
 * Returns a function that makes conversations without a fiber. The handlers run in the context of this effect, or in `Work.context` if
 * `Work` has a context.
 *
 * @category utils
 */
export const factory: Effect.Effect<
  (sender: Transport.Sender, side: Side | ((conversation: Conversation) => Side), options?: Options) => Passive
> = Effect.map(
  ConversationEnv.current,
  (env) => (sender, side, options = {}) => start(env, sender, side, options)
)

const start = (
  env: ConversationEnv.ConversationEnv,
  sender: Transport.Sender,
  side: Side | ((conversation: Conversation) => Side),
  options: Options
): PassiveConversation => {
  const conversation = new PassiveConversation(env, sender, options)
  conversation.side = typeof side === "function" ? side(conversation) : side
  return conversation
}

/**
 * This is a class with mutable fields because it handles every message in the read loop of its transport. To run an Effect for each message
 * would add 1 µs to a call of 3 µs. `result` is set one time, after everything has ended.
 */
class PassiveConversation implements Passive, Requests.Owner {
  side!: Side
  private readonly requests: Requests.Requests
  private madeCalls: Calls.Calls | undefined
  private readonly diagnostics: Diagnostics
  private received = 0
  private result: Exit.Exit<void, TransportError> | undefined
  private whenEnded: Deferred.Deferred<void, TransportError> | undefined

  constructor(
    private readonly env: ConversationEnv.ConversationEnv,
    private readonly transport: Transport.Sender,
    private readonly options: Options
  ) {
    this.diagnostics = new Diagnostics(env.runtime, options.report ?? logger())
    this.requests = new Requests.Requests(env, this)
    transport.exchanges?.onConversation?.(this.pauseTimeouts)
  }

  get limits(): Requests.Owner["limits"] {
    const { maxInFlight, maxWaiting, maxWaitingText } = this.options
    return {
      running: maxInFlight ?? MAX_IN_FLIGHT,
      waiting: maxWaiting ?? MAX_WAITING,
      text: maxWaitingText ?? MAX_WAITING_TEXT
    }
  }

  get mainChannel(): Channel {
    return this.transport
  }

  /**
   * The calls of this side. They are made on the first use, because a server has many conversations and sends no request in most of them.
   */
  get calls(): Calls.Calls {
    const { env, options, transport } = this
    return this.madeCalls ??= new Calls.Calls(
      () => new Deadlines.Deadlines(env.runtime, env.clock),
      options.timeout === undefined ? Infinity : Deadlines.millis(options.timeout),
      (method) => attempt(() => this.side.neverWaits?.(method) === true, () => false),
      options.maxPending,
      // A resumed session had an earlier connection whose ids counted from 1.
      options.afterId ?? (transport.exchanges?.isResumed === true ? EffectInternals.millis(env.clock) : 0)
    )
  }

  report(diagnostic: Diagnostic): void {
    this.diagnostics.report(diagnostic)
  }

  read(transport: Transport.Transport): Effect.Effect<void, TransportError> {
    return Effect.onExit(
      Effect.suspend(() => {
        const read = Transport.run(transport, this.receive)
        return this.options.heartbeat === undefined ? read : raceFirst(read, this.heartbeat)
      }),
      (exit) => Effect.sync(() => this.end(exit))
    )
  }

  get heartbeat(): Effect.Effect<never, TransportError> {
    const { heartbeat } = this.options
    return heartbeat === undefined ? Effect.never : beating(this, () => this.received, heartbeat)
  }

  get ended(): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => this.result ?? Deferred.await(this.whenEnded ??= EffectInternals.deferred()))
  }

  get close(): Effect.Effect<void> {
    return Effect.withFiberRuntime((fiber) => {
      this.end(Exit.void)
      // When a handler runs `close` in its first steps, `requests` does not have the fiber of the handler yet.
      return Effect.zipRight(
        Effect.yieldNow(),
        Effect.suspend(() => this.requests.isHandler(fiber) ? Effect.void : Effect.ignore(this.ended))
      )
    })
  }

  // These are getters, because one function object for each conversation would use memory in each idle conversation.
  get inFlight(): Conversation["inFlight"] {
    return () => this.requests.size
  }

  get pending(): Conversation["pending"] {
    return () => this.madeCalls?.size ?? 0
  }

  get pauseTimeouts(): Transport.PauseTimeouts {
    return (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => this.calls.pauseTimeouts()),
        () => effect,
        () => Effect.sync(() => this.calls.resumeTimeouts())
      )
  }

  get request(): Conversation["request"] {
    return (method, params, options) => {
      const { canRequest, exchanges, unsafeSend } = this.transport
      if (options?.resumptionToken !== undefined && exchanges === undefined) return Effect.fail(cannotResume(method))
      const call = this.calls.request(unsafeSend, method, params, options)
      return canRequest === undefined
        ? call
        : Effect.suspend(() => canRequest() ? call : Effect.fail(new NoBackChannel({ method })))
    }
  }

  get notify(): Conversation["notify"] {
    return (method, params) =>
      Effect.suspend(() =>
        this.requests.closing || this.requests.isQuiet
          ? EventLoop.drop
          : Effect.catchAll(this.transport.send(Message.notification(method, params)), () => EventLoop.drop)
      )
  }

  readonly receive = (incoming: Transport.Delivery, channel: Channel = this.transport): void => {
    if (incoming instanceof Transport.Undelivered) return void this.calls.onUndelivered(incoming)
    this.received++
    if (Message.isMalformed(incoming)) return this.onMalformed(incoming, channel)
    if (Message.isResponse(incoming)) return this.onResponse(incoming)
    if (Message.isRequest(incoming)) {
      const side = this.side.sideOf === undefined ? this.side : this.side.sideOf(incoming)
      return void this.requests.start(channel, incoming, side)
    }
    this.onNotification(incoming, channel)
  }

  get lastId(): Passive["lastId"] {
    return () => this.madeCalls?.lastId ?? this.options.afterId ?? 0
  }

  get abandon(): Passive["abandon"] {
    return (id) => this.requests.abandon((request) => request.id === id)
  }

  get retire(): Passive["retire"] {
    return (endsNow) =>
      Effect.suspend(() => {
        this.requests.isQuiet = true
        // This is called before the handlers are interrupted. Therefore the interrupted handlers send no cancellation for their calls, and
        // their calls do not fail.
        this.calls.seal()
        this.requests.abandon(({ method }) => endsNow(method))
        const timer = this.calls.close()
        return Effect.zipRight(
          timer === undefined ? this.requests.awaitIdle : Effect.zipRight(Fiber.await(timer), this.requests.awaitIdle),
          this.close
        )
      })
  }

  /** One shared time limit for all effects that the conversation waits for when it closes. */
  get closeTimeout(): ReturnType<typeof TimeLimit.shared> {
    return TimeLimit.shared(this.options.closeTimeout ?? TimeLimit.CLOSE)
  }

  /**
   * Begins to close the conversation. `exit` is the exit of the transport. Later calls do nothing. The conversation closes on a new fiber,
   * because the caller may be one of the handlers that are interrupted.
   */
  end(exit: Exit.Exit<void, TransportError>): void {
    if (this.requests.closing) return
    this.requests.closing = true
    const error = Exit.isFailure(exit) ? errorOf(exit.cause) : undefined
    if (this.isIdle) this.complete(error)
    else EffectInternals.runFork(this.env.runtime, this.shutDown(error))
  }

  private get isIdle(): boolean {
    const { diagnostics, madeCalls, requests } = this
    return requests.isIdle && diagnostics.isIdle &&
      (madeCalls === undefined || (madeCalls.size === 0 && !madeCalls.hasTimer))
  }

  private complete(error: TransportError | undefined): void {
    // `calls` is made now if there were no calls. Therefore each later call fails at once, with the reason of the end.
    this.calls.close(error)
    this.result = error === undefined ? Exit.void : Exit.fail(error)
    if (this.whenEnded !== undefined) EffectInternals.done(this.whenEnded, this.result)
  }

  private shutDown(error: TransportError | undefined): Effect.Effect<unknown> {
    return Effect.flatMap(this.closeTimeout, (limited) => {
      // The calls are sealed first, and then the handlers are interrupted. Therefore a handler that waits for the peer is interrupted: its
      // call does not fail with `ConnectionClosed`, and sends no cancellation.
      this.calls.seal(error)
      this.requests.interruptAll()
      const timer = this.calls.close(error)
      return this.requests.close(limited).pipe(
        Effect.zipRight(timer === undefined ? Effect.void : Fiber.await(timer)),
        Effect.zipRight(this.diagnostics.drain(limited)),
        Effect.zipRight(Effect.sync(() => this.complete(error)))
      )
    })
  }

  private onNotification(notification: Message.Notification, channel: Channel): void {
    if (this.requests.closing) return
    const { method, params } = notification
    if (method === Calls.CANCELLED && Message.isRequestId(params?.requestId)) {
      this.requests.cancel(channel, params.requestId, params.reason)
    } else if (method === Progress.METHOD && this.calls.onProgress(params)) {
      return
    }
    const handler = attempt(() => this.side.onNotification(notification, channel), Effect.failCause)
    if (handler !== undefined) this.requests.handle(method, handler)
  }

  private onResponse(response: Message.Response): void {
    if (this.calls.onResponse(response)) return
    if (response.id === undefined || response.id === null) {
      this.diagnostics.report(Diagnostic.UnattributedError({ error: (response as Message.Failure).error }))
    } else {
      this.diagnostics.report(Diagnostic.UnknownResponse({ response, late: this.calls.wasIssued(response.id) }))
    }
  }

  private onMalformed(given: Message.Malformed, channel: Channel): void {
    const isAllowed = given.batch !== undefined && attempt(() => this.options.batches?.() === true, () => false)
    const messages = isAllowed ? Batch.messages(given.batch!) : undefined
    if (messages !== undefined) return messages.forEach((message) => this.receive(message, channel))
    const malformed = isAllowed ? Batch.refused(given) : given
    const { id, kind } = malformed
    const isResponse = (kind === "response" || kind === "unknown") && this.calls.onMalformed(malformed)
    if (isResponse && kind === "unknown") channel.onUnanswered?.(id!)
    else if (this.isAnswered(malformed)) channel.unsafeSend(Message.malformedResponse(malformed))
    this.diagnostics.report(Diagnostic.Malformed({ malformed }))
    if (malformed.batch !== undefined) this.calls.onRefusedBatch(malformed.batch, malformed.message)
  }

  private isAnswered({ id, kind }: Message.Malformed): boolean {
    if (this.options.reportOnly) return kind === "request" && id !== undefined
    return kind === "request" || kind === "unknown"
  }
}

const cannotResume = (method: string): TransportError =>
  new TransportError({ reason: "Write", message: `"${method}" was not sent: this transport cannot resume requests` })

const errorOf = (cause: Cause.Cause<TransportError>): TransportError | undefined =>
  Cause.isInterruptedOnly(cause) ? undefined : Option.getOrElse(
    Cause.failureOption(cause),
    () => new TransportError({ reason: "Read", message: "The transport died", cause })
  )

/** The peer counts as gone after this number of pings in a row without any message from the peer. */
const MISSES = 2

/**
 * Checks whether the peer is still there although the transport is open. Sends pings when the peer has sent nothing for `interval`, and
 * fails when the peer sends nothing after two pings in a row. Any message shows that the peer is there, also an error response to a ping.
 * Sends no ping while no channel can carry requests. `received` returns how many messages the peer has sent.
 */
const beating = (
  outbound: Pick<Outbound, "request">,
  received: () => number,
  { interval, method }: NonNullable<Options["heartbeat"]>
): Effect.Effect<never, TransportError> => {
  /** Runs `during`. Returns `true` when `during` returns `true` and the peer has sent no message in the meantime. */
  const isSilent = (during: Effect.Effect<boolean>): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const before = received()
      return Effect.map(during, (isOver) => isOver && received() === before)
    })

  /**
   * Returns `true` when the ping got no answer. Waits at most `interval` for the answer. When the transport fails, also waits `interval`
   * after the failure.
   */
  const isUnanswered = (name: string): Effect.Effect<boolean> =>
    // Both limits are set, because `pauseTimeouts` may pause `timeout` but not `maxTotalTimeout`.
    Effect.matchEffect(outbound.request(name, undefined, { timeout: interval, maxTotalTimeout: interval }), {
      onFailure: ({ _tag }) =>
        _tag === "TransportError" ? Effect.as(Effect.sleep(interval), true) : Effect.succeed(_tag === "RequestTimeout"),
      onSuccess: () => Effect.succeed(false)
    })

  const ping = (name: string, misses: number): Effect.Effect<void, TransportError> =>
    Effect.flatMap(isSilent(isUnanswered(name)), (silent) => silent ? missed(name, misses + 1) : Effect.void)

  const missed = (name: string, misses: number): Effect.Effect<void, TransportError> =>
    misses < MISSES ? ping(name, misses) : Effect.fail(
      new TransportError({
        reason: "Read",
        message: `The peer is gone: ${MISSES} pings had no answer, each within ${Duration.format(interval)}`
      })
    )

  return Effect.forever(Effect.flatMap(isSilent(Effect.as(Effect.sleep(interval), true)), (silent) => {
    const name = silent ? method() : undefined
    return name === undefined ? Effect.void : ping(name, 0)
  }))
}
