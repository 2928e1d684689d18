/**
 * The answer to one POST with requests, and the channel of these requests. The answer is JSON if nothing was sent before the responses, and
 * an event stream otherwise. `Http` and `Stateless` make a `Post` for each POST; the conversation sends on it.
 *
 * The fields are mutable, because a `Post` is made for each request, in code whose speed benchmarks measure. `remaining` counts the
 * responses that are still to come; once it is 0, nothing more is sent. While there is no `stream`, responses are collected in `responses`.
 * Once there is a stream, everything goes to the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import type * as Outcome from "../../jsonrpc/Outcome.js"
import type { Expirable } from "../../kit/Deadlines.js"
import { REQUEST_CANCELLED } from "../../protocol/ErrorCodes.js"
import type { Admitted, Headers } from "../http/HttpExchange.js"
import * as JsonOrStream from "../http/JsonOrStream.js"
import * as MediaType from "../http/MediaType.js"
import { AnswerChannel } from "../runtime/AnswerChannel.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Metrics from "../telemetry/Metrics.js"
import type { GuardedCall } from "./GuardedCalls.js"
import * as HttpBatch from "./HttpBatch.js"
import type { HttpContext } from "./HttpContext.js"
import type { HttpSession } from "./HttpSession.js"
import { ResumableStream } from "./ResumableStream.js"

export interface Options {
  /** How many responses the POST gets. */
  readonly expected: number
  /** The request or the batch, for a POST of a session. */
  readonly incoming?: Message.Incoming | undefined
  /** Whether the responses are sent as a JSON array. */
  readonly batch: boolean
  /** The session of the POST; `undefined` where the endpoint keeps no sessions. */
  readonly session: HttpSession | undefined
  /** The headers of a stream that begins before there is a response. */
  readonly headers?: Headers | undefined
  /** Called with each response before it leaves. It returns the headers that leave with the response. */
  readonly onResponse?: ((response: Message.Response) => Headers | undefined) | undefined
  /** The scopes that the requests of a session require; `undefined` where they require no scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
  /** Learns of the questions that the requests ask, where the requests require scopes. */
  readonly guarded?: GuardedCall | undefined
  /** Called when the last response has been sent. */
  readonly onDone: () => void
}

const JSON_HEADERS = { "content-type": "application/json" } as const

export class Post extends AnswerChannel {
  /** The status and the headers of the answer, when the application refuses the request and nothing was sent before. */
  private refusal: HandlerOutcome.Head | undefined
  private stream: ResumableStream | undefined
  private readonly responses: Array<string> = []
  private remaining: number
  private headers: Headers | undefined
  private requestOrigin: RequestOrigin.RequestOrigin | undefined
  /** The ids of the requests that wait for other requests to end; `undefined` while none has waited. */
  private waiting: Set<Message.RequestId> | undefined
  /** Turns the answer into a stream when the responses take longer than `keepAlive`. */
  private timer: Expirable | undefined
  private readonly form: MediaType.Form

  constructor(
    private readonly context: HttpContext,
    private readonly exchange: Admitted,
    private readonly options: Options
  ) {
    super()
    this.remaining = options.expected
    this.headers = options.headers
    this.form = MediaType.formOf(exchange.headers.accept, context.options.responses)!
  }

  /** The HTTP request that carried the requests, for `RequestOrigin.of`. */
  get origin(): RequestOrigin.RequestOrigin {
    return this.requestOrigin ??= RequestOrigin.request(
      this.exchange,
      this.options.session?.id,
      Effect.sync(() => this.pause())
    )
  }

  /** Whether the client waits for the responses. */
  get isConnected(): boolean {
    return this.stream === undefined ? !this.exchange.isGone : this.stream.response !== undefined
  }

  /** How many responses are still to come. */
  get outstanding(): number {
    return this.remaining
  }

  get isDone(): boolean {
    return this.remaining === 0
  }

  protected get buffer() {
    return this.stream
  }

  // An arrow function, because the conversation calls it without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.isDone) return false
    if (Message.isResponse(message)) return this.respond(message)
    // Checked before the message is encoded, because a handler may go on sending to a client that has disconnected.
    if (!this.mayStream || !this.open().isReadable) return false
    const text = MessageText.stringify(message)
    if (text === undefined || !this.open().push(text)) return false
    if (Message.isRequest(message)) this.options.guarded?.asks(message.id)
    return true
  }

  canRequest(): boolean {
    if (this.isDone || !this.mayStream || this.options.session === undefined) return false
    return this.stream === undefined ? !this.exchange.isGone || this.isResumable : this.stream.isReadable
  }

  answer(id: Message.RequestId, outcome: Outcome.Outcome): void {
    if (this.isDone) return
    this.refusal = HandlerOutcome.headOf(outcome)
    this.respond(Message.response(id, outcome))
  }

  onWaiting(id: Message.RequestId): void {
    this.waiting ??= new Set()
    this.waiting.add(id)
  }

  onStarted(id: Message.RequestId): void {
    this.waiting!.delete(id)
    this.openEarly()
  }

  onUnanswered(id: Message.RequestId): void {
    this.unsafeSend(Message.failure(id, { code: REQUEST_CANCELLED, message: "Request cancelled" }))
  }

  /** Call it when the requests were not all answered at once. It decides whether a stream begins now, later, or not at all. */
  wait(): void {
    this.options.session?.addWaiting(this)
    this.openEarly()
    const { options: { keepAlive }, sweeper } = this.context
    // A connection that is silent for long could be taken for a broken connection.
    if (this.stream === undefined && this.mayStream && keepAlive !== Infinity) {
      this.timer = sweeper.schedule(keepAlive, () => {
        if (!this.exchange.isGone) this.open()
      })
    }
  }

  /** Begins a stream before there is a message, where the client should have one, once a request has started. */
  private openEarly(): void {
    if (this.stream !== undefined || !this.mayStream || this.waiting?.size === this.remaining) return
    // The directory of sessions may refuse an `initialize`, and then the response has a status.
    if (this.options.headers !== undefined) return
    // A client that has an event id can resume if its connection breaks before the response.
    if (JsonOrStream.beginsAsStream(this.form) || this.isPrimed) this.open()
  }

  private get mayStream(): boolean {
    return JsonOrStream.mayStream(this.form)
  }

  private get isResumable(): boolean {
    return this.options.session?.mayResume(this.options.requires) === true
  }

  /** Whether the stream begins with an event id. Not for `initialize`: a client that loses its connection then begins another session. */
  private get isPrimed(): boolean {
    return this.options.headers === undefined && this.options.session?.primesStreams === true && this.isResumable
  }

  /**
   * Ends the HTTP response, and the client reconnects for the rest. Does nothing where the client has no event id, because it could not
   * reconnect.
   */
  private pause(): void {
    if (!this.isDone && this.mayStream && this.isPrimed) this.open().pause()
  }

  private respond(response: Message.Response): boolean {
    const text = MessageText.stringify(response) ?? ""
    const { onResponse } = this.options
    if (onResponse !== undefined) this.headers = onResponse(response)
    this.remaining--
    if (this.waiting !== undefined) this.waiting.delete(response.id!)
    if (this.refusal !== undefined) Metrics.rejectHttp(this.refusal.status)
    const isRefused = this.refusal !== undefined && !this.options.batch
    if (JsonOrStream.isJson(this.form, this.stream !== undefined, isRefused)) {
      this.responses.push(text)
      if (this.isDone) this.replyJson()
    } else {
      this.open().push(text, this.isDone)
    }
    if (this.isDone) this.done()
    return true
  }

  private replyJson(): void {
    const { exchange, headers, options: { batch }, refusal, responses } = this
    const body = batch ? `[${responses.join(",")}]` : responses[0]!
    if (refusal !== undefined && !batch) {
      return exchange.reply(refusal.status, { ...refusal.headers, ...JSON_HEADERS }, body)
    }
    exchange.reply(200, headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body)
  }

  private done(): void {
    const { options: { guarded, onDone, session }, stream } = this
    if (this.timer !== undefined) this.context.sweeper.unwatch(this.timer)
    session?.removeWaiting(this)
    guarded?.end()
    // The session keeps the stream until the event store has all events of the stream.
    stream?.finish(() => session?.removeStream(stream))
    onDone()
  }

  private open(): ResumableStream {
    if (this.stream !== undefined) return this.stream
    const { session } = this.options
    const key = session?.nextStreamKey(this.options.requires)
    const stream = this.stream = new ResumableStream(this.context, key, undefined, session?.onLost)
    if (stream.isResumable) session!.addStream(stream)
    const { batch, incoming } = this.options
    if (incoming !== undefined) stream.store?.begin(() => HttpBatch.ids(incoming), batch)
    const onInvalid = this.isPrimed ? () => this.pause() : undefined
    stream.attach(stream.opening(this.exchange, this.headers, onInvalid), this.isPrimed)
    for (const text of this.responses.splice(0)) stream.push(text)
    return stream
  }
}
