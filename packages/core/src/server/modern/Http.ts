/**
 * Streamable HTTP with revision 2026-07-28: each message is a separate POST, and the server stores nothing between two POSTs. The headers
 * must repeat values of the body; `RequestFacts` checks this. A client that disconnects cancels its request. `dispatch/HttpTransports`
 * gives this module each POST that `dispatch/Stages` has checked and read. `ServerSide` serves the message.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import * as Either from "effect/Either"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import type * as Outcome from "../../jsonrpc/Outcome.js"
import type { ActiveRequest, Requests } from "../../jsonrpc/runtime/Requests.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Expirable } from "../../kit/Deadlines.js"
import * as McpError from "../../protocol/McpError.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import { accepted, type Admitted } from "../http/HttpExchange.js"
import * as JsonOrStream from "../http/JsonOrStream.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import type { EventStream } from "../http/StreamedAnswer.js"
import { AnswerChannel } from "../runtime/AnswerChannel.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Metrics from "../telemetry/Metrics.js"
import * as RequestFacts from "./RequestFacts.js"
import * as ServerSide from "./ServerSide.js"
import * as Status from "./Status.js"

export interface Http {
  readonly post: (exchange: Admitted, incoming: Message.Incoming) => void
  /**
   * Interrupts and answers the running requests. A subscription that the server has acknowledged gets its result, and every other request
   * gets an error.
   */
  readonly close: () => void
  /** Answers every running `subscriptions/listen` request with its result. */
  readonly endSubscriptions: () => void
  /** The number of running POSTs. */
  readonly size: () => number
}

export const make = (
  context: EndpointContext,
  requests: Requests,
  serving: ServerSide.ModernServerSide,
  versions: ReadonlyArray<string>
): Http => {
  const running = new Set<Post>()
  const onDone = (post: Post): void => void running.delete(post)

  const serve = (exchange: Admitted, request: Message.Request): void => {
    const { headers } = exchange
    const envelope = RequestFacts.envelopeOfRequest(request, headers, versions)
    if (Either.isLeft(envelope)) return refuse(exchange, request.id, envelope.left)
    const post = new Post(context, exchange, request, onDone)
    if (post.isSubscription && !MediaType.accepted(headers.accept).events) {
      const error = HandlerOutcome.errorOf(noEvents, "modern")
      return Refusal.failure(exchange, noEvents.status, Message.failure(request.id, error))
    }
    const active = requests.start(post, request, serving.posted({ envelope, headers }))
    if (active === undefined || post.isDone) return
    running.add(post)
    post.wait(active)
  }

  return {
    post: (exchange, incoming) => {
      if (Message.isMalformed(incoming)) {
        return Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
      }
      if (Message.isRequest(incoming)) return serve(exchange, incoming)
      // MUST NOT send responses: this era has no requests to the client
      if (Message.isResponse(incoming)) return Refusal.send(exchange, unexpectedResponse)
      const error = RequestFacts.refusalOfNotification(incoming, exchange.headers, versions)
      if (error !== undefined) return refuse(exchange, undefined, error)
      ServerSide.notify(requests, serving, incoming, RequestOrigin.request(exchange, undefined))
      accepted(exchange)
    },
    close: () => {
      for (const post of [...running]) post.close()
    },
    endSubscriptions: () => {
      for (const post of [...running]) if (post.isSubscription) post.close()
    },
    size: () => running.size
  }
}

const refuse = (exchange: Admitted, id: Message.RequestId | undefined, error: McpError.McpError): void =>
  Refusal.failure(exchange, Status.of(error), Message.failure(id, McpError.toWire(error, "modern")))

const unexpectedResponse = Refusal.badRequest("a response has no request: servers of 2026-07-28 send no requests")

const noEvents = Refusal.notAcceptable("text/event-stream")

const JSON_HEADERS = { "content-type": "application/json" } as const
const BUSY_HEADERS = { ...JSON_HEADERS, "retry-after": "1" } as const

/**
 * The answer to one POST, and the channel of its request. The answer is an event stream when the server sends a message before the
 * response, when the endpoint prefers streams, or when the response takes longer than `keepAlive`. Otherwise the answer is JSON.
 *
 * The fields are mutable for speed, because each request makes a `Post`. When `isDone` is true, the `Post` sends nothing more. While there
 * is no `stream`, the `Post` would send the response as JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
class Post extends AnswerChannel {
  /** Whether the server has sent the response, or will send no response. Only this class writes this field. */
  isDone = false
  /** Whether the request waits for other requests to end. */
  private waits = false
  private stream: EventStream | undefined
  private requestOrigin: RequestOrigin.RequestOrigin | undefined
  /** Begins a stream when the response takes longer than `keepAlive`. */
  private timer: Expirable | undefined
  private active: ActiveRequest | undefined
  private readonly form: MediaType.Form
  readonly isSubscription: boolean

  constructor(
    private readonly context: EndpointContext,
    private readonly exchange: Admitted,
    private readonly request: Message.Request,
    /** Called once, when the server has sent the response or will send no response. */
    private readonly onDone: (post: Post) => void
  ) {
    super()
    this.form = MediaType.formOf(exchange.headers.accept, context.options.responses)!
    this.isSubscription = request.method === Methods.listen.name
  }

  /** The facts about the HTTP request, for `RequestOrigin.of`. */
  get origin(): RequestOrigin.RequestOrigin {
    return this.requestOrigin ??= RequestOrigin.request(this.exchange, undefined)
  }

  protected get buffer() {
    return this.stream
  }

  // An arrow function, because a sender calls it without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.isDone) return false
    // A subscription is always a stream, whatever the endpoint prefers.
    const isStream = JsonOrStream.mayStream(this.form) || this.isSubscription
    const text = isStream ? MessageText.stringify(message) : undefined
    return text !== undefined && this.open().push(Sse.encode({ event: "message", data: text }))
  }

  canRequest(): boolean {
    return false
  }

  answer(id: Message.RequestId, outcome: Outcome.Outcome): void {
    // The endpoint has already answered in place of an uninterruptible handler, or the client has disconnected.
    if (this.isDone) return
    const { stream } = this
    const head = HandlerOutcome.headOf(outcome)
    const refusedWith = head?.status ?? (outcome.isUnserved === true ? 503 : undefined)
    if (refusedWith !== undefined) Metrics.rejectHttp(refusedWith)
    const text = MessageText.stringify(Message.response(id, outcome)) ?? ""
    this.finish()
    if (JsonOrStream.isJson(this.form, stream !== undefined, refusedWith !== undefined)) {
      const status = refusedWith ?? (outcome.error === undefined ? 200 : Status.ofError(outcome.error))
      const headers = status === 503 ? BUSY_HEADERS : JSON_HEADERS
      return this.exchange.reply(status, head?.headers === undefined ? headers : { ...headers, ...head.headers }, text)
    }
    const opened = stream ?? this.open()
    opened.push(Sse.encode({ event: "message", data: text }))
    opened.end()
  }

  onUnanswered(): void {
    this.finish()
  }

  onWaiting(): void {
    this.waits = true
  }

  onStarted(): void {
    this.waits = false
    this.begin()
  }

  /** Call this function when the request was not answered immediately. It decides whether a stream begins now, later, or never. */
  wait(active: ActiveRequest): void {
    this.active = active
    this.exchange.onGone(this.gone)
    // A request that waits for other requests sends nothing yet.
    if (!this.waits) this.begin()
  }

  private begin(): void {
    const { options: { keepAlive }, sweeper } = this.context
    if (this.stream !== undefined || !JsonOrStream.mayStream(this.form)) return
    if (JsonOrStream.beginsAsStream(this.form)) this.open()
    // A client or proxy may close a connection that is silent for a long time.
    else if (keepAlive !== Infinity) this.timer = sweeper.schedule(keepAlive, () => this.open())
  }

  /**
   * Ends the request, because the endpoint closes or the user of a subscription is no longer valid. A subscription that the server has
   * acknowledged gets its result. Any other request gets an error.
   */
  close(): void {
    if (this.isDone) return
    if (this.isSubscription && this.stream !== undefined) return this.active?.end()
    // When the handler has begun, the status must not be 503, because a proxy could then send the request again.
    this.answer(this.request.id, { error: connectionClosed, isUnserved: this.waits })
    this.active?.cancel()
  }

  private readonly gone = (): void => {
    if (this.isDone) return
    this.finish()
    this.active?.cancel()
  }

  private finish(): void {
    this.isDone = true
    if (this.timer !== undefined) this.context.sweeper.unwatch(this.timer)
    this.onDone(this)
  }

  private open(): EventStream {
    // When the user is no longer valid, only a subscription ends. The server still answers any other request that has begun.
    const onInvalid = this.isSubscription ? () => this.close() : undefined
    return this.stream ??= this.context.stream(this.exchange, this.gone, undefined, onInvalid)
  }
}

const connectionClosed: JsonRpcError.ErrorObject = { code: JsonRpcError.INTERNAL_ERROR, message: "Connection closed" }
