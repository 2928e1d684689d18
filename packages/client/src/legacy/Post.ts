/**
 * One request over Streamable HTTP, from its POST to its answer: a JSON body, or a stream of events. The request is sent
 * once, and a second time only when the server refused it because it had lost the session.
 *
 * `Http` sends the requests of the application so, and `Renewal` the `initialize` of a new session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
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

/** Sends a request and waits for its end. Succeeds after `onAnswer`, or fails when no answer will come. */
export const run = (
  options: Options,
  request: Message.Request,
  text: string,
  onAnswer: Answer.OnAnswer,
  resumption?: SendOptions
): Effect.Effect<void, LocalError> => {
  const { connection, fallback, renew, session } = options
  const { id, method } = request
  const opens = HttpSession.isInitialize(request)

  const end: Answer.OnAnswer = opens
    ? (answer) => Effect.zipRight(Ref.update(session, (now) => HttpSession.agree(now, answer)), onAnswer(answer))
    : onAnswer

  const attempt = (isFirst: boolean): Effect.Effect<void, LocalError> =>
    Effect.flatMap(Ref.get(session), (current) =>
      connection.send(
        // `initialize` begins a session and names none.
        HttpSession.post(opens ? HttpSession.initial(connection) : current, text),
        (response) =>
          Refusal.isOk(response)
            ? accepted(response)
            : Effect.flatMap(
              Refusal.fromResponse(response),
              (refused) => refuse(refused, isFirst && !opens ? current.id : undefined)
            )
      ))

  const accepted = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void, LocalError> => {
    const { headers } = response
    if (!opens) return answered(response, headers)
    const given = HttpSession.idOf(headers)
    return given === false
      ? Effect.fail(new TransportError({ reason: "Decode", message: "The server's session id is not valid" }))
      : Effect.zipRight(Ref.update(session, (now) => HttpSession.withId(now, given)), answered(response, headers))
  }

  const answered = (
    response: HttpClientResponse.HttpClientResponse,
    headers: HttpClientResponse.HttpClientResponse["headers"]
  ): Effect.Effect<void, LocalError> => {
    const type = MediaType.of(headers["content-type"])
    if (type === MediaType.EVENTS) {
      const body = Events.fromResponse(response, connection.settings)
      return AnswerStream.read(options, { request, body, onAnswer: end, onToken: resumption?.onResumptionToken })
    }
    if (type === MediaType.JSON) {
      return Effect.flatMap(Body.text(response, connection.settings.maxBodyBytes, headers), fromBody)
    }
    const what = type === "" ? "without an answer" : `with ${type}`
    const advice = opens ? `; is ${response.request.url} the endpoint of an MCP server?` : ""
    return Effect.zipRight(
      Body.discard(response),
      Effect.fail(Answer.lost(method, `it was answered with ${response.status}, ${what}${advice}`))
    )
  }

  const fromBody = (body: string): Effect.Effect<void, LocalError> => {
    return Effect.flatMap(Ref.get(session), (current) => {
      const messages = Incoming.fromText(current, body)
      const answer = messages.find((message) => Answer.isAnswer(message, id))
      if (answer !== undefined) {
        return messages.length === 1 ? end(answer) : Effect.forEach(
          messages,
          (message) => message === answer ? end(answer) : Incoming.deliver(current, [message]),
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
    })
  }

  /** `named` is the id of the session that the request named, if it may be sent again. */
  const refuse = (refused: HttpRefused, named: string | undefined): Effect.Effect<void, LocalError> => {
    const body = MediaType.of(refused.headers["content-type"]) === MediaType.JSON
      ? Message.fromUnknown(Json.parse(refused.body))
      : undefined
    const answer = body !== undefined && Answer.isAnswer(body, id) ? body : undefined
    // MUST begin a new session (2025-11-25 basic/transports#session-management)
    if (named !== undefined && HttpSession.isLost(refused, answer)) {
      return Effect.zipRight(renew(named), attempt(false))
    }
    if (answer !== undefined) return end(answer)
    const error = body === undefined ? undefined : Answer.errorOf(body)
    // A modern server has no older transport.
    if (error !== undefined && ErrorCodes.isModernOnly(error.code)) return end(Message.failure(id, error))
    return (opens ? fallback?.(refused, request, text) : undefined) ?? Effect.fail(Refusal.toError(refused))
  }

  return resumption?.resumptionToken === undefined
    ? attempt(true)
    : AnswerStream.resumeFrom(options, {
      request,
      token: resumption.resumptionToken,
      onAnswer: end,
      onToken: resumption.onResumptionToken
    })
}
