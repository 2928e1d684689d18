/**
 * HTTP+SSE, the transport of revision 2024-11-05, for a client. A GET opens a stream. The first event of the stream names the URL for
 * POSTs, and all messages of the server come on the stream. When the stream ends, the connection ends. `negotiation/HttpTransport` opens
 * the stream, over an `HttpConnection`.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Url from "@effect/platform/Url"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type * as Message from "../../jsonrpc/Message.js"
import * as Sse from "../../jsonrpc/Sse.js"
import { Undelivered } from "../../jsonrpc/Transport.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Answer from "../http/Answer.js"
import { type Event, fromResponse } from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import type { Sender } from "../http/Outgoing.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import * as HttpSession from "./HttpSession.js"
import * as Incoming from "./Incoming.js"

interface Self {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession.HttpSession>
  /** Completes when the server has named the URL for POSTs. Fails when the server will not name it. */
  readonly endpoint: Deferred.Deferred<void, TransportError>
  /** The id of the `initialize` request, whose answer names the revision. */
  readonly initialize: Ref.Ref<Message.RequestId | undefined>
}

/** Opens the stream, and waits until the server has named the URL for POSTs. Otherwise fails with reason `Open`. */
export const open = (connection: HttpConnection): Effect.Effect<Sender, TransportError> =>
  Effect.gen(function*() {
    const self: Self = {
      connection,
      session: yield* Ref.make(HttpSession.initial(connection)),
      endpoint: yield* Deferred.make<void, TransportError>(),
      initialize: yield* Ref.make<Message.RequestId | undefined>(undefined)
    }
    yield* awaitEndpoint(self)
    return {
      cancelsByClosing: false,
      canResume: false,
      send: (_, text) => send(self, text),
      request: (request, text) =>
        Effect.catchAll(
          Effect.zipRight(
            HttpSession.isInitialize(request) ? Ref.set(self.initialize, request.id) : Effect.void,
            send(self, text)
          ),
          (error) => connection.reader.deliver(new Undelivered(request.id, error))
        )
    }
  })

const awaitEndpoint = (self: Self): Effect.Effect<void, TransportError> => {
  const listener = listen(self)
  const late = () => Effect.fail(notOpened("it did not name the URL for messages in time"))
  return Effect.onError(
    TimeLimit.call(Deferred.await(self.endpoint), self.connection.settings.acceptTimeout, late),
    () => Fiber.interruptFork(listener)
  )
}

const send = ({ connection, session }: Self, text: string): Effect.Effect<void, TransportError> =>
  Effect.flatMap(
    Ref.get(session),
    (current) => connection.send(HttpSession.post(current, text), RefusedResponse.accepted)
  )

/** Starts a fiber that reads the stream until it ends. */
const listen = (self: Self): Fiber.RuntimeFiber<void> => {
  const { connection, endpoint, session } = self
  const reading = Effect.flatMap(
    Ref.get(session),
    (current) =>
      connection.send(HttpSession.get(current, undefined), (response) =>
        Effect.zipRight(
          check(response),
          Stream.runForEach(fromResponse(response, connection.settings), (event) => onEvent(self, event))
        ))
  )
  // This also runs when the connection ends meanwhile, which interrupts the reading.
  return connection.fork(Effect.ignore(Effect.onExit(reading, (exit) =>
    // Until the URL is known, `open` waits for the stream. Later the whole connection ends with the stream.
    Effect.flatMap(
      Deferred.fail(endpoint, neverOpened(exit)),
      (isFirst) => isFirst || Exit.isInterrupted(exit) ? Effect.void : connection.end(exit)
    ))))
}

const onEvent = (self: Self, event: Event): Effect.Effect<void> => {
  const { endpoint, initialize, session } = self
  if (!(event instanceof Sse.TooLarge) && event.event === "endpoint") {
    // Only the first such event counts.
    return Effect.flatMap(Deferred.isDone(endpoint), (isKnown) => isKnown ? Effect.void : onEndpoint(self, event))
  }
  return Effect.gen(function*() {
    const opening = yield* Ref.get(initialize)
    const messages = Incoming.fromEvent(yield* Ref.get(session), event)
    const answer = opening === undefined ? undefined : messages.find((one) => Answer.isAnswer(one, opening))
    if (answer !== undefined) yield* Ref.update(session, (now) => HttpSession.agree(now, answer))
    yield* Incoming.deliver(yield* Ref.get(session), messages)
  })
}

const onEndpoint = ({ connection, endpoint, session }: Self, { data }: Sse.Event): Effect.Effect<unknown> => {
  const { url } = connection
  const target = Either.getOrUndefined(Url.fromString(data ?? "", url))
  // Messages, and the credentials that are sent with them, go only to the origin of the URL of the connection.
  return target?.origin !== url.origin || target.username !== "" || target.password !== ""
    ? Deferred.fail(endpoint, notOpened("its URL for messages has another origin"))
    : Effect.zipRight(
      Ref.set(session, HttpSession.initial(connection, target)),
      Deferred.succeed(endpoint, undefined)
    )
}

const check = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void, TransportError> => {
  const type = MediaType.of(response.headers["content-type"])
  if (RefusedResponse.isOk(response) && type === MediaType.EVENTS) return Effect.void
  return Effect.flatMap(RefusedResponse.fromResponse(response), (refused) =>
    Effect.fail(
      RefusedResponse.isOk(response)
        ? notOpened(`it is not a stream of events but ${type}`, refused)
        : notOpened(refused.message, refused)
    ))
}

/** Makes the error for a stream that has ended before it named the URL for POSTs. */
const neverOpened = (exit: Exit.Exit<void, TransportError>): TransportError => {
  if (Exit.isInterrupted(exit)) return notOpened("the client has closed it")
  const error = exit._tag === "Success" ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (error === undefined) return notOpened("it ended")
  return error.reason === "Open" ? error : notOpened(error.message, error.cause)
}

const notOpened = (why: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Open", message: `The stream of HTTP+SSE cannot be opened: ${why}`, cause })
