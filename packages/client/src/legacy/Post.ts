/**
 * One request over Streamable HTTP, from its POST to its answer: a JSON body, or a stream of events. The request is sent
 * once, and a second time only when the server refused it because it had lost the session.
 *
 * `Http` sends the requests of the application so, and the `initialize` of a new session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { SendOptions } from "@effect-mcp/jsonrpc/Transport"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as ErrorCodes from "@effect-mcp/protocol/ErrorCodes"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Answer from "../http/Answer.js"
import * as Body from "../http/Body.js"
import * as Events from "../http/Events.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpRefused } from "../HttpRefused.js"
import * as AnswerStream from "./AnswerStream.js"
import * as HttpSession from "./HttpSession.js"
import * as Incoming from "./Incoming.js"

/** The other transport for a refused `initialize`; `undefined` when there is none. */
export type Fallback = (
  refused: HttpRefused,
  request: Message.Request,
  text: string
) => Effect.Effect<void, LocalError> | undefined

export interface Options extends AnswerStream.Options {
  /** Begins a new session in place of the lost one of this id. */
  readonly renew: (lost: string) => Effect.Effect<void, TransportError>
  readonly fallback?: Fallback | undefined
}

type Sending = Effect.Effect<void, LocalError>

/** A request that is sent. `text` is its JSON form. */
export class Post {
  private readonly opens: boolean
  private readonly onAnswer: Answer.OnAnswer

  constructor(
    private readonly options: Options,
    private readonly request: Message.Request,
    private readonly text: string,
    onAnswer: Answer.OnAnswer,
    private readonly resumption?: SendOptions
  ) {
    this.opens = HttpSession.isInitialize(request)
    this.onAnswer = this.opens
      ? (answer) =>
        Effect.zipRight(Ref.update(options.session, (now) => HttpSession.agree(now, answer)), onAnswer(answer))
      : onAnswer
  }

  /** Sends the request and waits for its end. Succeeds after `onAnswer`, or fails when no answer will come. */
  get run(): Sending {
    const token = this.resumption?.resumptionToken
    return token === undefined ? this.attempt(true) : AnswerStream.resumeFrom(this.options, { ...this.reading, token })
  }

  private get reading(): AnswerStream.Reading {
    return { request: this.request, onAnswer: this.onAnswer, onToken: this.resumption?.onResumptionToken }
  }

  private attempt(isFirst: boolean): Sending {
    const { connection, session } = this.options
    return Effect.flatMap(Ref.get(session), (current) =>
      connection.send(
        // `initialize` begins a session and names none.
        HttpSession.post(this.opens ? HttpSession.initial(connection) : current, this.text),
        (response) => {
          if (Refusal.isOk(response)) return this.opens ? this.opened(response) : this.answered(response)
          return Effect.flatMap(Refusal.fromResponse(response), (refused) =>
            this.refuse(refused, isFirst && !this.opens ? current.id : undefined))
        }
      ))
  }

  private opened(response: HttpClientResponse): Sending {
    const given = HttpSession.idOf(response.headers)
    if (given === false) {
      return Effect.fail(new TransportError({ reason: "Decode", message: "The server's session id is not valid" }))
    }
    return Effect.zipRight(
      Ref.update(this.options.session, (now) => HttpSession.withId(now, given)),
      this.answered(response)
    )
  }

  private answered(response: HttpClientResponse): Sending {
    const { connection: { settings }, session } = this.options
    const { headers } = response
    const type = MediaType.of(headers["content-type"])
    if (type === MediaType.EVENTS) {
      return AnswerStream.read(this.options, { ...this.reading, body: Events.fromResponse(response, settings) })
    }
    if (type === MediaType.JSON) {
      return Effect.flatMap(
        Effect.zip(Body.text(response, settings.maxBodyBytes, headers), Ref.get(session)),
        ([body, current]) => this.take(current, Incoming.fromText(current, body))
      )
    }
    const what = type === "" ? "without an answer" : `with ${type}`
    const advice = this.opens ? `; is ${response.request.url} the endpoint of an MCP server?` : ""
    return Effect.zipRight(
      Body.discard(response),
      Effect.fail(Answer.lost(this.request.method, `it was answered with ${response.status}, ${what}${advice}`))
    )
  }

  /** Takes what a body of JSON holds. */
  private take(current: HttpSession.HttpSession, messages: ReadonlyArray<Message.Incoming>): Sending {
    const { id, method } = this.request
    const answer = messages.find((message) => Answer.isAnswer(message, id))
    if (answer !== undefined) {
      return messages.length === 1 ? this.onAnswer(answer) : Effect.forEach(
        messages,
        (message) => message === answer ? this.onAnswer(answer) : Incoming.deliver(current, [message]),
        { discard: true }
      )
    }
    const malformed = messages.find((message) => Answer.isMalformed(message, id)) ?? messages[0]
    return malformed !== undefined && Message.isMalformed(malformed)
      ? Effect.fail(Answer.unreadable(method, malformed.message))
      : Effect.zipRight(
        Incoming.deliver(current, messages),
        Effect.fail(Answer.unreadable(method, "it answers something else"))
      )
  }

  /** `named` is the id of the session that the request named, if it may be sent again. */
  private refuse(refused: HttpRefused, named: string | undefined): Sending {
    const { fallback, renew } = this.options
    const { id } = this.request
    const body = MediaType.of(refused.headers["content-type"]) === MediaType.JSON
      ? Message.fromUnknown(Json.parse(refused.body))
      : undefined
    const answer = body !== undefined && Answer.isAnswer(body, id) ? body : undefined
    // MUST begin a new session (2025-11-25 basic/transports#session-management)
    if (named !== undefined && HttpSession.isLost(refused, answer)) {
      return Effect.zipRight(renew(named), this.attempt(false))
    }
    if (answer !== undefined) return this.onAnswer(answer)
    const error = body === undefined ? undefined : Answer.errorOf(body)
    // A modern server has no older transport.
    if (error !== undefined && ErrorCodes.isModernOnly(error.code)) return this.onAnswer(Message.failure(id, error))
    return (this.opens ? fallback?.(refused, this.request, this.text) : undefined) ??
      Effect.fail(Refusal.toError(refused))
  }
}
