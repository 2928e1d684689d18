/**
 * Streamable HTTP with sessions, for revisions up to 2025-11-25. `initialize` opens a session. A POST contains the client's messages. A GET
 * opens the standalone stream, on which the server sends messages outside of requests. A GET with the header `Last-Event-ID` resumes a
 * stream. A DELETE ends the session. `dispatch/HttpTransports` gives this module each request that `dispatch/Stages` has checked and read.
 *
 * This module finds the `HttpSession` of a message, and gives the message to the session. The session's conversation sends the answer
 * through a `Post`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Message from "../../jsonrpc/Message.js"
import type { Channel } from "../../jsonrpc/Side.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { JsonObject } from "../../protocol/Json.js"
import { accepted, type Admitted } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as SessionId from "../http/SessionId.js"
import { DIRECTORY } from "../nodes/NodeServices.js"
import * as Permission from "../runtime/Permission.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { Membership, SessionEntry } from "../SessionDirectory.js"
import * as Metrics from "../telemetry/Metrics.js"
import { DirectoryEntry } from "./DirectoryEntry.js"
import * as EventId from "./EventId.js"
import * as GuardedCalls from "./GuardedCalls.js"
import * as HttpBatch from "./HttpBatch.js"
import type { HttpContext } from "./HttpContext.js"
import { ENDING_AGAIN, HttpSession, STANDALONE } from "./HttpSession.js"
import * as Initialize from "./Initialize.js"
import { Post } from "./Post.js"
import { endNow } from "./ResumableStream.js"
import * as SessionFacts from "./SessionFacts.js"
import * as SessionRefusal from "./SessionRefusal.js"
import { SessionStore } from "./SessionStore.js"
import { logDefect } from "./StreamStore.js"

/** A request of a client that has a session. */
interface SessionRequest {
  readonly exchange: Admitted
  readonly session: HttpSession
  /** The authorization scopes that the messages of the request require; `undefined` when the messages require no scopes. */
  readonly requires: ReadonlyArray<string> | undefined
}

/**
 * Mutable fields: `isDraining` turns true when the endpoint drains. `closed` turns true when the endpoint closes. `closing` contains the
 * fibers that end sessions.
 */
export class Http {
  private readonly sessions: SessionStore<HttpSession>
  private readonly closing = new Set<Fiber.RuntimeFiber<void>>()
  private isDraining = false
  private closed = false

  constructor(private readonly context: HttpContext) {
    const { options, sweeper } = context
    this.sessions = new SessionStore<HttpSession>(sweeper, options)
  }

  readonly post = (
    exchange: Admitted,
    incoming: Message.Incoming,
    requires: ReadonlyArray<string> | undefined
  ): void => {
    if (Initialize.isInitialize(incoming) && sessionIdOf(exchange) === "") {
      return this.initialize(exchange, incoming)
    }
    const isMalformed = Message.isMalformed(incoming)
    if (isMalformed && incoming.batch === undefined) return this.malformed(exchange, incoming)
    const session = this.find(exchange)
    if (session === undefined) return
    const request = { exchange, session, requires }
    if (GuardedCalls.refuses(session.guarded, exchange, incoming)) return
    if (isMalformed) return this.takeBatch(request, incoming, incoming.batch!)
    if (Message.isRequest(incoming)) return this.serve(request, incoming, 1, false)
    this.take(request, incoming)
  }

  readonly get = (exchange: Admitted): void => {
    if (!MediaType.accepted(exchange.headers.accept).events) {
      return Refusal.send(exchange, Refusal.notAcceptable("text/event-stream"))
    }
    const session = this.find(exchange)
    if (session === undefined) return
    this.sessions.use(session)
    const lastEventId = exchange.headers["last-event-id"] ?? ""
    if (lastEventId !== "" && this.context.events !== undefined) return this.resume(exchange, session, lastEventId)
    if (session.standalone.isAttached) return Refusal.send(exchange, SessionRefusal.secondStream)
    session.standalone.attach(exchange, session.primesStreams)
  }

  readonly delete = (exchange: Admitted): void => {
    const session = this.find(exchange)
    if (session === undefined) return
    this.sessions.remove(session)
    session.end()
    exchange.reply(200, {}, "")
  }

  /** From now on no request begins at this node. Where other nodes can continue the sessions, this function ends the standalone streams. */
  drain(): void {
    this.isDraining = true
    if (this.context.nodes !== undefined) this.sessions.all().forEach((session) => session.pause())
  }

  /** Releases the sessions without a running request, so that other nodes can continue them. Gives `true` when no request runs any more. */
  release(): boolean {
    const running = this.sessions.all().filter((session) => {
      if (!session.isSettled) return true
      if (this.context.nodes !== undefined && this.sessions.remove(session)) session.end(true)
      return false
    })
    return running.length === 0
  }

  /** Ends all sessions, and waits until they have ended. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closed = true
      // When other nodes also serve the endpoint, the other nodes continue the sessions.
      this.sessions.clear((session) => session.end(true))
      return Effect.asVoid(Fiber.awaitAll([...this.closing]))
    })
  }

  /** The number of sessions. */
  get size(): number {
    return this.sessions.size
  }

  has(id: string): boolean {
    return this.sessions.find(id) !== undefined
  }

  ids(): ReadonlyArray<string> {
    return this.sessions.all().map(({ id }) => id)
  }

  abandon(): void {
    this.sessions.clear((session) => session.abandon())
  }

  /** Finds the session that a request names. Gives `undefined` when this function has refused the request. */
  private find(exchange: Admitted): HttpSession | undefined {
    const id = sessionIdOf(exchange)
    if (id === "") return refused(exchange, SessionRefusal.noSession)
    const session = this.sessions.find(id)
    // MUST answer 404 to a session that has ended; the session of another principal looks the same
    if (session === undefined || session.owner !== exchange.principal?.id) {
      return refused(exchange, SessionRefusal.unknownSession)
    }
    if (!session.finished) {
      const limit = this.sessions.finish(session)
      if (limit !== undefined) {
        session.end()
        return refused(exchange, SessionRefusal.tooManySessions(limit))
      }
    }
    const version = exchange.headers["mcp-protocol-version"]
    if (version === undefined) return session
    // MUST answer 400 to a version that is invalid or unsupported (2025-11-25 basic/transports#protocol-version-header)
    if (!(this.context.versions as ReadonlyArray<string>).includes(version)) {
      return refused(exchange, SessionRefusal.unsupportedVersion(version, this.context.versions))
    }
    const agreed = session.version
    // The session keeps its agreed revision. The official SDKs also serve such a request.
    if (agreed !== undefined && agreed !== version && !session.hasWarned) {
      session.hasWarned = true
      EffectInternals.runFork(
        this.context.runtime,
        Effect.logWarning(
          `A client names ${version} in MCP-Protocol-Version, in a session that has agreed on ${agreed}`
        )
      )
    }
    return session
  }

  // A separate function, because a closure in `initialize` would keep the opening request in memory until the session ends.
  private open(
    id: string,
    owner: string | undefined,
    membership: Membership | undefined,
    { epoch, facts }: { readonly epoch: number; readonly facts: JsonObject | undefined } = beginning
  ): HttpSession {
    const stored = membership && new DirectoryEntry(membership, id, owner, epoch, facts, () => session.end(true))
    const session: HttpSession = new HttpSession(this.context, id, owner, stored, (close) => {
      this.sessions.remove(session)
      const fiber = EffectInternals.runFork(this.context.runtime, close)
      this.closing.add(fiber)
      fiber.addObserver(() => this.closing.delete(fiber))
    })
    return session
  }

  adopt(entry: SessionEntry, membership: Membership): boolean {
    if (!SessionFacts.areReadable(entry.facts)) {
      const forget = Effect.suspend(() => this.context.events?.forget(entry.id, entry.epoch) ?? Effect.void)
      const ended = Effect.flatMap(
        Effect.retry(membership.remove(entry.id, entry.epoch), ENDING_AGAIN),
        (hasEnded) => hasEnded ? Effect.catchAllCause(forget, logDefect) : Effect.void
      )
      EffectInternals.runFork(
        this.context.runtime,
        Effect.zipRight(Effect.logError(UNREADABLE), this.context.inBackground(ended))
      )
      return false
    }
    Metrics.add(Metrics.takeovers)
    const session = this.open(entry.id, DirectoryEntry.ownerOf(entry.facts), membership, entry)
    // When this node has no room for the session, or has begun to close, another node must serve the session.
    if (this.closed || this.sessions.add(session, true) !== undefined) session.end(true)
    else if (this.sessions.finish(session) !== undefined) session.end(true)
    return true
  }

  /**
   * Refuses a request that another node can serve. If another node has passed the request on to this node, this function gives the request
   * back to that node instead.
   */
  private refuse(exchange: Admitted): void {
    if (exchange.moved === undefined) Refusal.send(exchange, Refusal.closing)
    else exchange.moved(true)
  }

  private initialize(exchange: Admitted, request: Message.Request): void {
    if (this.isDraining) return this.refuse(exchange)
    const { nodes } = this.context
    const place = nodes?.place()
    if (nodes !== undefined && place === undefined) {
      return Refusal.send(exchange, Refusal.storeAway(DIRECTORY))
    }
    const id = this.context.options.sessionIdPrefix + SessionId.make()
    const session = this.open(id, exchange.principal?.id, place?.membership)
    const limit = this.sessions.add(session)
    if (limit !== undefined) {
      session.end()
      return Refusal.send(exchange, SessionRefusal.tooManySessions(limit))
    }
    const headers = { "mcp-session-id": session.id }
    const post = new Post(this.context, exchange, {
      expected: 1,
      incoming: request,
      batch: false,
      session,
      headers,
      onResponse: (response) => {
        // The session ends when the server has refused `initialize`, or when the client has disconnected before it got the session id.
        if (Message.isSuccess(response) && !exchange.isGone) return headers
        session.end()
        return undefined
      },
      onDone: () => this.sessions.touch(session)
    })
    session.receive(request, post)
    if (!post.isDone) post.wait()
  }

  /** Serves requests: a single request, or the requests of a batch. */
  private serve(
    { exchange, requires, session }: SessionRequest,
    incoming: Message.Incoming,
    expected: number,
    batch: boolean
  ): void {
    if (this.isDraining) return this.refuse(exchange)
    const onDone = () => this.sessions.use(session)
    const guarded = requires &&
      (session.guarded ??= new GuardedCalls.GuardedCalls()).begin(HttpBatch.ids(incoming), requires)
    const post = new Post(this.context, exchange, { expected, incoming, batch, session, requires, guarded, onDone })
    session.receive(incoming, post)
    if (!post.isDone) post.wait()
  }

  /** Handles messages that get no response: notifications and responses. */
  private take({ exchange, session }: SessionRequest, incoming: Message.Incoming): void {
    this.sessions.touch(session)
    const origin = RequestOrigin.request(exchange, session.id)
    session.receive(incoming, session.standalone.channelFor(origin))
    accepted(exchange)
  }

  private takeBatch(request: SessionRequest, incoming: Message.Malformed, batch: ReadonlyArray<unknown>): void {
    const refusal = HttpBatch.refusal(batch, request.session.version)
    if (refusal !== undefined) return Refusal.send(request.exchange, refusal)
    const expected = HttpBatch.requests(batch).length
    if (expected > 0) return this.serve(request, incoming, expected, true)
    this.take(request, incoming)
  }

  private malformed(exchange: Admitted, incoming: Message.Malformed): void {
    // After a malformed response, the request of the server fails.
    const isResponse = incoming.kind === "response" || incoming.kind === "unknown"
    const session = isResponse ? this.sessions.find(sessionIdOf(exchange)) : undefined
    if (session !== undefined && session.owner === exchange.principal?.id) {
      if (GuardedCalls.refuses(session.guarded, exchange, incoming)) return
      session.receive(incoming, silent)
    }
    Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
  }

  private resume(exchange: Admitted, session: HttpSession, id: string): void {
    const event = EventId.decode(session.id, id)
    const refuse = (mayRetry: boolean) =>
      Refusal.send(exchange, mayRetry ? Refusal.streamAway : SessionRefusal.unknownEvent(id))
    if (event === undefined) return refuse(false)
    if (event.stream === STANDALONE) return session.standalone.resume(exchange, event.position, refuse)
    const { scopes } = EventId.partsOf(event.stream)
    const refused = scopes.length === 0 ? undefined : Permission.refusal(exchange.user, scopes)
    if (refused !== undefined) return Refusal.send(exchange, Refusal.of(refused, "legacy"))
    const stream = session.findStream(event.stream)
    stream.resume(event.position, stream.opening(exchange, undefined, endNow), refuse)
  }
}

const UNREADABLE =
  "This node cannot read the facts about a session in the directory: the node that has stored them may have another " +
  "version of this library. The session has ended, and its client begins a new session"

const beginning = { epoch: 1, facts: undefined }

/** The channel of a message whose only answer is the status of its POST. */
const silent: Channel = { send: () => Effect.void, unsafeSend: () => true }

const sessionIdOf = ({ headers }: Admitted): string => headers["mcp-session-id"] ?? ""

const refused = (exchange: Admitted, refusal: Parameters<typeof Refusal.send>[1]): undefined => {
  Refusal.send(exchange, refusal)
  return undefined
}
