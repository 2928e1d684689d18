/**
 * Streamable HTTP in the modern era. Each request is a POST that repeats parts of its body in headers. The response has the answer, as JSON
 * or at the end of a stream of events. `negotiation/HttpTransport` makes this sender, which uses `HttpConnection` and `Outgoing`. Modern
 * HTTP has no session. The client cancels a request when it closes the HTTP connection. When a stream breaks, the answer is lost, although
 * the server may have run the request. `ModernCalls` decides whether the request is sent again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type LocalError, TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import * as Oversized from "../../jsonrpc/runtime/Oversized.js"
import * as Sse from "../../jsonrpc/Sse.js"
import { Undelivered } from "../../jsonrpc/Transport.js"
import * as ErrorCodes from "../../protocol/ErrorCodes.js"
import * as Headers from "../../protocol/modern/Headers.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Answer from "../http/Answer.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as Events from "../http/Events.js"
import * as HttpConnection from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import type { Sender } from "../http/Outgoing.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import * as ResponseBody from "../http/ResponseBody.js"
import * as ToolHeaders from "./ToolHeaders.js"

type Response = HttpClientResponse.HttpClientResponse

export class ModernHttp implements Sender {
  readonly cancelsByClosing = true
  readonly canResume = false
  private readonly nameParameters: ReadonlyMap<string, string>
  private readonly template: HttpClientRequest.HttpClientRequest

  /**
   * @param extended For each method of an extension: the parameter whose value the header `Mcp-Name` repeats.
   * @param headers For each tool, by name: the headers that repeat arguments of the tool.
   */
  constructor(
    private readonly connection: HttpConnection.HttpConnection,
    extended: ReadonlyMap<string, string>,
    private readonly headers: ToolHeaders.ToolHeaders
  ) {
    this.nameParameters = new Map([...Headers.nameParameters, ...extended])
    // The client MUST list both types as supported (2026-07-28 basic/transports#sending-messages).
    this.template = HttpConnection.request(connection, "POST", connection.url, {
      accept: `${MediaType.JSON}, ${MediaType.EVENTS}`
    })
  }

  request(request: Message.Request, text: string): ReturnType<Sender["request"]> {
    const { reader } = this.connection
    return Effect.matchEffect(this.exchange(request, text), {
      onFailure: (error) => reader.deliver(new Undelivered(request.id, error)),
      onSuccess: (answer) => reader.deliver(answer)
    })
  }

  send(message: Parameters<Sender["send"]>[0], text: string): ReturnType<Sender["send"]> {
    return Message.isResponse(message)
      ? Effect.void
      : this.connection.send(this.post(message, text), RefusedResponse.accepted)
  }

  private post(message: Message.Request | Message.Notification, text: string): HttpClientRequest.HttpClientRequest {
    return this.template.pipe(
      HttpClientRequest.setHeaders({
        ...Headers.make(message, this.nameParameters),
        ...(message.method === Methods.callTool.name ? ToolHeaders.of(this.headers, message.params) : undefined)
      }),
      HttpClientRequest.setBody(HttpBody.text(text, MediaType.JSON))
    )
  }

  /** Sends a request, and returns its answer. Messages before the answer are delivered to the reader. */
  private exchange(request: Message.Request, text: string): Effect.Effect<Message.Response, LocalError> {
    return Effect.mapError(
      // The request is made when it is sent, because the headers of tools may become known while it waits.
      Effect.suspend(() =>
        this.connection.send(
          this.post(request, text),
          (response) =>
            RefusedResponse.isOk(response) ? this.answerOf(request, response) : this.refused(request, response)
        )
      ),
      (error) =>
        error._tag === "TransportError" && error.reason === "Read"
          ? request.method === Methods.discover.name
            // The probe (`server/discover`) changes nothing at the server.
            ? Answer.lost(request.method, error.message, error.cause)
            : lost(request.method, error)
          : error
    )
  }

  private answerOf(request: Message.Request, response: Response): Effect.Effect<Message.Response, LocalError> {
    const { headers } = response
    const type = MediaType.of(headers["content-type"])
    if (type === MediaType.EVENTS) {
      return this.fromEvents(request, response)
    }
    if (type === MediaType.JSON) {
      const { maxBodyBytes } = this.connection.settings
      const tooLarge = Answer.tooLargeBody(request.method)
      return Effect.flatMap(ResponseBody.text(response, maxBodyBytes, headers, tooLarge), (body) => {
        const given = this.connection.redacted(MessageText.parse(body, this.connection.settings))
        if (Answer.isAnswer(given, request.id)) {
          return Effect.succeed(given)
        }
        const messages = Batch.flattened(given)
        const answer = messages.find((message) => Answer.isAnswer(message, request.id))
        if (answer !== undefined) {
          return Effect.as(this.deliver(request.id, messages, answer), answer)
        }
        const incoming = messages.find((one) => Answer.isMalformed(one, request.id) || Answer.isWithoutId(one)) ??
          messages[0]!
        const error = Answer.isWithoutId(incoming) ? Answer.errorOf(incoming) : undefined
        return Effect.zipRight(
          this.deliver(request.id, messages, incoming),
          error === undefined
            ? Effect.fail(
              Message.isMalformed(incoming)
                ? Answer.malformed(request.method, incoming, this.connection.url)
                : Answer.unreadable(request.method, "it does not answer this request")
            )
            : Effect.succeed(Message.failure(request.id, error))
        )
      })
    }
    const what = `it was answered with ${response.status}, ${type === "" ? "without an answer" : `with ${type}`}`
    return Effect.zipRight(
      ResponseBody.discard(response),
      Effect.fail(
        request.method === Methods.discover.name
          // For the probe (`server/discover`), this is the answer of a server that does not know the method.
          ? Answer.unreadable(request.method, what)
          : broken(what)
      )
    )
  }

  /** Reads the answer from a stream of events. Fails when the stream ends without the answer. */
  private fromEvents(
    { id, method }: Message.Request,
    response: Response
  ): Effect.Effect<Message.Response, LocalError> {
    return Events.fromResponse(response, this.connection.settings).pipe(
      Stream.mapConcatEffect((event) => {
        if (event instanceof Sse.TooLarge) {
          // An event of a subscription is not an answer. The stream ends after the answer.
          return method !== Methods.listen.name && Answer.mayBeAnswer(event, id)
            ? Effect.fail(Answer.tooLargeEvent(method, event))
            : Effect.as(this.deliver(id, [Oversized.ofEvent(event)]), [])
        }
        if (event.data === undefined || event.data === "") {
          return Effect.succeed([])
        }
        const given = this.connection.redacted(MessageText.parse(event.data, this.connection.settings))
        if (Answer.isMalformed(given, id)) {
          return Effect.fail(Answer.unreadable(method, given.message))
        }
        const messages = Batch.flattened(given)
        const answer = messages.find((message) => Answer.isAnswer(message, id))
        return Effect.as(this.deliver(id, messages, answer), answer === undefined ? [] : [answer])
      }),
      Stream.runHead,
      Effect.flatMap(Option.match({
        onNone: () => Effect.fail(broken("the stream ended before it")),
        onSome: Effect.succeed
      }))
    )
  }

  /** Delivers all messages except the message that ends the request. */
  private deliver(
    id: Message.RequestId,
    messages: ReadonlyArray<Message.Incoming>,
    answer?: Message.Incoming
  ): Effect.Effect<void> {
    const { reader } = this.connection
    return Effect.forEach(
      messages,
      (one) => one === answer ? Effect.void : reader.deliver(Message.onStream(one, id)),
      { discard: true }
    )
  }

  /**
   * Handles a refusal. An error in the body is the answer to the request. An error without an id is not the answer when the status is 401
   * or 403, because a proxy that denies access may have sent it. An error is not the answer to the probe (`server/discover`) when the
   * status says nothing about the era.
   */
  private refused(request: Message.Request, response: Response): Effect.Effect<Message.Response, LocalError> {
    return Effect.flatMap(RefusedResponse.fromResponse(response), (refusal) => {
      const incoming = RefusedResponse.messageOf(refusal)
      const error = Answer.errorOf(incoming)
      if (error !== undefined) {
        const isDenied = refusal.status === 401 || refusal.status === 403
        const isMine = Answer.isAnswer(incoming, request.id) || (Answer.isWithoutId(incoming) && !isDenied)
        const counts = request.method !== Methods.discover.name || EraEvidence.showsEra(refusal)
        if (ErrorCodes.isModernOnly(error.code) || (isMine && counts)) {
          return Effect.succeed(Message.failure(request.id, error))
        }
      }
      return Effect.fail(RefusedResponse.toError(refusal))
    })
  }
}

/** Makes the error for a response that ends without the answer. */
const broken = (message: string): TransportError => new TransportError({ reason: "Read", message })

/** Makes the error for the caller. A server that has read a request may have run it, whatever happened to the response. */
const lost = (method: string, { cause, message }: TransportError): TransportError =>
  new TransportError({
    reason: "Read",
    message: `The answer to "${method}" was lost, and the server may have run the request: ${message}`,
    cause
  })
