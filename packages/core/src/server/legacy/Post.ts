/**
 * The answer to one POST with requests, and the channel of these requests. If the server sends nothing before the responses, the answer is
 * JSON. Otherwise the answer is an event stream. `Http` and `Stateless` make a `Post` for each POST, and the conversation sends messages on
 * it.
 *
 * The fields are mutable for speed, because each request makes a `Post`. `remaining` is the number of missing responses. When `remaining`
 * is 0, the `Post` sends nothing more. While there is no `stream`, `responses` collects the responses. When there is a stream, all messages
 * go to the stream.
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
  /** The number of responses to the POST. */
  readonly expected: number
  /** The request or the batch, for a POST of a session. */
  readonly incoming?: Message.Incoming | undefined
  /** Whether the server sends the responses as a JSON array. */
  readonly batch: boolean
  /** The session of the POST; `undefined` where the endpoint keeps no sessions. */
  readonly session: HttpSession | undefined
  /** The headers of a stream that begins before the first response. */
  readonly headers?: Headers | undefined
  /** Called with each response before the server sends the response. Returns further headers for the response. */
  readonly onResponse?: ((response: Message.Response) => Headers | undefined) | undefined
  /** The scopes that the requests of a session require; `undefined` where they require no scopes. */
  readonly requires?: ReadonlyArray<string> | undefined
  /** Records the questions of the requests, where the requests require scopes. */
  readonly guarded?: GuardedCall | undefined
  /** Called after the last response. */
  readonly onDone: () => void
}

const JSON_HEADERS = { "content-type": "application/json" } as const

export class Post extends AnswerChannel {
  /** The status and the headers with which the application refuses the request. The server uses them only if it has sent nothing yet. */
  private refusal: HandlerOutcome.Head | undefined
  private stream: ResumableStream | undefined
  private readonly responses: Array<string> = []
  private remaining: number
  private headers: Headers | undefined
  private requestOrigin: RequestOrigin.RequestOrigin | undefined
  /** The ids of the requests that wait for other requests to end; `undefined` before the first such request. */
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

  /** The facts about the HTTP request, for `RequestOrigin.of`. */
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

  /** The number of missing responses. */
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
    // Checked before the message is encoded, because a handler may continue to send after the client has disconnected.
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

  /** Call this function when some requests were not answered immediately. It decides whether a stream begins now, later, or never. */
  wait(): void {
    this.options.session?.addWaiting(this)
    this.openEarly()
    const { options: { keepAlive }, sweeper } = this.context
    // A client or proxy may close a connection that is silent for a long time.
    if (this.stream === undefined && this.mayStream && keepAlive !== Infinity) {
      this.timer = sweeper.schedule(keepAlive, () => {
        if (!this.exchange.isGone) this.open()
      })
    }
  }

  /**
   * Begins a stream before the first message, if the endpoint prefers streams or the client needs an event id. Called when a request has
   * started.
   */
  private openEarly(): void {
    if (this.stream !== undefined || !this.mayStream || this.waiting?.size === this.remaining) return
    // Not for `initialize`, which the directory of sessions may refuse. The refusal needs an HTTP status.
    if (this.options.headers !== undefined) return
    // With an event id, a client can resume when the connection breaks before the response.
    if (JsonOrStream.beginsAsStream(this.form) || this.isPrimed) this.open()
  }

  private get mayStream(): boolean {
    return JsonOrStream.mayStream(this.form)
  }

  private get isResumable(): boolean {
    return this.options.session?.mayResume(this.options.requires) === true
  }

  /**
   * Whether the stream begins with an event id. Not for `initialize`: a client that loses the connection during `initialize` begins another
   * session.
   */
  private get isPrimed(): boolean {
    return this.options.headers === undefined && this.options.session?.primesStreams === true && this.isResumable
  }

  /**
   * Ends the HTTP response. The client reconnects to get the rest. Does nothing when the client has no event id, because without an id the
   * client cannot resume.
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
    // The session keeps the stream until the event store has stored all events of the stream.
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
