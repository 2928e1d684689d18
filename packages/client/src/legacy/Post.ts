/**
 * One request of ours, from its POST to its answer: in one piece, on a stream of events, or on the rest of a stream that was
 * cut off. It is sent once; whatever becomes of it, who asked hears one thing, and nobody else hears of it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 * @since 0.1.0
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { SessionExpired, TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Effect from "effect/Effect"
import * as Body from "../http/Body.js"
import * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import type { Slot } from "../http/Slots.js"
import type { HttpRefused } from "../HttpRefused.js"
import * as Refused from "../HttpRefused.js"
import type { HttpSession } from "./HttpSession.js"
import { isInitialize, isUnknownSession } from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import { listen } from "./Listen.js"
import { ResumePoint } from "./ResumePoint.js"

/**
 * How many milliseconds the server may take to end a stream after the answer on it.
 *
 * @since 0.1.0
 * @category limits
 */
export const GRACE = 1_000

/**
 * What a POST needs of the connection that it is made on.
 *
 * @since 0.1.0
 * @category models
 */
export interface Home {
  readonly site: HttpConnection
  readonly session: HttpSession
  /** Whether the server is to be asked in another way, after it has refused `initialize`; then that way takes over. */
  readonly fallback?:
    | ((post: Post, refused: HttpRefused) => Effect.Effect<void, TransportError> | undefined)
    | undefined
  /** Begins a new session in place of this one. */
  readonly renew: (gone: string) => Effect.Effect<void, TransportError>
  readonly answered: (response: Message.Response) => void
  readonly lost: (error: LocalError) => void
}

type Next = Effect.Effect<void, TransportError>

/**
 * @since 0.1.0
 * @category models
 */
export class Post {
  private readonly cursor = new ResumePoint()
  private readonly opens: boolean
  private slot: Slot<never> | undefined
  private streaming = false
  private over = false
  private questions: Set<Message.RequestId> | undefined
  /** What was on the stream in place of the answer, as it seems. */
  private spoilt: TransportError | undefined

  constructor(
    private readonly home: Home,
    readonly request: Message.Request,
    readonly text: string
  ) {
    this.opens = isInitialize(request)
  }

  readonly run = (slot: Slot<never>): Effect.Effect<void> => {
    this.slot = slot
    return Effect.onInterrupt(
      Effect.catchAll(this.attempt(true), (error) => Effect.sync(() => this.lose(error))),
      () => Effect.sync(() => this.giveUp())
    )
  }

  /** Whoever is being asked on its behalf is asked no longer: that the server says so would not be read any more. */
  private giveUp(): void {
    if (this.over) return
    for (const requestId of this.questions ?? []) {
      this.home.site.inbox.deliver(Message.notification(Methods.cancelled.name, { requestId }))
    }
  }

  /** Keeps in mind what the server asks, the latest of it: older questions were answered long ago. */
  private asked(messages: ReadonlyArray<Message.Incoming>): void {
    for (const message of messages) {
      if (Message.isMalformed(message) || !Message.isRequest(message)) continue
      const questions = this.questions ??= new Set()
      questions.add(message.id)
      const [oldest] = questions
      if (questions.size > MAX_IN_FLIGHT && oldest !== undefined) questions.delete(oldest)
    }
  }

  /** Ends it, if it has been accepted: it went with its session. */
  expire(): void {
    if (!this.streaming || this.over) return
    this.lose(new SessionExpired({ method: this.request.method }))
    this.slot?.cancel()
  }

  /** Says that no answer will come. */
  lose(error: LocalError): void {
    if (this.over) return
    this.over = true
    this.home.lost(error)
  }

  private attempt(first: boolean): Next {
    return Effect.suspend(() => {
      const { session, site } = this.home
      const { id } = session
      return Effect.flatten(
        site.courier.send<Next>(
          session.post(this.text, this.opens),
          (response) =>
            response.status >= 200 && response.status < 300
              ? this.respond(response)
              : Effect.flatMap(
                Refused.fromResponse(response),
                (refused) => this.refused(refused, first ? id : undefined)
              )
        )
      )
    })
  }

  private respond(response: HttpClientResponse.HttpClientResponse): Effect.Effect<Next, TransportError> {
    const { session, site: { options } } = this.home
    const { headers } = response
    const problem = this.opens ? session.accept(headers) : undefined
    if (problem !== undefined) return Effect.fail(new TransportError({ reason: "Decode", message: problem }))
    const type = MediaType.of(headers["content-type"])
    if (type === MediaType.JSON) {
      return Effect.flatMap(Body.text(response, options.maxBodyBytes, headers), (text) => this.read(text))
    }
    if (type === MediaType.EVENTS) {
      this.streaming = true
      return Effect.match(Events.read(response, options.maxEventBytes, this.hear), {
        onFailure: (error) => this.resume(error),
        onSuccess: () => this.resume(undefined)
      })
    }
    const what = type === "" ? "without an answer" : `with ${type}`
    return Effect.zipRight(
      Body.discard(response),
      Effect.fail(this.unanswered(`it was answered with ${response.status}, ${what}`))
    )
  }

  private refused(refused: HttpRefused, session: string | undefined): Effect.Effect<Next, TransportError> {
    const answer = MediaType.of(refused.headers["content-type"]) === MediaType.JSON
      ? Message.fromUnknown(Json.parse(refused.body))
      : undefined
    const gone = refused.status === 404 && session !== undefined && !this.opens
    if (answer !== undefined && Incoming.answers(answer, this.request.id) && !(gone && isUnknownSession(answer))) {
      this.answer(answer)
      return Effect.succeed(Effect.void)
    }
    // MUST begin a new session (2025-11-25 basic/transports#session-management)
    if (gone) {
      return Effect.succeed(Effect.zipRight(this.home.renew(session), this.attempt(false)))
    }
    return Effect.succeed(
      (this.opens ? this.home.fallback?.(this, refused) : undefined) ?? Effect.fail(Refused.toError(refused))
    )
  }

  /** A body, which has to hold the answer. */
  private read(text: string): Effect.Effect<Next, TransportError> {
    const { session, site } = this.home
    if (text.startsWith("\uFEFF")) {
      return Effect.fail(this.undecodable("it begins with a byte order mark"))
    }
    const messages = Incoming.read(site, session, text)
    const others = messages.filter((message) => !this.take(message))
    if (this.over) return this.inform(others)
    const [first] = messages
    if (first !== undefined && Message.isMalformed(first)) return Effect.fail(this.undecodable(first.message))
    return Effect.zipRight(this.inform(others), Effect.fail(this.undecodable("it answers something else")))
  }

  private inform(messages: ReadonlyArray<Message.Incoming>): Effect.Effect<Next> {
    const wait = messages.length === 0 ? undefined : Incoming.deliver(this.home.site, messages)
    return wait === undefined ? done : Effect.as(wait, Effect.void)
  }

  private readonly hear: Events.Hear = (event) => {
    const { session, site } = this.home
    this.cursor.take(event)
    if (event instanceof Sse.TooLarge) {
      this.spoilt = this.unanswered(`an event has more than ${event.maxEventBytes} bytes`)
      return undefined
    }
    const others = Incoming.ofEvent(site, session, event).filter((message) => !this.take(message))
    this.asked(others)
    return others.length === 0 ? undefined : Incoming.deliver(site, others)
  }

  /** Whether it was the answer. */
  private take(message: Message.Incoming): boolean {
    if (this.over) return false
    const { id } = this.request
    if (Message.isMalformed(message) && message.id === id && message.kind === "response") {
      this.lose(this.undecodable(message.message))
      return true
    }
    if (!Incoming.answers(message, id)) return false
    this.answer(message)
    return true
  }

  private answer(response: Message.Response): void {
    this.over = true
    if (this.opens) this.home.session.agree(response)
    this.home.answered(response)
    const { alarm, requests } = this.home.site
    if (this.streaming && this.slot !== undefined) requests.expire(this.slot, alarm.now() + GRACE)
  }

  /** Goes on where the stream was cut off, unless everything was said. Never sends the request again. */
  private resume(cause: TransportError | undefined): Next {
    const { session, site } = this.home
    const { maxResumes, reconnect } = site.options
    const { cursor } = this
    const again = (pause: Effect.Effect<void, void>, cause: TransportError | undefined): Next => {
      if (this.over) return Effect.void
      if (this.spoilt !== undefined) return Effect.fail(this.spoilt)
      const lost = (why: string) => Effect.fail(this.unanswered(`${why}: ${cause?.message ?? "it has ended"}`, cause))
      if (cursor.lastEventId === undefined) return lost("the stream cannot be resumed")
      if (cursor.fruitless >= maxResumes) return lost(`${maxResumes} tries to resume the stream brought nothing`)
      return Effect.matchEffect(pause, {
        onFailure: () => lost("the stream was not resumed"),
        onSuccess: () =>
          Effect.flatMap(listen(site, session, cursor, this.hear), (outcome) =>
            outcome._tag === "Ended"
              ? again(pause, outcome.error ?? cause)
              : this.over
              ? Effect.void
              : Effect.fail(this.unanswered(`the stream cannot be resumed: ${outcome.message}`, cause)))
      })
    }
    return this.over ? Effect.void : Effect.flatMap(cursor.pauses(reconnect), (pause) => again(pause, cause))
  }

  private unanswered(why: string, cause?: unknown): TransportError {
    const message = `The answer to "${this.request.method}" was lost: ${why}`
    return new TransportError({ reason: "Read", message, cause })
  }

  private undecodable(why: string): TransportError {
    return new TransportError({
      reason: "Decode",
      message: `The answer to "${this.request.method}" cannot be read: ${why}`
    })
  }
}

const done: Effect.Effect<Next> = Effect.succeed(Effect.void)
