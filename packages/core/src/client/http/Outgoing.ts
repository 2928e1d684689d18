/**
 * Sends the messages of a conversation, each in its own HTTP request and on its own fiber. Messages do not wait for each other, with one
 * exception: requests wait until the server has accepted `notifications/initialized`. A request that is cancelled before it is sent is
 * never sent; a request that is cancelled later is interrupted. The call of a request stores the fiber of its POST, as its `exchange`.
 *
 * A `Sender` sends the messages of one transport; `legacy/Http`, `legacy/Sse` and `modern/Http` each have a `Sender`.
 * `negotiation/HttpTransport` chooses the `Sender` of each message.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { closed, type OpenCall, type SendOptions, type Transport, Undelivered } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { raceFirst } from "../../kit/Race.js"
import { neverWaits } from "../../protocol/rules/NeverWaits.js"
import type { HttpConnection } from "./HttpConnection.js"
import * as ResumptionToken from "./ResumptionToken.js"
import { Surrounding } from "./Surrounding.js"

export interface Sender {
  /** Sends a request, and delivers its answer or the reason why there is none, once. */
  readonly request: (request: Message.Request, text: string, options?: SendOptions) => Effect.Effect<void>
  /** Sends a notification or a response. Fails when the server does not accept the message. */
  readonly send: (message: Message.Message, text: string) => Effect.Effect<void, TransportError>
  /**
   * Whether the end of a request's HTTP connection cancels the request at the server. Otherwise the client sends a notification to cancel
   * it.
   */
  readonly cancelsByClosing: boolean
  /** Whether this sender can resume a request that was sent before. */
  readonly canResume: boolean
}

/** The HTTP exchange of a call that is open. */
interface Exchange {
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
  isSent: boolean
  /** Whether a notification that cancels the call is sent to the server. */
  sendsCancel: boolean
  /** The id under which the server received the request. It differs from the id of the call when an earlier connection sent the request. */
  readonly sentAs: Message.RequestId
}

type OnFailure = (message: Message.Message, error: TransportError) => Effect.Effect<void>

/** The outgoing half of a transport. `senderOf` chooses the sender of a message just before the message is sent. */
export class Outgoing {
  constructor(
    private readonly connection: HttpConnection,
    private readonly senderOf: (message: Message.Message) => Effect.Effect<Sender>
  ) {}

  readonly unsafeSend: Transport["unsafeSend"] = (message, options, call) =>
    this.take(message, this.log, options, call) !== undefined

  // Messages that one caller sends one after another arrive in order, because each `send` waits until the server has accepted its message.
  readonly send: Transport["send"] = (message) =>
    Effect.zipRight(
      Message.isRequest(message) ? this.connection.requests.awaitSpace : this.connection.messages.awaitSpace,
      Effect.flatMap(Surrounding, (around) => this.take(message, () => Effect.void, { around }) ?? Effect.fail(closed))
    )

  /**
   * Takes a message, and starts to send it. Returns an effect that waits until the server has accepted the message. Returns `undefined`
   * when the connection has ended, or when the message has no JSON form.
   */
  private take(
    message: Message.Message,
    onFailure: OnFailure,
    options?: SendOptions,
    call: OpenCall = {}
  ): Effect.Effect<void, TransportError> | undefined {
    const text = this.connection.isOpen() ? JsonText.stringify(message) : undefined
    if (text === undefined) return undefined
    if (Message.isRequest(message)) {
      const sending = this.request(message, text, options, call)
      this.connection.fork(options?.around === undefined ? sending : options.around(sending))
      return Effect.void
    }
    const cancelled = call.exchange as Exchange | undefined
    if (cancelled === undefined) return this.other(message, text, onFailure, options?.around)
    const accepted = cancelled.isSent && cancelled.sendsCancel
      ? this.other(message, cancelOf(message, cancelled.sentAs), onFailure)
      : Effect.void
    // The cancellation is sent to the server before the client stops reading.
    EffectInternals.interrupt(cancelled.fiber)
    return accepted
  }

  private request(
    message: Message.Request,
    text: string,
    options: SendOptions | undefined,
    call: OpenCall
  ): Effect.Effect<void> {
    const { reader, requests } = this.connection
    return Effect.withFiberRuntime<void>((fiber) => {
      const { id } = message
      const exchange: Exchange = { fiber, isSent: false, sendsCancel: true, sentAs: sentAs(id, options) }
      call.exchange = exchange
      const sending = Effect.flatMap(this.senderOf(message), (sender) => {
        exchange.isSent = true
        exchange.sendsCancel = !sender.cancelsByClosing
        return options?.resumptionToken !== undefined && !sender.canResume
          ? reader.deliver(new Undelivered(id, cannotResume(message.method)))
          : sender.request(message, text, options)
      })
      // Requests about tasks do not count for the limit of other requests. A request for the result of a task stays open until the task
      // ends, and the task may end only because of another request about the task.
      const takesNoPlace = neverWaits(message.method) || message.method.startsWith("tasks/")
      // An interrupted request has no caller that waits. After a defect, the caller still waits.
      return Effect.catchAllCause(
        takesNoPlace ? requests.pass(sending) : requests.run(sending),
        (cause) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.failCause(cause)
            : reader.deliver(new Undelivered(id, died("Read", "The request died", cause)))
      )
    })
  }

  /**
   * Starts to send a notification or a response. Returns an effect that waits until the server accepts it. The time limit includes the time
   * for which the message waits before it is sent.
   */
  private other(
    message: Message.Message,
    text: string,
    onFailure: OnFailure,
    around: SendOptions["around"] = identity
  ): Effect.Effect<void, TransportError> {
    const { forkMessage, messages, requests } = this.connection
    const sent = around(Effect.flatMap(this.senderOf(message), (sender) => sender.send(message, text)))
    const sending = messages.run(sent)
    const isInitialized = Message.isNotification(message) && message.method === INITIALIZED
    // The fiber starts here, and not in the effect that waits for it, so that messages start in the order in which they are taken.
    const fiber = forkMessage(Effect.catchAllDefect(
      isInitialized ? requests.hold(sending) : sending,
      (defect) => Effect.fail(died("Write", "Sending died", Cause.die(defect)))
    ))
    const accepting = Effect.onError(raceFirst(Fiber.join(fiber), this.expired), () => Fiber.interruptFork(fiber))
    return Effect.flatMap(
      Fiber.await(forkMessage(Effect.tapError(accepting, (error) => onFailure(message, error)))),
      (exit) => exit._tag === "Failure" && Cause.isInterruptedOnly(exit.cause) ? Effect.fail(closed) : exit
    )
  }

  /**
   * Fails when the time to accept a message is over. The time starts again when the authorizer has run meanwhile, because the user may have
   * logged in.
   */
  private readonly expired: Effect.Effect<never, TransportError> = Effect.suspend(() => {
    const { authorizing, settings: { acceptTimeout } } = this.connection
    const before = authorizing.ended
    return Effect.flatMap(
      Effect.sleep(acceptTimeout),
      () =>
        authorizing.running > 0 || authorizing.ended !== before
          ? this.expired
          : Effect.fail(notAccepted(acceptTimeout))
    )
  })

  /** Logs that a message was lost. No caller waits for the message, so only the log can say this. */
  private readonly log: OnFailure = (message, error) =>
    Effect.suspend(() => {
      if (!this.connection.isOpen()) return Effect.void
      const what = Message.isResponse(message) ? "A response" : `"${message.method}"`
      return Effect.logDebug(`${what} did not reach the server`, error)
    })
}

const INITIALIZED = "notifications/initialized"

const CANCELLED = "notifications/cancelled"

const sentAs = (id: Message.RequestId, options: SendOptions | undefined): Message.RequestId =>
  options?.resumptionToken === undefined
    ? id
    : Either.getOrUndefined(ResumptionToken.parse(options.resumptionToken))?.requestId ?? id

const cancelOf = (message: Message.Message, requestId: Message.RequestId): string => {
  const { params } = message as Message.Notification
  return JsonText.stringify(Message.notification(CANCELLED, { ...params, requestId }))!
}

const cannotResume = (method: string): TransportError =>
  new TransportError({
    reason: "Write",
    message:
      `"${method}" was not sent: a request can be resumed only over Streamable HTTP of revision 2025-11-25 or earlier`
  })

const died = (reason: "Read" | "Write", message: string, cause: Cause.Cause<unknown>): TransportError =>
  new TransportError({ reason, message, cause })

const notAccepted = (millis: number): TransportError =>
  new TransportError({ reason: "Write", message: `The server did not accept the message within ${millis} ms` })
