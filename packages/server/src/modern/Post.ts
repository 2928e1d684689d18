/**
 * The answer to one modern POST, and the channel of its request: JSON if nothing was sent before the response, an event
 * stream otherwise. `Http` makes one for each request.
 *
 * The fields are mutable because one is made per request, on the path that benchmarks measure. What they hold: nothing is sent
 * once `done`; while there is no `stream`, the response leaves as JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#sending-messages
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Backpressure from "@effect-mcp/jsonrpc/unstable/Backpressure"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type * as Effect from "effect/Effect"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { EventStream } from "../http/EventStream.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import type { Expirable } from "../http/Sweeper.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import type { Principal } from "../Principal.js"
import * as Metrics from "../runtime/Metrics.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Status from "./Status.js"

const JSON_HEADERS = { "content-type": "application/json" } as const
const BUSY_HEADERS = { ...JSON_HEADERS, "retry-after": "1" } as const

export class Post implements Channel {
  /** Set when the request is refused: the status of the response. */
  refusedWith: number | undefined
  /** Set when the application refuses the request: status and headers of the response. */
  refusal: HttpRefusal | undefined
  /** Whether the server serves the request already; otherwise it waits for others to end. */
  started = false
  /** Set by a subscription: ends it with its result. */
  endSubscription: (() => void) | undefined
  private done = false
  private stream: EventStream | undefined
  private requestOrigin: RequestOrigin.RequestOrigin | undefined
  /** Begins a stream when the response takes long. */
  private timer: Expirable | undefined
  private interrupt: (() => void) | undefined

  constructor(
    private readonly context: EndpointContext,
    private readonly exchange: HttpExchange,
    private readonly request: Message.Request,
    private readonly principal: Principal | undefined,
    /** Called when the response has been sent, or nothing will be. */
    private readonly onDone: (post: Post) => void
  ) {}

  /** Where the request came from, for `RequestOrigin.of`. */
  get origin(): RequestOrigin.RequestOrigin {
    return this.requestOrigin ??= RequestOrigin.request(this.exchange, this.principal, undefined)
  }

  get isDone(): boolean {
    return this.done
  }

  /** What a sender waits for while the stream is full. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.stream?.isFull === true ? this.stream.space : undefined
  }

  // The conversation takes this function without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.done) return false
    if (Message.isResponse(message)) {
      this.respond(message)
      return true
    }
    // A subscription is a stream whatever the endpoint prefers.
    const isStream = this.context.options.responses !== "json" || this.request.method === Methods.listen.name
    const text = isStream ? MessageText.stringify(message) : undefined
    return text !== undefined && this.open().push(Sse.encode({ event: "message", data: text }))
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Backpressure.send(this, message)
  }

  canRequest(): boolean {
    return false
  }

  onUnanswered(): void {
    this.finish()
  }

  /**
   * To be called when the request was not answered at once: decides what the client sees meanwhile. `interrupt` runs when the
   * client disconnects, which cancels the request.
   */
  wait(interrupt: () => void): void {
    this.interrupt = interrupt
    this.exchange.onGone(this.gone)
    // A request that waits for others sends nothing yet.
    if (this.started) this.begin()
  }

  onStarted(): void {
    this.begin()
  }

  private begin(): void {
    const { options: { keepAlive, responses }, sweeper } = this.context
    if (this.stream !== undefined || responses === "json") return
    if (responses === "stream") this.open()
    // A connection that is silent for long could be taken for a dead one.
    else if (keepAlive !== Infinity) this.timer = sweeper.schedule(keepAlive, () => this.open())
  }

  /** Ends the request because the endpoint closes. */
  close(): void {
    if (this.done) return
    if (this.endSubscription !== undefined) return this.endSubscription()
    const message = Message.failure(this.request.id, {
      code: JsonRpcError.INTERNAL_ERROR,
      message: "Connection closed"
    })
    // Not 503 when its handler has begun: a proxy could send the request again.
    this.respond(message)
    this.interrupt?.()
  }

  private readonly gone = (): void => {
    if (this.done) return
    this.finish()
    this.interrupt?.()
  }

  private respond(sent: Message.Response): void {
    const { refusal, started, stream } = this
    const response = started || Message.isSuccess(sent) ? sent : unavailable(sent)
    const text = MessageText.stringify(response) ?? ""
    if (!started) this.refusedWith ??= 503
    const refusedWith = refusal?.status ?? this.refusedWith
    if (refusedWith !== undefined) Metrics.rejectHttp(refusedWith)
    this.finish()
    if (stream === undefined && refusal !== undefined) {
      return this.exchange.reply(refusal.status, { ...refusal.headers, ...JSON_HEADERS }, text)
    }
    if (stream === undefined && (this.refusedWith !== undefined || this.context.options.responses !== "stream")) {
      const status = Message.isSuccess(response) ? 200 : this.refusedWith ?? Status.ofError(response.error)
      return this.exchange.reply(status, status === 503 ? BUSY_HEADERS : JSON_HEADERS, text)
    }
    const opened = stream ?? this.open()
    opened.push(Sse.encode({ event: "message", data: text }))
    opened.end()
  }

  private finish(): void {
    this.done = true
    if (this.timer !== undefined) this.context.sweeper.unwatch(this.timer)
    this.onDone(this)
  }

  private open(): EventStream {
    return this.stream ??= this.context.stream(this.exchange, this.gone)
  }
}

// SHOULD NOT send a code from -32000 to -32019: the status says that the server is busy or closing.
const unavailable = ({ error, ...rest }: Message.Failure): Message.Failure => ({
  ...rest,
  error: error.code === JsonRpcError.UNAVAILABLE ? { ...error, code: JsonRpcError.INTERNAL_ERROR } : error
})
