/**
 * The road of a session beside all requests: what the server says of its own accord travels on the stream that the client
 * has opened with GET, and is kept, within a bound, while there is none.
 *
 * It is the transport of the session's conversation, on which nothing comes in: the client's messages come in POSTs.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 * @since 0.1.0
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { StreamKey } from "../EventStore.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { EventStream } from "../http/EventStream.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { RequestOrigin } from "../runtime/RequestOrigin.js"
import { frame, ResumableStream } from "./ResumableStream.js"

/**
 * How many notifications are kept for a client without a stream, where there is no event store; then the oldest go.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_KEPT = 256

/**
 * @since 0.1.0
 * @category models
 */
export class Standalone implements Transport {
  readonly lane: ResumableStream
  private kept: Array<string> = []
  /** The news that wait for a reader, or for the one that there is to take what waits: up to `taken`. */
  private untold: Set<string> | undefined
  private taken = 0
  private over = false

  constructor(private readonly site: EndpointContext, key: StreamKey | undefined) {
    this.lane = new ResumableStream(site, key)
  }

  get incoming(): Transport["incoming"] {
    return Stream.never
  }

  get isAttached(): boolean {
    return this.lane.attached !== undefined
  }

  /** Ends the stream. Safe to call twice. */
  readonly end = (): void => {
    if (this.over) return
    this.over = true
    this.lane.attached?.end()
  }

  readonly canRequest = (): boolean => this.isAttached

  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.over) return false
    const text = MessageText.stringify(message)
    if (text === undefined) return false
    if (isNews(message) && this.isUntold(text)) return true
    if (this.lane.isHeard) return this.lane.push(text)
    if (Message.isRequest(message)) return false
    this.keep([frame(text)])
    return true
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const congestion = this.lane.congestion
      if (congestion !== undefined && !this.over) return Effect.zipRight(congestion, this.send(message))
      return this.unsafeSend(message) ? Effect.void : Effect.fail(closed)
    })
  }

  /** This road, as that of messages that came with these facts. */
  carrying(facts: RequestOrigin): Channel {
    return {
      origin: facts,
      canRequest: this.canRequest,
      unsafeSend: this.unsafeSend,
      send: (message) => this.send(message)
    }
  }

  /** Lets the client read what was kept, and what will be said. */
  attach(exchange: HttpExchange, prime: boolean): void {
    this.lane.attach(this.opening(exchange), prime)
    const { attached } = this.lane
    if (attached !== undefined) { for (const event of this.kept.splice(0)) attached.push(event) }
  }

  /** Lets the client read what it has missed, and what will be said. */
  resume(exchange: HttpExchange, position: number, refuse: () => void): void {
    this.lane.resume(position, this.opening(exchange), refuse)
  }

  private opening(exchange: HttpExchange): () => EventStream | undefined {
    return () => {
      if (exchange.isGone) return undefined
      if (this.over) {
        Refusal.send(exchange, Refusal.unknownSession)
        return undefined
      }
      this.untold = undefined
      const stream = this.site.stream(exchange, (unwritten) => {
        // What was given to a reader that is lost, and can be read again, need not be known to it.
        if (this.lane.isResumable || stream.taken !== this.taken) this.untold = undefined
        this.lane.detach(stream)
        if (!this.lane.isResumable) this.keep(unwritten)
      })
      return stream
    }
  }

  /** Whether the same news wait to be read already; from now on they do. */
  private isUntold(text: string): boolean {
    const { attached } = this.lane
    if (attached !== undefined) {
      if (attached.isFlowing) return false
      if (attached.taken !== this.taken) this.untold = undefined
      this.taken = attached.taken
    }
    const untold = this.untold ??= new Set()
    const event = frame(text)
    if (untold.has(event)) return true
    if (untold.size >= MAX_KEPT) untold.clear()
    untold.add(event)
    return false
  }

  private keep(events: ReadonlyArray<string>): void {
    if (this.over || events.length === 0) return
    this.kept = this.kept.concat(events)
    const surplus = this.kept.length - MAX_KEPT
    if (surplus <= 0) return
    for (const lost of this.kept.splice(0, surplus)) this.untold?.delete(lost)
  }
}

const news = new Set<string>([
  Methods.toolListChanged.name,
  Methods.resourceListChanged.name,
  Methods.promptListChanged.name,
  Methods.resourceUpdated.name
])

// Whoever hears these looks for itself: once says as much as twice.
const isNews = (message: Message.Message): boolean => "method" in message && news.has(message.method)
