/**
 * One POST with requests in it: the channel on which they are answered, and on which whatever is said on their behalf
 * travels. It is answered with JSON when there was nothing to say before, and with an event stream otherwise.
 *
 * It knows neither what the requests are nor who serves them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 * @since 0.1.0
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { StreamKey } from "../EventStore.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { Headers, HttpExchange } from "../http/HttpExchange.js"
import type { Expirable } from "../http/Sweeper.js"
import type { Principal } from "../Principal.js"
import type { RequestOrigin } from "../runtime/RequestOrigin.js"
import { ResumableStream } from "./ResumableStream.js"

/**
 * The code of the answer to a request that its client has cancelled: a POST can only end with an answer.
 *
 * @since 0.1.0
 * @category codes
 */
export const REQUEST_CANCELLED = -32800

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly principal: Principal | undefined
  /** How many answers there will be, and whether they are an array. */
  readonly expected: number
  readonly batch: boolean
  /** The revision, once there is one. */
  readonly version: LegacyVersion | undefined
  /** The session, and what it makes of the lane of a POST that can be resumed. None where there are no sessions. */
  readonly session: Home | undefined
  /** Headers for a stream that begins before there is an answer. */
  readonly headers?: Headers | undefined
  /** Hears of each answer before it leaves; gives the headers to go with it instead. */
  readonly onAnswer?: ((response: Message.Response) => Headers | undefined) | undefined
  /** Hears that everything is answered. */
  readonly onDone: () => void
}

/**
 * What a POST needs of its session.
 *
 * @since 0.1.0
 * @category models
 */
export interface Home {
  readonly id: string
  /** Names a stream that no other has; `undefined` where streams cannot be resumed. */
  readonly streamKey: () => StreamKey | undefined
  /** The lane can be found under its name, until `leave`. */
  readonly enter: (lane: ResumableStream) => void
  readonly leave: (lane: ResumableStream) => void
}

const JSON_HEADERS = { "content-type": "application/json" } as const

/**
 * @since 0.1.0
 * @category models
 */
export class Post implements Channel, RequestOrigin, Expirable {
  private lane: ResumableStream | undefined
  private readonly answers: Array<string> = []
  private left: number
  private headers_: Headers | undefined
  /** When it turns into a stream, in milliseconds. */
  private due = Infinity

  constructor(
    private readonly site: EndpointContext,
    private readonly exchange: HttpExchange,
    private readonly options: Options
  ) {
    this.left = options.expected
    this.headers_ = options.headers
  }

  get origin(): RequestOrigin {
    return this
  }

  get sessionId(): string | undefined {
    return this.options.session?.id
  }

  get headers(): Headers {
    return this.exchange.headers
  }

  get principal(): Principal | undefined {
    return this.options.principal
  }

  /** How many answers are still to come. */
  get outstanding(): number {
    return this.left
  }

  /** Whether everything is answered. */
  get isDone(): boolean {
    return this.left === 0
  }

  // A request of ours takes it along without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.isDone) return false
    if (Message.isResponse(message)) return this.answer(message)
    const text = this.isMute ? undefined : MessageText.stringify(message)
    return text !== undefined && this.open().push(text)
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const congestion = this.lane?.congestion
      if (congestion !== undefined) return Effect.zipRight(congestion, this.send(message))
      return this.unsafeSend(message) ? Effect.void : Effect.fail(closed)
    })
  }

  canRequest(): boolean {
    if (this.isDone || this.isMute || this.options.session === undefined) return false
    return this.lane === undefined ? !this.exchange.isGone || this.isResumable : this.lane.isHeard
  }

  onUnanswered(id: Message.RequestId): void {
    this.unsafeSend(Message.failure(id, { code: REQUEST_CANCELLED, message: "Request cancelled" }))
  }

  get closeStream(): Effect.Effect<void> {
    return Effect.sync(() => {
      // Who was given nothing to come back with would be lost.
      if (!this.isDone && !this.isMute && this.isPrimed) this.open().pause()
    })
  }

  /** To be called when nothing has been answered at once. */
  wait(): void {
    const { keepAlive, responses } = this.site.options
    if (this.isDone || this.lane !== undefined || this.isMute) return
    // What is not there at once may be asked for again after a cut, if the client knows what to ask for.
    if (responses === "stream" || this.isPrimed) this.open()
    // Nobody may think that a silent connection is a dead one.
    else if (keepAlive !== Infinity) this.site.sweeper.watch(this, this.due = this.site.sweeper.now() + keepAlive)
  }

  sweep(now: number): number {
    if (now < this.due) return this.due
    this.site.sweeper.letGo(this)
    if (!this.isDone && !this.exchange.isGone) this.open()
    return Infinity
  }

  private get isMute(): boolean {
    return this.site.options.responses === "json"
  }

  private get isResumable(): boolean {
    return this.site.events !== undefined && this.options.session !== undefined
  }

  /** Whether the client is told at the beginning what to come back with: older ones take such an event for a message. */
  private get isPrimed(): boolean {
    const { version } = this.options
    return this.isResumable && Version.primesStreams(version)
  }

  private answer(response: Message.Response): boolean {
    const text = MessageText.stringify(response) ?? ""
    const { onAnswer } = this.options
    if (onAnswer !== undefined) this.headers_ = onAnswer(response)
    this.left--
    if (this.lane === undefined && this.site.options.responses !== "stream") {
      this.answers.push(text)
      if (this.isDone) this.replyJson()
    } else {
      this.open().push(text)
    }
    if (this.isDone) this.done()
    return true
  }

  private replyJson(): void {
    const { answers, exchange, headers_ } = this
    const body = this.options.batch ? `[${answers.join(",")}]` : answers[0]!
    exchange.reply(200, headers_ === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers_ }, body)
  }

  private done(): void {
    this.site.sweeper.letGo(this)
    // It can be found as long as the store may not have everything yet.
    this.lane?.finish(() => this.options.session?.leave(this.lane!))
    this.options.onDone()
  }

  private open(): ResumableStream {
    if (this.lane !== undefined) return this.lane
    const { exchange, options: { session }, site } = this
    const lane = this.lane = new ResumableStream(site, session?.streamKey())
    if (lane.isResumable) session!.enter(lane)
    lane.attach(() => {
      if (exchange.isGone) return undefined
      const stream = site.stream(exchange, () => lane.detach(stream), this.headers_)
      return stream
    }, this.isPrimed)
    for (const text of this.answers.splice(0)) lane.push(text)
    return lane
  }
}
