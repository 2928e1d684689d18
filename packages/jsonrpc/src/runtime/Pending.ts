/**
 * Requests we have asked, by id, and who waits: the room that gives out ids, keeps deadlines, finds the call that an
 * answer or a progress notification belongs to, and ends every call in exactly one way.
 *
 * It knows nothing of requests we are answering; that is `InFlight`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as JsonRpcError from "../JsonRpcError.js"
import * as Message from "../Message.js"
import type { CallError, RequestOptions } from "../Outbound.js"
import { ConnectionClosed, RequestTimeout } from "../Outbound.js"
import * as Progress from "../Progress.js"
import { TransportError } from "../Transport.js"
import * as DeadlineTimer from "./DeadlineTimer.js"
import * as Json from "./Json.js"
import * as Outcome from "./Outcome.js"

/**
 * The notification that tells a peer to stop working on a request.
 *
 * @since 0.1.0
 * @category constants
 */
export const CANCELLED = "notifications/cancelled"

/**
 * Says something to the peer now; `false` when nobody is left to hear it.
 *
 * @since 0.1.0
 * @category models
 */
export type Emit = (message: Message.Message) => boolean

type CallExit = Effect.Effect<Message.Params, CallError>

interface Call {
  readonly id: Message.RequestId
  readonly method: string
  readonly emit: Emit
  readonly resume: (outcome: CallExit) => void
  readonly cancelOnAbandon: boolean
  readonly started: number
  readonly millis: number
  readonly latest: number
  readonly extends: boolean
  readonly delivery: Progress.Delivery | undefined
  deadline: number
  /** The answer, while progress that came before it is still being delivered. */
  answer: CallExit | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export class Pending {
  private readonly calls = new Map<Message.RequestId, Call>()
  private made: DeadlineTimer.DeadlineTimer | undefined
  private lastId = 0
  private closed: ConnectionClosed | undefined

  constructor(
    private readonly makeAlarm: (ring: (now: number) => number) => DeadlineTimer.DeadlineTimer,
    /** Milliseconds; `Infinity` for none. */
    private readonly defaultTimeout: number
  ) {}

  private get alarm(): DeadlineTimer.DeadlineTimer {
    return this.made ??= this.makeAlarm((now) => this.expire(now))
  }

  /** Whether there is, or was, a deadline. */
  get isAlarmed(): boolean {
    return this.made !== undefined
  }

  /** How many calls wait. */
  get size(): number {
    return this.calls.size
  }

  /** Whether an id is one of ours from earlier: what tells a late answer from a made-up one. */
  wasIssued(id: Message.RequestId): boolean {
    const ours = typeof id === "number" ? id : twinOf(id)
    return typeof ours === "number" && ours >= 1 && ours <= this.lastId
  }

  /** Asks through `emit` and waits. */
  request(
    emit: Emit,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined
  ): Effect.Effect<Message.Params, CallError> {
    const onProgress = options?.onProgress
    return onProgress === undefined
      ? this.start(emit, method, params, options, undefined)
      : Effect.flatMap(
        Effect.runtime<never>(),
        (runtime) => this.start(emit, method, params, options, new Progress.Delivery(runtime, onProgress))
      )
  }

  private start(
    emit: Emit,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined,
    delivery: Progress.Delivery | undefined
  ): Effect.Effect<Message.Params, CallError> {
    // Uninterruptible around the wait, because a fiber can be interrupted after its request was sent and before it waits.
    return Effect.uninterruptibleMask((restore) => {
      let early: CallExit | undefined
      let resume = (outcome: CallExit): void => {
        early = outcome
      }
      const call = this.send(emit, method, params, options, delivery, (outcome) => resume(outcome))
      // Over `Direct` the answer is often here already, and there is nothing to wait for.
      if (early !== undefined) return early
      return Effect.catchAllCause(
        restore(Effect.async<Message.Params, CallError>((wake) => {
          if (early === undefined) resume = wake
          else wake(early)
        })),
        (cause) =>
          Effect.zipRight(
            call === undefined ? Effect.void : this.abandon(call, "the caller was interrupted"),
            Effect.failCause(cause)
          )
      )
    })
  }

  private send(
    emit: Emit,
    method: string,
    params: Message.Params | undefined,
    options: RequestOptions | undefined,
    delivery: Progress.Delivery | undefined,
    resume: (outcome: CallExit) => void
  ): Call | undefined {
    const millis = options?.timeout === undefined ? this.defaultTimeout : DeadlineTimer.millis(options.timeout)
    const total = options?.maxTotalTimeout === undefined ? Infinity : DeadlineTimer.millis(options.maxTotalTimeout)
    if (this.closed !== undefined || millis <= 0 || total <= 0) {
      resume(Effect.fail(this.closed ?? new RequestTimeout({ method, millis: 0 })))
      return undefined
    }
    const now = millis === Infinity && total === Infinity ? 0 : this.alarm.now()
    const id = this.mint()
    const extending = options?.resetTimeoutOnProgress === true
    const call: Call = {
      id,
      method,
      emit,
      resume,
      cancelOnAbandon: options?.cancelOnAbandon !== false,
      started: now,
      millis,
      latest: now + total,
      extends: extending,
      delivery,
      deadline: now + Math.min(millis, total),
      answer: undefined
    }
    this.calls.set(id, call)
    if (call.deadline !== Infinity) this.alarm.set(call.deadline)
    const message = Message.request(id, method, delivery === undefined && !extending ? params : asking(params, id))
    const sent = Outcome.attempt(() => emit(message), (defect) => {
      this.resume(call, Effect.failCause(defect))
      return true
    })
    if (!sent) this.resume(call, Effect.fail(this.closed ?? unsent(message)))
    return call
  }

  /** Ends the call that the response answers; `false` when there is none. */
  settle(response: Message.Response): boolean {
    const call = this.find(response.id)
    if (call === undefined) return false
    this.end(
      call,
      Message.isSuccess(response)
        ? Effect.succeed(response.result)
        // Three members and no more: any other would be the peer's to choose, in an object of ours.
        : Effect.fail(new JsonRpcError.JsonRpcError(JsonRpcError.toObject(response.error)))
    )
    return true
  }

  /** Ends the call that a malformed response was meant to answer; `false` when there is none. */
  spoil(malformed: Message.Malformed): boolean {
    const call = this.find(malformed.id)
    if (call === undefined) return false
    this.end(call, Effect.fail(new TransportError({ reason: "Decode", message: malformed.message })))
    return true
  }

  /** Ends the call that the transport could not deliver, or whose answer it lost; `false` when there is none. */
  lose({ error, id }: Message.Undelivered): boolean {
    const call = this.find(id)
    if (call === undefined) return false
    this.end(call, Effect.fail(error))
    return true
  }

  /** Hands progress to the call that its token names; `false` when no call takes it. */
  progress(params: Message.Params | undefined): boolean {
    const call = this.find(Progress.token(params))
    const progress = Progress.fromParams(params)
    if (call === undefined || progress === undefined) return false
    if (call.extends) call.deadline = Math.min(this.alarm.now() + call.millis, call.latest)
    if (call.delivery === undefined) return call.extends
    call.delivery.offer(progress)
    return true
  }

  /**
   * Ends every call, and every one to come, with `ConnectionClosed`. A call whose answer is here already gets it, after
   * the progress that came before. Gives what is left to wait for.
   */
  close(cause?: TransportError): Fiber.RuntimeFiber<void> | undefined {
    if (this.closed !== undefined) return undefined
    this.closed = new ConnectionClosed({ cause })
    for (const call of [...this.calls.values()]) {
      if (call.answer !== undefined) continue
      call.delivery?.stop()
      this.resume(call, Effect.fail(this.closed))
    }
    return this.calls.size === 0 ? this.made?.stop() : undefined
  }

  private mint(): number {
    return ++this.lastId
  }

  // The peer may have turned our number into a string, or a string into a number: the exact id wins, then its twin.
  private find(id: unknown): Call | undefined {
    if (!Message.isRequestId(id)) return undefined
    const twin = this.calls.has(id) ? id : twinOf(id)
    const call = twin === undefined ? undefined : this.calls.get(twin)
    return call?.answer === undefined ? call : undefined
  }

  private end(call: Call, outcome: CallExit): void {
    if (call.delivery === undefined) return this.resume(call, outcome)
    call.answer = outcome
    call.delivery.drained(() => this.resume(call, outcome))
  }

  private resume(call: Call, outcome: CallExit): void {
    if (this.forget(call)) call.resume(outcome)
  }

  private forget(call: Call): boolean {
    const waited = this.calls.delete(call.id)
    if (this.closed !== undefined && this.calls.size === 0) this.made?.stop()
    return waited
  }

  private abandon(call: Call, reason: string): Effect.Effect<void> {
    const delivering = call.delivery?.stop()
    // Over already: by its timeout, say, which no callback may hold up.
    if (!this.forget(call)) return Effect.void
    this.cancel(call, reason)
    return delivering === undefined ? Effect.void : Effect.asVoid(Fiber.await(delivering))
  }

  private cancel(call: Call, reason: string): void {
    if (!call.cancelOnAbandon || call.answer !== undefined) return
    Outcome.attempt(() => call.emit(Message.notification(CANCELLED, { requestId: call.id, reason })), () => false)
  }

  private expire(now: number): number {
    let next = Infinity
    for (const call of [...this.calls.values()]) {
      if (call.deadline > now) {
        next = Math.min(next, call.deadline)
        continue
      }
      // What was due before it may have ended it: everything is synchronous over `Direct`.
      if (!this.forget(call)) continue
      call.delivery?.stop()
      const millis = Math.round(call.deadline - call.started)
      this.cancel(call, `timed out after ${millis} ms`)
      call.resume(call.answer ?? Effect.fail(new RequestTimeout({ method: call.method, millis })))
    }
    return next
  }
}

/**
 * The other way to write an id: `7` for `"7"` and back. `"07"` and `"x"` have none.
 *
 * @since 0.1.0
 * @category conversions
 */
export const twinOf = (id: Message.RequestId): Message.RequestId | undefined => {
  if (typeof id === "number") return String(id)
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : undefined
}

// The token is the id: unique among the calls in flight, and it tells nothing new.
const asking = (params: Message.Params | undefined, id: Message.RequestId): Message.Params => ({
  ...params,
  _meta: { ...(params?._meta as Message.Params | undefined), progressToken: id }
})

const unsent = (message: Message.Request): CallError =>
  Json.stringify(message) === undefined
    ? new TransportError({ reason: "Encode", message: `The parameters of "${message.method}" have no JSON form` })
    : new ConnectionClosed({})
