/**
 * HTTP+SSE, the transport of 2024-11-05: GET opens a stream, on which everything that the server says travels, and its first
 * event names where the client's messages are to be sent. The conversation lives as long as the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 * @since 0.1.0
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { FedConversation } from "../Dispatcher.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { EventStream } from "../http/EventStream.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as SecretId from "../http/SecretId.js"
import type { Principal } from "../Principal.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { frame } from "./ResumableStream.js"

/**
 * The member of the query that names the conversation.
 *
 * @since 0.1.0
 * @category constants
 */
export const SESSION = "sessionId"

/**
 * @since 0.1.0
 * @category models
 */
export class SseEndpoint {
  private readonly pipes = new Map<string, Pipe>()
  private readonly closing = new Set<Fiber.RuntimeFiber<void>>()

  constructor(private readonly site: EndpointContext) {}

  /** How many conversations there are. */
  get size(): number {
    return this.pipes.size
  }

  /** Ends all conversations and waits for them. What is in flight is answered before the streams end. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    for (const pipe of [...this.pipes.values()]) pipe.close()
    return Effect.asVoid(Fiber.awaitAll([...this.closing]))
  })

  get(exchange: HttpExchange, principal: Principal | undefined): void {
    if (!MediaType.accepted(exchange.headers.accept).events) {
      return Refusal.send(exchange, Refusal.notAcceptable("text/event-stream"))
    }
    if (exchange.isGone) return
    const { maxPerPrincipal, maxSessions } = this.site.options
    if (this.pipes.size >= maxSessions) return Refusal.send(exchange, Refusal.tooManySessions(maxSessions))
    if (this.owned(principal) >= maxPerPrincipal) {
      return Refusal.send(exchange, Refusal.tooManySessions(maxPerPrincipal))
    }
    const id = SecretId.make()
    const pipe = new Pipe(this.site, exchange, principal?.id, (closing) => {
      if (!this.pipes.delete(id)) return
      const fiber = Runtime.runFork(this.site.runtime, closing)
      this.closing.add(fiber)
      fiber.addObserver(() => this.closing.delete(fiber))
    })
    this.pipes.set(id, pipe)
    pipe.open(`${exchange.path}?${SESSION}=${id}`)
  }

  private owned(principal: Principal | undefined): number {
    let count = 0
    if (principal !== undefined) { for (const { owner } of this.pipes.values()) if (owner === principal.id) count++ }
    return count
  }

  post(exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined): void {
    const id = new URLSearchParams(exchange.url.slice(exchange.url.indexOf("?") + 1)).get(SESSION)
    if (id === null) return Refusal.send(exchange, missing)
    const pipe = this.pipes.get(id)
    if (pipe === undefined || pipe.owner !== principal?.id) return Refusal.send(exchange, unknown)
    const malformed = Message.isMalformed(incoming)
    // Who waits for it hears of it on the stream, too, where everybody else's answer comes.
    if (!malformed || incoming.id !== undefined) {
      pipe.receive(incoming, RequestOrigin.request(exchange.headers, principal, id))
    }
    if (malformed) return Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
    exchange.reply(202, {}, "")
  }
}

const missing = Refusal.badRequest(`the query must name a "${SESSION}"; the first event of the stream does`)

const unknown = new Refusal.Refusal({
  status: 404,
  error: {
    code: Refusal.SESSION_NOT_FOUND,
    message: "Session not found: its stream has ended or never was; open a new one with GET"
  }
})

/** One conversation: the client's messages are handed over, ours leave on the stream. */
class Pipe implements Transport {
  private readonly opened: FedConversation
  private readonly stream: EventStream
  /** What the requests in flight came on. */
  private readonly asked = new Map<Message.RequestId, Channel>()
  private over = false

  constructor(
    site: EndpointContext,
    exchange: HttpExchange,
    readonly owner: string | undefined,
    private readonly onClose: (closing: Effect.Effect<void>) => void
  ) {
    this.stream = site.stream(exchange, () => this.gone())
    this.opened = site.dispatcher.open(this, () => this.close())
  }

  /** Tells the client where to. */
  open(uri: string): void {
    if (!this.over) this.stream.push(Sse.encode({ event: "endpoint", data: uri }))
  }

  /** Takes a message in, as one that came with these facts. */
  receive(incoming: Message.Incoming, facts: RequestOrigin.RequestOrigin): void {
    const isRequest = !Message.isMalformed(incoming) && Message.isRequest(incoming)
    if (!isRequest) return this.opened.receive(incoming, this.carrying(facts))
    const { id } = incoming
    // All answers leave on one stream: an id that is taken has to be found taken, whichever POST it came in.
    const taken = this.asked.get(id)
    const channel = taken ?? this.carrying(facts)
    if (taken === undefined) this.asked.set(id, channel)
    this.opened.receive(incoming, channel)
    if (taken !== undefined) this.asked.set(id, taken)
  }

  /** Ends the conversation, then the stream. Safe to call twice. */
  close(): void {
    const { opened, stream } = this
    this.over = true
    this.onClose(Effect.zipRight(opened.close, Effect.sync(() => stream.end())))
  }

  get incoming(): Transport["incoming"] {
    return Stream.never
  }

  readonly unsafeSend = (message: Message.Message): boolean => {
    const text = MessageText.stringify(message)
    return text !== undefined && this.stream.push(frame(text))
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      if (this.stream.isFull) return Effect.zipRight(this.stream.room, this.send(message))
      return this.unsafeSend(message) ? Effect.void : Effect.fail(closed)
    })
  }

  private carrying(facts: RequestOrigin.RequestOrigin): Channel {
    const ended = (id: Message.RequestId | null | undefined) => {
      if (this.asked.get(id!) === channel) this.asked.delete(id!)
    }
    const channel: Channel = {
      origin: facts,
      send: (message) => this.send(message),
      unsafeSend: (message) => {
        if (Message.isResponse(message)) ended(message.id)
        return this.unsafeSend(message)
      },
      onUnanswered: ended
    }
    return channel
  }

  private gone(): void {
    if (!this.over) this.close()
  }
}
