/**
 * Streamable HTTP with sessions: `initialize` opens one, POST brings the client's messages, GET opens the stream beside its
 * requests or resumes any stream, DELETE ends it.
 *
 * What comes here has been let in and read. It knows no socket, and of the protocol only how a conversation begins.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as SecretId from "../http/SecretId.js"
import type { Principal } from "../Principal.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Batch from "./Batch.js"
import * as EventId from "./EventId.js"
import { HttpSession, STANDALONE } from "./HttpSession.js"
import { Post } from "./Post.js"
import { SessionStore } from "./SessionStore.js"

/**
 * @since 0.1.0
 * @category models
 */
export class Http {
  private readonly sessions: SessionStore<HttpSession>
  private readonly closing = new Set<Fiber.RuntimeFiber<void>>()

  constructor(private readonly site: EndpointContext) {
    const { idleTimeout, maxPerPrincipal, maxSessions: max } = site.options
    this.sessions = new SessionStore(site.sweeper, { max, maxPerPrincipal, idleTimeout })
  }

  /** How many sessions there are. */
  get size(): number {
    return this.sessions.size
  }

  /** Ends all sessions and waits for them. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.sessions.clear()
    return Effect.asVoid(Fiber.awaitAll([...this.closing]))
  })

  post(exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined): void {
    if (isInitialize(incoming) && idOf(exchange) === "") {
      return this.begin(exchange, incoming, principal)
    }
    if (Message.isMalformed(incoming) && incoming.batch === undefined) return this.spoilt(exchange, incoming, principal)
    const session = this.find(exchange, principal)
    if (session === undefined) return
    this.sessions.touch(session)
    const { opened } = session
    // Nobody was told its id before it was open.
    if (opened === undefined) return Refusal.send(exchange, Refusal.unknownSession)
    if (Message.isMalformed(incoming)) return this.batch(exchange, session, incoming, principal)
    if (Message.isRequest(incoming)) return this.ask(exchange, session, incoming, principal, 1)
    this.tell(exchange, session, incoming, principal)
  }

  get(exchange: HttpExchange, principal: Principal | undefined): void {
    if (!MediaType.accepted(exchange.headers.accept).events) {
      return Refusal.send(exchange, Refusal.notAcceptable("text/event-stream"))
    }
    const session = this.find(exchange, principal)
    if (session === undefined) return
    this.sessions.touch(session)
    const after = exchange.headers["last-event-id"] ?? ""
    if (after !== "" && this.site.events !== undefined) return this.resume(exchange, session, after)
    if (session.standalone.isAttached) return Refusal.send(exchange, Refusal.secondStream)
    const version = session.opened.version()
    session.standalone.attach(exchange, Version.primesStreams(version))
  }

  delete(exchange: HttpExchange, principal: Principal | undefined): void {
    const session = this.find(exchange, principal)
    if (session === undefined) return
    this.sessions.remove(session)
    session.end()
    exchange.reply(200, {}, "")
  }

  private begin(exchange: HttpExchange, request: Message.Request, principal: Principal | undefined): void {
    const session = this.open(principal)
    const exceeded = this.sessions.add(session)
    if (exceeded !== undefined) {
      session.end()
      return Refusal.send(exchange, Refusal.tooManySessions(exceeded))
    }
    const named = { "mcp-session-id": session.id }
    const post = new Post(this.site, exchange, {
      principal,
      expected: 1,
      batch: false,
      version: undefined,
      session,
      headers: named,
      onAnswer: (response) => {
        // Of a session that failed to begin, or that nobody hears of, nothing stays behind.
        if (Message.isSuccess(response) && !exchange.isGone) return named
        session.end()
        return undefined
      },
      onDone: () => this.sessions.touch(session)
    })
    session.opened.receive(request, post)
    post.wait()
  }

  // By itself, so that what a session holds on to is not the exchange that began it.
  private open(principal: Principal | undefined): HttpSession {
    const session: HttpSession = new HttpSession(this.site, SecretId.make(), principal?.id, (closing) => {
      this.sessions.remove(session)
      const fiber = Runtime.runFork(this.site.runtime, closing)
      this.closing.add(fiber)
      fiber.addObserver(() => this.closing.delete(fiber))
    })
    return session
  }

  private ask(
    exchange: HttpExchange,
    session: HttpSession,
    incoming: Message.Incoming,
    principal: Principal | undefined,
    expected: number
  ): void {
    const { opened } = session
    const post = new Post(this.site, exchange, {
      principal,
      expected,
      batch: Message.isMalformed(incoming),
      version: opened.version(),
      session,
      onDone: () => this.sessions.touch(session)
    })
    opened.receive(incoming, post)
    post.wait()
  }

  private batch(
    exchange: HttpExchange,
    session: HttpSession,
    malformed: Message.Malformed,
    principal: Principal | undefined
  ): void {
    const batch = malformed.batch!
    const { opened } = session
    const refusal = Batch.refusal(batch, opened.version())
    if (refusal !== undefined) return Refusal.send(exchange, refusal)
    const expected = Batch.answers(batch)
    if (expected > 0) return this.ask(exchange, session, malformed, principal, expected)
    this.tell(exchange, session, malformed, principal)
  }

  /** Takes in what needs no answer. */
  private tell(
    exchange: HttpExchange,
    session: HttpSession,
    incoming: Message.Incoming,
    principal: Principal | undefined
  ): void {
    const facts = RequestOrigin.request(exchange.headers, principal, session.id)
    session.opened.receive(incoming, session.standalone.carrying(facts))
    accepted(exchange)
  }

  private spoilt(exchange: HttpExchange, malformed: Message.Malformed, principal: Principal | undefined): void {
    // Whoever waits for an answer that came spoilt waits no longer.
    const session = malformed.kind === "response"
      ? this.sessions.find(idOf(exchange))
      : undefined
    if (session !== undefined && session.owner === principal?.id) session.opened.receive(malformed)
    Refusal.failure(exchange, 400, Message.malformedResponse(malformed))
  }

  private resume(exchange: HttpExchange, session: HttpSession, id: string): void {
    const place = EventId.decode(session.id, id)
    const refuse = () => Refusal.send(exchange, Refusal.unknownEvent(id))
    if (place === undefined) return refuse()
    const { position, stream } = place
    if (stream === STANDALONE) return session.standalone.resume(exchange, position, refuse)
    const lane = session.lane(stream)
    lane.resume(position, () => {
      if (exchange.isGone) return undefined
      const events = this.site.stream(exchange, () => lane.detach(events))
      return events
    }, refuse)
  }

  private speaks(version: string): boolean {
    return (this.site.dispatcher.versions as ReadonlyArray<string>).includes(version)
  }

  /** The session that a request names, or nothing when the request has been turned away. */
  private find(exchange: HttpExchange, principal: Principal | undefined): HttpSession | undefined {
    const { headers } = exchange
    const id = idOf(exchange)
    if (id === "") return refused(exchange, Refusal.noSession)
    const session = this.sessions.find(id)
    // MUST answer 404 to a session that has ended; another's is as unknown as that
    if (session === undefined || session.owner !== principal?.id) return refused(exchange, Refusal.unknownSession)
    const version = headers["mcp-protocol-version"]
    if (version === undefined) return session
    // MUST answer 400 to a version that is invalid or unsupported (2025-11-25 basic/transports#protocol-version-header)
    if (!this.speaks(version)) {
      return refused(exchange, Refusal.unsupportedVersion(version, this.site.dispatcher.versions))
    }
    const agreed = session.opened.version()
    return agreed === undefined || agreed === version
      ? session
      : refused(exchange, Refusal.otherVersion(version, agreed))
  }
}

const idOf = ({ headers }: HttpExchange): string => headers["mcp-session-id"] ?? ""

const refused = (exchange: HttpExchange, refusal: Refusal.Refusal): undefined => {
  Refusal.send(exchange, refusal)
  return undefined
}

/**
 * MUST answer 202 without a body to what needs no answer (2025-11-25 basic/transports#sending-messages-to-the-server)
 *
 * @since 0.1.0
 * @category answering
 */
export const accepted = (exchange: HttpExchange): void => exchange.reply(202, {}, "")

/**
 * @since 0.1.0
 * @category guards
 */
export const isInitialize = (incoming: Message.Incoming): incoming is Message.Request =>
  !Message.isMalformed(incoming) && Message.isRequest(incoming) && incoming.method === Methods.initialize.name
