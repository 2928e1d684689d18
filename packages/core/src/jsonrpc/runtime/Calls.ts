/**
 * The requests of this side that wait for an answer in a `Conversation`, by id. A request of this side is named a call. This module makes
 * the ids, checks the deadlines, and finds the call to which an answer or a progress notification belongs. It limits the number of calls
 * that are sent and not yet answered, so that a peer has no reason to refuse a request. It makes sure that every call ends exactly one
 * time. `Requests` has the requests of the peer.
 *
 * `Calls` is a class with mutable fields because this code runs for every request. A call over `Direct` takes 3 µs on both sides together.
 * A `Deferred` would add 12 µs, and `Effect.timeout` 39 µs. A call is in `calls` from before it is sent until its caller is resumed. If
 * `pauses` is not 0, only `latest` limits the time of a call. After a pause, every deadline moves by the time for which its call waited in
 * the pause. `sent` counts the calls that are sent and not yet answered. `text` counts the characters of the measured calls among them.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Deadlines from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import * as JsonRpcError from "../JsonRpcError.js"
import { ConnectionClosed, RequestTimeout, TransportError } from "../LocalError.js"
import * as Message from "../Message.js"
import * as MessageText from "../MessageText.js"
import type { CallError, RequestOptions } from "../Outbound.js"
import * as Progress from "../Progress.js"
import type { OpenCall, SendOptions, Undelivered } from "../Transport.js"
import * as Diagnostics from "./Diagnostics.js"
import * as JsonText from "./JsonText.js"
import { otherForm } from "./RequestIds.js"

export const CANCELLED = "notifications/cancelled"

/**
 * How many requests of this side may be sent and not yet answered by default. A peer with the defaults of this library accepts more
 * requests.
 */
export const MAX_PENDING = 1024

/**
 * How many requests a peer with the defaults of this library runs at the same time. `MAX_TEXT` does not limit the length of these requests.
 */
const RUNNING = 64

/**
 * How many characters the requests after the first `RUNNING` requests may have together. A peer with the defaults of this library lets
 * waiting requests have this number of characters.
 */
const MAX_TEXT = 16 * 1024 * 1024

/**
 * How many progress notifications may wait for a slow `onProgress`. When there are more, the oldest are dropped. The oldest are also
 * dropped when the waiting notifications together have too many characters.
 */
export const MAX_PROGRESS = 256

/** The default of `maxTotalTimeout` for a call whose timeout is restarted by progress: a day, in milliseconds. */
const MAX_TOTAL = 86_400_000

/** Sends a message without waiting. Returns `false` when the transport is closed. */
type Send = (message: Message.Message, options?: SendOptions, call?: OpenCall) => boolean

type CallExit = Effect.Effect<Message.Params, CallError>

/** The state of a call, from before it is sent until its caller is resumed. */
interface Call extends OpenCall {
  readonly id: Message.RequestId
  readonly method: string
  readonly send: Send
  readonly options: RequestOptions | undefined
  readonly resume: (exit: CallExit) => void
  readonly cancelOnAbandon: boolean
  readonly started: number
  /** The timeout of the call in milliseconds, or `Infinity`. */
  readonly millis: number
  /** The deadline that neither progress nor a pause extends. `Infinity` when there is none. */
  readonly latest: number
  readonly resetOnProgress: boolean
  /** The queue that runs `onProgress`; `undefined` without `onProgress`. */
  readonly delivery: SerialQueue | undefined
  deadline: number
  isSent: boolean
  /** How many characters the call adds to `Calls.text` between its request and its answer. 0 for a call that was not measured. */
  text: number
  /** The answer, if it has arrived but `onProgress` still handles progress that arrived before the answer. */
  answer: CallExit | undefined
}

export class Calls {
  private readonly calls = new Map<Message.RequestId, Call>()
  private madeDeadlines: Deadlines.Deadlines | undefined
  private closed: ConnectionClosed | undefined
  private pauses = 0
  private pausedAt = 0
  private sent = 0
  private text = 0
  /** The calls that wait to be sent, in order. */
  private unsent: Map<Call, Message.Request> | undefined
  /** Whether `sendWaiting` must send nothing at the moment. */
  private isHeld = false

  constructor(
    private readonly makeDeadlines: () => Deadlines.Deadlines,
    private readonly defaultTimeoutMillis: number,
    private readonly neverWaits: (method: string) => boolean,
    private readonly maxPending = MAX_PENDING,
    private last = 0
  ) {}

  /** The id of the last call. Before the first call, 0 or the number from which the ids count. */
  get lastId(): number {
    return this.last
  }

  private get deadlines(): Deadlines.Deadlines {
    return this.madeDeadlines ??= this.makeDeadlines().watch({ sweep: (now) => this.expire(now) }, Infinity)
  }

  get hasTimer(): boolean {
    return this.madeDeadlines !== undefined
  }

  get size(): number {
    return this.calls.size
  }

  /** Whether a request of this side had this id. An answer with this id is then late. */
  wasIssued(id: Message.RequestId): boolean {
    const ours = typeof id === "number" ? id : otherForm(id)
    return typeof ours === "number" && ours >= 1 && ours <= this.last
  }

  request(
    send: Send,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined
  ): Effect.Effect<Message.Params, CallError> {
    const onProgress = options?.onProgress
    return onProgress === undefined
      ? this.run(send, method, params, options, undefined)
      : Effect.flatMap(
        EffectInternals.services,
        (runtime) =>
          this.run(send, method, params, options, new SerialQueue({ runtime, capacity: MAX_PROGRESS, surplus: "drop" }))
      )
  }

  private run(
    send: Send,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined,
    delivery: SerialQueue | undefined
  ): Effect.Effect<Message.Params, CallError> {
    // The code around the wait is uninterruptible, because a fiber can be interrupted after its request was sent and before it waits.
    return Effect.uninterruptibleMask((restore) => {
      let early: CallExit | undefined
      let resume = (exit: CallExit): void => {
        early = exit
      }
      const call = this.begin(send, method, params, options, delivery, (exit) => resume(exit))
      if (early !== undefined) return early
      return Effect.catchAllCause(
        restore(Effect.async<Message.Params, CallError>((wake) => {
          if (early === undefined) resume = wake
          else wake(early)
        })),
        (cause) =>
          Effect.zipRight(
            call === undefined
              ? Effect.void
              : this.abandon(call, options?.cancelReason ?? "the caller was interrupted"),
            Effect.failCause(cause)
          )
      )
    })
  }

  private begin(
    send: Send,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined,
    delivery: SerialQueue | undefined,
    resume: (exit: CallExit) => void
  ): Call | undefined {
    const millis = options?.timeout === undefined ? this.defaultTimeoutMillis : Deadlines.millis(options.timeout)
    const resetOnProgress = options?.resetTimeoutOnProgress === true
    const total = options?.maxTotalTimeout !== undefined
      ? Deadlines.millis(options.maxTotalTimeout)
      // SHOULD always enforce a maximum timeout, whatever progress arrives (2025-11-25 basic/lifecycle#timeouts)
      : resetOnProgress && millis !== Infinity
      ? Math.max(millis, MAX_TOTAL)
      : Infinity
    if (this.closed !== undefined || millis <= 0 || total <= 0) {
      resume(Effect.fail(this.closed === undefined ? new RequestTimeout({ method, millis: 0 }) : unsent(this.closed)))
      return undefined
    }
    const now = millis === Infinity && total === Infinity ? 0 : this.deadlines.now()
    const id = ++this.last
    const call: Call = {
      id,
      method,
      send,
      options,
      resume,
      cancelOnAbandon: options?.cancelOnAbandon !== false,
      started: now,
      millis,
      latest: now + total,
      resetOnProgress,
      delivery,
      deadline: now + millis,
      isSent: false,
      text: 0,
      answer: undefined,
      exchange: undefined
    }
    options?.onId?.(id)
    this.calls.set(id, call)
    const due = this.dueAt(call)
    if (due !== Infinity) this.deadlines.set(due)
    const wantsProgress = delivery !== undefined || resetOnProgress
    const message = Message.request(id, method, wantsProgress ? withProgressToken(params, id) : params)
    const isNext = this.unsent === undefined || this.unsent.size === 0
    if (isNext && this.fits(call, message) || this.neverWaits(method)) this.send(call, message)
    else (this.unsent ??= new Map()).set(call, message)
    return call
  }

  /**
   * Whether this side may send one more call. This is the case when the peer can run the request without a wait, or has space for its text
   * among the waiting requests.
   */
  private fits(call: Call, message: Message.Request): boolean {
    if (this.sent >= this.maxPending) return false
    if (this.sent < RUNNING) return true
    // A call is measured once, because measuring writes the JSON text, and the call may have to wait for many other calls.
    call.text ||= MessageText.lengthOf(message)
    return this.text + call.text <= MAX_TEXT
  }

  private send(call: Call, message: Message.Request): void {
    call.isSent = true
    this.sent++
    this.text += call.text
    const sent = Diagnostics.attempt(() => call.send(message, call.options, call), (defect) => {
      this.resume(call, Effect.failCause(defect))
      return true
    })
    if (!sent) this.resume(call, Effect.fail(this.closed === undefined ? notSent(message) : unsent(this.closed)))
  }

  private readonly sendWaiting = (): void => {
    // Over `Direct` an answer comes before `send` returns. Then the loop that already runs sends the next call.
    if (this.unsent === undefined || this.isHeld || this.closed !== undefined) return
    this.isHeld = true
    for (const [call, message] of this.unsent) {
      if (!this.fits(call, message)) break
      this.unsent.delete(call)
      this.send(call, message)
    }
    this.isHeld = false
  }

  /** Removes a call whose caller no longer waits. Returns `false` when the call has already ended. Many calls may be removed in a row. */
  private withdraw(call: Call): boolean {
    const { isHeld } = this
    this.isHeld = true
    const waited = this.remove(call)
    this.isHeld = isHeld
    // The next call is sent later, because it may be one of the next calls to be removed.
    if (this.unsent !== undefined && this.unsent.size > 0) EffectInternals.later(this.sendWaiting)
    return waited
  }

  /** Ends the call to which the response belongs. Returns `false` when no such call waits. */
  onResponse(response: Message.Response): boolean {
    const call = this.find(response.id)
    if (call === undefined) return false
    this.end(
      call,
      Message.isSuccess(response)
        ? Effect.succeed(response.result)
        // `toObject` copies only the three members of an error, because other members that the peer has sent must not become fields of the
        // error here.
        : Effect.fail(new JsonRpcError.JsonRpcError(JsonRpcError.toObject(response.error)))
    )
    return true
  }

  /** Ends the call that a malformed response was meant to answer. Returns `false` when no such call waits. */
  onMalformed(malformed: Message.Malformed): boolean {
    return this.fail(malformed.id, ({ method }) => {
      const message = malformed.kind === "unknown" && malformed.code === JsonRpcError.INVALID_REQUEST
        ? `Invalid response to "${method}": it has neither "result" nor "error"`
        : malformed.message
      return new TransportError({ reason: "Decode", message })
    })
  }

  /** Ends the calls whose answers are in a batch that was refused. */
  onRefusedBatch(batch: ReadonlyArray<unknown>, why: string): void {
    if (this.calls.size === 0) return
    for (const element of batch) {
      const incoming = Message.fromUnknown(element)
      const answers = Message.isMalformed(incoming)
        ? incoming.kind === "response" || incoming.kind === "unknown"
        : Message.isResponse(incoming)
      if (!answers) continue
      this.fail((incoming as Message.Response).id, () => new TransportError({ reason: "Decode", message: why }))
    }
  }

  /** Ends the call whose request or answer the transport has lost. Returns `false` when no such call waits. */
  onUndelivered({ error, id }: Undelivered): boolean {
    return this.fail(id, () => error)
  }

  private fail(id: unknown, errorOf: (call: Call) => CallError): boolean {
    const call = this.find(id)
    if (call === undefined) return false
    this.end(call, Effect.fail(errorOf(call)))
    return true
  }

  /** Passes progress to the call that the token of the notification names. Returns `false` when no call wants this progress. */
  onProgress(params: Message.Params | undefined): boolean {
    const call = this.find(Progress.token(params))
    const progress = Progress.fromParams(params)
    if (call === undefined || progress === undefined) return false
    if (call.resetOnProgress) call.deadline = this.deadlines.now() + call.millis
    if (call.delivery === undefined) return call.resetOnProgress
    const size = progress.message?.length
    call.delivery.add(() => delivered(call.options!.onProgress!, progress), undefined, undefined, size)
    return true
  }

  /** Stops all sending: each new call fails with `ConnectionClosed`, and this side sends no cancellation. The existing calls still wait. */
  seal(cause?: TransportError): void {
    this.closed ??= new ConnectionClosed({ cause })
  }

  /**
   * Ends every call, and each later call, with `ConnectionClosed`. A call whose answer has arrived still gets the answer, after the
   * progress that arrived before the answer. Returns the fiber of the timer if the caller has to wait for the end of the timer.
   */
  close(cause?: TransportError): Fiber.RuntimeFiber<void> | undefined {
    this.seal(cause)
    const closed = Effect.fail(this.closed!)
    const unanswered = [...this.calls.values()].filter(({ answer }) => answer === undefined)
    const timer = unanswered.length === this.calls.size ? this.madeDeadlines?.stop() : undefined
    for (const call of unanswered) {
      call.delivery?.stop()
      this.resume(call, call.isSent ? closed : Effect.fail(unsent(this.closed!)))
    }
    return timer
  }

  /** Pauses the timeouts of all calls until `resumeTimeouts` was called as often as `pauseTimeouts`. `maxTotalTimeout` is not paused. */
  pauseTimeouts(): void {
    if (this.pauses++ === 0) this.pausedAt = this.deadlines.now()
  }

  resumeTimeouts(): void {
    if (--this.pauses > 0) return
    const now = this.deadlines.now()
    for (const call of this.calls.values()) {
      if (call.deadline === Infinity) continue
      call.deadline += now - Math.max(this.pausedAt, call.deadline - call.millis)
      this.deadlines.set(this.dueAt(call))
    }
  }

  private dueAt(call: Call): number {
    return this.pauses > 0 ? call.latest : Math.min(call.deadline, call.latest)
  }

  private find(id: unknown): Call | undefined {
    if (!Message.isRequestId(id)) return undefined
    const key = this.calls.has(id) ? id : otherForm(id)
    const call = key === undefined ? undefined : this.calls.get(key)
    return call?.answer === undefined ? call : undefined
  }

  private end(call: Call, exit: CallExit): void {
    if (call.delivery === undefined) return this.resume(call, exit)
    call.answer = exit
    call.delivery.whenIdle(() => this.resume(call, exit))
  }

  private resume(call: Call, exit: CallExit): void {
    if (this.remove(call)) call.resume(exit)
  }

  private remove(call: Call): boolean {
    const waited = this.calls.delete(call.id)
    if (this.closed !== undefined && this.calls.size === 0) this.madeDeadlines?.stop()
    if (waited && call.isSent) {
      this.sent--
      this.text -= call.text
    }
    if (waited && this.unsent !== undefined) {
      this.unsent.delete(call)
      this.sendWaiting()
    }
    return waited
  }

  private abandon(call: Call, reason: string): Effect.Effect<void> {
    const delivering = call.delivery?.stop()
    // The call has already ended, for example by its timeout. A timeout does not wait for the end of `onProgress`.
    if (!this.withdraw(call)) return Effect.void
    this.cancel(call, reason)
    return delivering === undefined ? Effect.void : Effect.asVoid(Fiber.await(delivering))
  }

  private cancel(call: Call, reason: string): void {
    if (!call.isSent || !call.cancelOnAbandon || call.answer !== undefined || this.closed !== undefined) return
    const message = Message.notification(CANCELLED, { requestId: call.id, reason })
    Diagnostics.attempt(() => call.send(message, undefined, call), () => false)
  }

  private expire(now: number): number {
    let next = Infinity
    for (const call of [...this.calls.values()]) {
      const due = this.dueAt(call)
      if (due > now) {
        next = Math.min(next, due)
        continue
      }
      // An earlier step of this loop may have ended the call. Over `Direct`, the cancellation of one call can end another call at once.
      if (!this.withdraw(call)) continue
      call.delivery?.stop()
      const millis = Math.round(due - call.started)
      this.cancel(call, `timed out after ${millis} ms`)
      call.resume(call.answer ?? Effect.fail(new RequestTimeout({ method: call.method, millis })))
    }
    return next
  }
}

// The id of the request is also its progress token, because the id is unique among the open calls.
const withProgressToken = (params: Message.Params | undefined, id: Message.RequestId): Message.Params => ({
  ...params,
  _meta: { ...(params?._meta as Message.Params | undefined), progressToken: id }
})

const delivered = (
  onProgress: (progress: Progress.Progress) => Effect.Effect<void>,
  progress: Progress.Progress
): Effect.Effect<void> =>
  Effect.catchAllCause(
    Effect.suspend(() => onProgress(progress)),
    (cause) => Effect.logWarning("A progress callback failed", cause)
  )

const notSent = (message: Message.Request): CallError =>
  JsonText.stringify(message) === undefined
    ? new TransportError({ reason: "Encode", message: `The parameters of "${message.method}" have no JSON form` })
    : unsent()

const unsent = (closed?: ConnectionClosed): ConnectionClosed =>
  new ConnectionClosed({ cause: closed?.cause, isUnsent: true })
