/**
 * HTTP+SSE, the transport of revision 2024-11-05. A GET opens a stream, on which the server sends all its messages. The first event of the
 * stream contains the URL to which the client sends its messages. A conversation ends with its stream. `dispatch/HttpTransports` passes
 * requests to this module, and reads the session and the node from a request with `sessionOf` and `nodeOf`. `SessionStore` contains the
 * constants of the limits, and `StreamedAnswer` writes the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import type { Channel } from "../../jsonrpc/Side.js"
import * as Sse from "../../jsonrpc/Sse.js"
import { closed, type Sender } from "../../jsonrpc/Transport.js"
import type { Expirable } from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Outbox from "../../kit/Outbox.js"
import type { Principal } from "../Authenticator.js"
import { accepted, type Admitted } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as SessionId from "../http/SessionId.js"
import type { EventStream } from "../http/StreamedAnswer.js"
import { DIRECTORY } from "../nodes/NodeServices.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { SessionConversation } from "../runtime/SessionConversation.js"
import * as GuardedCalls from "./GuardedCalls.js"
import type { HttpContext } from "./HttpContext.js"
import { frame } from "./ResumableStream.js"
import * as SessionRefusal from "./SessionRefusal.js"
import { MIN_UNFINISHED, REPLACE_UNFINISHED_AFTER } from "./SessionStore.js"

/** The query parameter that contains the id of the conversation. */
export const SESSION = "sessionId"

/** Gives the id of the conversation in a URL; `undefined` when the URL contains no id. */
export const sessionOf = (url: string): string | undefined =>
  new URLSearchParams(url.slice(url.indexOf("?") + 1)).get(SESSION) ?? undefined

/**
 * Reads from the id of a conversation the name of the node that has the connection. Only a server with several nodes puts this name into
 * the id. Gives `undefined` for an id without a name.
 */
export const nodeOf = (session: string): string | undefined => /([0-9a-f]{32})\.[0-9a-f]{32}$/.exec(session)?.[1]

export interface SseEndpoint {
  readonly get: (exchange: Admitted) => void
  readonly post: (exchange: Admitted, incoming: Message.Incoming, requires: ReadonlyArray<string> | undefined) => void
  /** Ends the conversations without a running request. Gives `true` when no conversation remains. */
  readonly release: () => boolean
  readonly has: (id: string) => boolean
  /** Ends all conversations. Used when requests that other nodes pass on cannot reach this node any more. */
  readonly abandon: () => void
  /** Ends all conversations, and waits until they have ended. The server answers running requests before the streams end. */
  readonly close: Effect.Effect<void>
  /** The number of conversations. */
  readonly size: () => number
}

interface Self {
  readonly context: HttpContext
  readonly connections: Map<string, SseConnection>
  /** The conversations whose clients have not completed `initialize`, or have sent nothing after `initialize`. The oldest comes first. */
  readonly unfinished: Set<SseConnection>
  /** The fibers that end conversations. */
  readonly closing: Set<Fiber.RuntimeFiber<void>>
}

export const make = (context: HttpContext): SseEndpoint => {
  const self: Self = { context, connections: new Map(), unfinished: new Set(), closing: new Set() }
  const { connections } = self
  return {
    get: (exchange) => open(self, exchange),
    post: (exchange, incoming, requires) => post(self, exchange, incoming, requires),
    release: () => {
      for (const connection of [...connections.values()]) if (!connection.isBusy) connection.close()
      return connections.size === 0
    },
    has: (id) => connections.has(id),
    abandon: () => closeAll(self),
    close: Effect.suspend(() => {
      closeAll(self)
      return Effect.asVoid(Fiber.awaitAll([...self.closing]))
    }),
    size: () => connections.size
  }
}

const open = (self: Self, exchange: Admitted): void => {
  const { connections, context, unfinished } = self
  const { limits: { maxSessions, maxSessionsPerPrincipal }, sessionIdPrefix } = context.options
  const { principal } = exchange
  if (!MediaType.accepted(exchange.headers.accept).events) {
    return Refusal.send(exchange, Refusal.notAcceptable("text/event-stream"))
  }
  if (exchange.isGone) return
  if (countOwned(self, principal) >= maxSessionsPerPrincipal) {
    return Refusal.send(exchange, SessionRefusal.tooManySessions(maxSessionsPerPrincipal))
  }
  const place = context.nodes?.place()
  if (context.nodes !== undefined && place === undefined) {
    return Refusal.send(exchange, Refusal.storeAway(DIRECTORY))
  }
  if (!mayBegin(self, principal)) {
    return Refusal.send(exchange, SessionRefusal.tooManySessions(maxUnfinished(maxSessions)))
  }
  if (!hasPlace(self, principal)) return Refusal.send(exchange, SessionRefusal.tooManySessions(maxSessions))
  const id = `${sessionIdPrefix}${place === undefined ? "" : `${place.node}.`}${SessionId.make()}`
  const connection = new SseConnection(context, exchange, principal?.id, (close) => ended(self, id, connection, close))
  connections.set(id, connection)
  unfinished.add(connection)
  connection.closeUnlessOpened()
  connection.open(`${exchange.arrived.path}?${SESSION}=${id}`)
}

const post = (
  { connections, unfinished }: Self,
  exchange: Admitted,
  incoming: Message.Incoming,
  requires: ReadonlyArray<string> | undefined
): void => {
  const id = sessionOf(exchange.arrived.url)
  if (id === undefined) return Refusal.send(exchange, SessionRefusal.noSseSession)
  const connection = connections.get(id)
  if (connection === undefined || connection.owner !== exchange.principal?.id) {
    return Refusal.send(exchange, SessionRefusal.unknownSseSession)
  }
  if (GuardedCalls.refuses(connection.guarded, exchange, incoming)) return
  if (connection.hasInitialized) unfinished.delete(connection)
  connection.watchUser(exchange)
  const malformed = Message.isMalformed(incoming)
  // The stream also gets the answer to a malformed message with an id, because the client waits for the answer on the stream.
  if (!malformed || incoming.id !== undefined) {
    connection.receive(incoming, RequestOrigin.request(exchange, id), requires)
  }
  if (malformed) return Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
  accepted(exchange)
}

/** Removes a conversation that has ended. `close` does the rest of the work. */
const ended = (
  { closing, connections, context, unfinished }: Self,
  id: string,
  connection: SseConnection,
  close: Effect.Effect<void>
): void => {
  if (!connections.delete(id)) return
  unfinished.delete(connection)
  const fiber = EffectInternals.runFork(context.runtime, close)
  closing.add(fiber)
  fiber.addObserver(() => closing.delete(fiber))
}

const closeAll = ({ connections }: Self): void => {
  for (const connection of [...connections.values()]) connection.close()
}

const countOwned = ({ connections }: Self, principal: Principal | undefined): number => {
  if (principal === undefined) return 0
  let count = 0
  for (const { owner } of connections.values()) if (owner === principal.id) count++
  return count
}

const maxUnfinished = (maxSessions: number): number => Math.max(MIN_UNFINISHED, Math.ceil(maxSessions / 10))

/**
 * Whether one more conversation may begin. May first end another conversation. When too many conversations are unfinished, the new
 * conversation replaces the oldest silent conversation, if this is older than `REPLACE_UNFINISHED_AFTER`. The conversation of a principal
 * also replaces a younger conversation without a principal. A conversation without a principal never replaces the conversation of a
 * principal.
 */
const mayBegin = ({ context, unfinished }: Self, principal: Principal | undefined): boolean => {
  if (unfinished.size < maxUnfinished(context.options.limits.maxSessions)) return true
  const before = context.sweeper.now() - REPLACE_UNFINISHED_AFTER
  for (const one of unfinished) {
    if (one.hasInitialized) return unfinished.delete(one)
    if (principal === undefined && one.began > before) return false
    const isLess = one.owner === undefined && principal !== undefined
    const isEqual = one.began <= before && (one.owner === undefined) === (principal === undefined)
    if (!(isLess || isEqual) || !one.isSilent) continue
    one.close()
    return true
  }
  return false
}

/**
 * Makes room for one more conversation. Gives `false` when there is no room. At the limit, the conversation of a principal replaces a
 * conversation without a principal and without a running request. Among several such conversations, the new conversation replaces the
 * oldest that has not completed `initialize`. If all have completed `initialize`, it replaces the oldest.
 */
const hasPlace = ({ connections, context }: Self, principal: Principal | undefined): boolean => {
  if (connections.size < context.options.limits.maxSessions) return true
  if (principal === undefined) return false
  const anonymous = [...connections.values()].filter(({ isBusy, owner }) => owner === undefined && !isBusy)
  const replaced = anonymous.find(({ hasInitialized }) => !hasInitialized) ?? anonymous[0]
  replaced?.close()
  return replaced !== undefined
}

/**
 * One conversation. POSTs contain the client's messages, and the stream contains the messages of the server. `requests` contains the
 * channel of each unanswered request. The server sends all answers on one stream. So requests that run at the same time must have different
 * ids, even when they are in different POSTs.
 */
class SseConnection implements Sender {
  /** When the conversation began, in milliseconds. */
  readonly began: number
  private readonly conversation: SessionConversation
  private readonly stream: EventStream
  private readonly requests = new Map<Message.RequestId, Channel>()
  /**
   * The calls that require authorization scopes. Not every token of the user may cancel these calls or answer their questions. `undefined`
   * before the first such call.
   */
  guarded: GuardedCalls.GuardedCalls | undefined
  private handshake: Expirable | undefined
  private stopWatching = () => {}
  private closed = false

  constructor(
    private readonly context: HttpContext,
    exchange: Admitted,
    readonly owner: string | undefined,
    private readonly onClose: (closing: Effect.Effect<void>) => void
  ) {
    const close = () => this.close()
    this.began = context.sweeper.now()
    this.stream = context.stream(exchange, close)
    this.conversation = context.converse(this, close)
    this.watchUser(exchange)
  }

  /**
   * Watches the user of the last request, because the last request has the newest credentials. The stream ends when this user is no longer
   * valid.
   */
  watchUser({ watchUser }: Admitted): void {
    this.stopWatching()
    if (!this.closed) this.stopWatching = watchUser?.(() => this.close()) ?? (() => {})
  }

  get isBusy(): boolean {
    return this.conversation.inFlight() > 0
  }

  get hasInitialized(): boolean {
    return this.conversation.version() !== undefined
  }

  /** Whether two conditions hold: the client has not completed `initialize`, and the client is not waiting for an answer. */
  get isSilent(): boolean {
    return !this.hasInitialized && this.requests.size === 0
  }

  /** Sends the client the URL for its messages. */
  open(uri: string): void {
    if (!this.closed) this.stream.push(Sse.encode({ event: "endpoint", data: uri }))
  }

  /** Closes the conversation if its client does not complete `initialize` in time. */
  closeUnlessOpened(): void {
    const { options: { handshakeTimeout }, sweeper } = this.context
    this.handshake = sweeper.schedule(handshakeTimeout, () => {
      if (this.isSilent) this.close()
    })
  }

  /** Passes a message to the conversation. */
  receive(
    incoming: Message.Incoming,
    origin: RequestOrigin.RequestOrigin,
    requires: ReadonlyArray<string> | undefined
  ): void {
    const { receive } = this.conversation
    const isRequest = !Message.isMalformed(incoming) && Message.isRequest(incoming)
    if (!isRequest) return receive(incoming, this.channelFor(origin))
    const { id } = incoming
    const earlier = this.requests.get(id)
    const guarded = earlier === undefined && requires !== undefined
      ? (this.guarded ??= new GuardedCalls.GuardedCalls()).begin([id], requires)
      : undefined
    const channel = earlier ?? this.channelFor(origin, guarded)
    this.requests.set(id, channel)
    receive(incoming, channel)
    // The conversation has refused this request on the channel, because an earlier request with the same id still runs.
    if (earlier !== undefined) this.requests.set(id, earlier)
  }

  /** Ends the conversation, and then the stream. You may call this function twice. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.stopWatching()
    if (this.handshake !== undefined) this.context.sweeper.unwatch(this.handshake)
    const { conversation, stream } = this
    this.onClose(Effect.zipRight(conversation.close, Effect.sync(() => stream.end())))
  }

  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.stream.isClosed) return false
    const text = MessageText.stringify(message)
    return text !== undefined && this.stream.push(frame(text))
  }

  get congestion(): Effect.Effect<void> | undefined {
    return this.stream.congestion
  }

  readonly canSend = (): boolean => Outbox.canSend(this)

  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> => Outbox.send(this, message, closed)

  private channelFor(origin: RequestOrigin.RequestOrigin, guarded?: GuardedCalls.GuardedCall): Channel {
    const remove = (id: Message.RequestId | null | undefined) => {
      if (this.requests.get(id!) !== channel) return
      this.requests.delete(id!)
      guarded?.end()
    }
    const channel: Channel = {
      origin,
      send: this.send,
      canSend: this.canSend,
      unsafeSend: (message) => {
        if (Message.isResponse(message)) remove(message.id)
        else if (Message.isRequest(message)) guarded?.asks(message.id)
        return this.unsafeSend(message)
      },
      onUnanswered: remove
    }
    return channel
  }
}
