/**
 * Streamable HTTP of the modern era (revision 2026-07-28): each message is a POST of its own, and nothing is kept from one POST to the
 * next. The headers must repeat what the body says, which `RequestFacts` checks. A client that disconnects cancels its request.
 * `dispatch/HttpTransports` gives this module each POST that `dispatch/Stages` has checked and read; `ServerSide` serves it.
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
  /** Answers and interrupts the running requests. Subscriptions end with their result. */
  readonly close: () => void
  /** Ends the subscriptions with their result. */
  readonly endSubscriptions: () => void
  /** How many POSTs are being answered. */
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

const unexpectedResponse = Refusal.badRequest("a response answers no request: from 2026-07-28 on servers send none")

const noEvents = Refusal.notAcceptable("text/event-stream")

const JSON_HEADERS = { "content-type": "application/json" } as const
const BUSY_HEADERS = { ...JSON_HEADERS, "retry-after": "1" } as const

/**
 * The answer to one POST, and the channel of its request. The answer is JSON if nothing was sent before the response. It is an event stream
 * when something was sent before, when the endpoint prefers streams, or when the response takes longer than `keepAlive`.
 *
 * The fields are mutable, because a `Post` is made for each request, in code whose speed benchmarks measure. Once `isDone` is true, nothing
 * more is sent. While there is no `stream`, the response leaves as JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
class Post extends AnswerChannel {
  /** Whether the response has been sent, or no response will be sent. Only this class sets it. */
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
    /** Called once, when the response has been sent or no response will be sent. */
    private readonly onDone: (post: Post) => void
  ) {
    super()
    this.form = MediaType.formOf(exchange.headers.accept, context.options.responses)!
    this.isSubscription = request.method === Methods.listen.name
  }

  /** The HTTP request that carried the request, for `RequestOrigin.of`. */
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
    // The endpoint has already answered for a handler that cannot be interrupted, or the client has disconnected.
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

  /** Call it when the request was not answered at once. It decides whether a stream begins now, later, or not at all. */
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
    // A connection that is silent for long could be taken for a broken connection.
    else if (keepAlive !== Infinity) this.timer = sweeper.schedule(keepAlive, () => this.open())
  }

  /** Ends the request because the endpoint closes. A subscription that was acknowledged ends with its result. */
  close(): void {
    if (this.isDone) return
    if (this.isSubscription && this.stream !== undefined) return this.active?.end()
    // The status is not 503 when the handler has begun, because a proxy could then send the request again.
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
    // A request that has begun is answered also when its user is no longer valid. Only a subscription is ended then.
    const onInvalid = this.isSubscription ? () => this.close() : undefined
    return this.stream ??= this.context.stream(this.exchange, this.gone, undefined, onInvalid)
  }
}

const connectionClosed: JsonRpcError.ErrorObject = { code: JsonRpcError.INTERNAL_ERROR, message: "Connection closed" }
