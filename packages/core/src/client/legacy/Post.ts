/**
 * Sends one request over Streamable HTTP, and reads its answer, which is a JSON body or comes on a stream of events. The request is sent
 * once. It is sent a second time only when the server has refused it because the server has lost the session.
 *
 * After the answer, the stream is read for at most one more second, because the HTTP connection can be used again when the server ends the
 * stream. A stream that is cut off is resumed. A `ResumptionToken` names the last event. With this token, a later connection can send a new
 * request that reads the rest of the stream. `Http` sends the requests of the application with this module, and also the `initialize` of a
 * new session. `Answer` recognizes the end of a request. `ResumePoint` says where a stream is resumed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { MAX_IN_FLIGHT } from "../../jsonrpc/Conversation.js"
import { type LocalError, SessionExpired, TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as Progress from "../../jsonrpc/Progress.js"
import * as Sse from "../../jsonrpc/Sse.js"
import type { SendOptions } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { raceFirst } from "../../kit/Race.js"
import * as ErrorCodes from "../../protocol/ErrorCodes.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as Answer from "../http/Answer.js"
import * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import * as ResponseBody from "../http/ResponseBody.js"
import * as ResumptionToken from "../http/ResumptionToken.js"
import type { HttpResponseError } from "../HttpResponseError.js"
import * as EventStream from "./EventStream.js"
import * as HttpSession from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import * as ResumePoint from "./ResumePoint.js"

/** Sends a refused `initialize` over another transport. Returns `undefined` when there is no other transport for it. */
export type Fallback = (
  refused: HttpResponseError,
  request: Message.Request,
  text: string
) => Effect.Effect<void, LocalError> | undefined

export interface Options {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession.HttpSession>
  /** Runs `effect`. When the server loses the session meanwhile, runs `onExpired`. */
  readonly watchSession: <A, E>(effect: Effect.Effect<A, E>, onExpired: Effect.Effect<unknown>) => Effect.Effect<A, E>
  /** Begins a new session in place of the lost session with this id. */
  readonly renew: (lost: string) => Effect.Effect<void, TransportError>
  readonly fallback?: Fallback | undefined
}

type Sending = Effect.Effect<void, LocalError>

/** A request on its way. `text` is the JSON form of the request. */
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

  /** Sends the request, and waits for its end. Succeeds after `onAnswer` has run. Fails when no answer will come. */
  get run(): Sending {
    const token = this.resumption?.resumptionToken
    return token === undefined ? this.attempt(true) : resumeFrom(this.options, { ...this.reading, token })
  }

  private get reading(): Reading {
    return { request: this.request, onAnswer: this.onAnswer, onToken: this.resumption?.onResumptionToken }
  }

  private attempt(isFirst: boolean): Sending {
    const { connection, session } = this.options
    return Effect.flatMap(Ref.get(session), (current) =>
      connection.send(
        // `initialize` begins a session, so it names none.
        HttpSession.post(this.opens ? HttpSession.initial(connection) : current, this.text),
        (response) => {
          if (RefusedResponse.isOk(response)) return this.opens ? this.opened(response) : this.answered(response)
          return Effect.flatMap(RefusedResponse.fromResponse(response), (refused) =>
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
      return readAnswer(this.options, { ...this.reading, body: Events.fromResponse(response, settings) })
    }
    if (type === MediaType.JSON) {
      return Effect.flatMap(
        Effect.zip(
          ResponseBody.text(response, settings.maxBodyBytes, headers, Answer.tooLargeBody(this.request.method)),
          Ref.get(session)
        ),
        ([body, current]) => this.take(current, Incoming.fromText(current, body))
      )
    }
    const what = type === "" ? "without an answer" : `with ${type}`
    const advice = this.opens ? `; is ${response.request.url} the endpoint of an MCP server?` : ""
    return Effect.zipRight(
      ResponseBody.discard(response),
      Effect.fail(Answer.lost(this.request.method, `it was answered with ${response.status}, ${what}${advice}`))
    )
  }

  /** Handles the messages of a JSON body. */
  private take(current: HttpSession.HttpSession, messages: ReadonlyArray<Message.Incoming>): Sending {
    const { id, method } = this.request
    const answer = messages.find((message) => Answer.isAnswer(message, id))
    if (answer !== undefined) {
      return messages.length === 1 ? this.onAnswer(answer) : Effect.forEach(
        messages,
        (message) => message === answer ? this.onAnswer(answer) : Incoming.deliver(current, [message], id),
        { discard: true }
      )
    }
    const malformed = messages.find((message) => Answer.isMalformed(message, id)) ?? messages[0]
    return malformed !== undefined && Message.isMalformed(malformed)
      ? Effect.fail(Answer.malformed(method, malformed, this.options.connection.url))
      : Effect.zipRight(
        Incoming.deliver(current, messages, id),
        Effect.fail(Answer.unreadable(method, "it does not answer this request"))
      )
  }

  /** Handles a refusal. `named` is the id of the session that the request named, if the request may be sent again. */
  private refuse(refused: HttpResponseError, named: string | undefined): Sending {
    const { fallback, renew } = this.options
    const { id } = this.request
    const body = RefusedResponse.messageOf(refused)
    const answer = Answer.isAnswer(body, id) ? body : undefined
    // The client MUST begin a new session (2025-11-25 basic/transports#session-management).
    if (named !== undefined && HttpSession.isLost(refused, answer)) {
      return Effect.zipRight(renew(named), this.attempt(false))
    }
    if (answer !== undefined) return this.onAnswer(answer)
    const error = Answer.errorOf(body)
    // A modern server has no older transport.
    if (error !== undefined && ErrorCodes.isModernOnly(error.code)) return this.onAnswer(Message.failure(id, error))
    return (this.opens ? fallback?.(refused, this.request, this.text) : undefined) ??
      Effect.fail(RefusedResponse.toError(refused))
  }
}

/** How long the client waits for the end of the stream after the answer. */
const END_WAIT = "1 second"

interface Reading {
  readonly request: Message.Request
  readonly onAnswer: Answer.OnAnswer
  /** Receives a token after each event from which the request can be resumed; `undefined` when nobody wants tokens. */
  readonly onToken: ((token: string) => Effect.Effect<void>) | undefined
}

/** Reads the rest of the stream that a token names. The first attempt is made without a wait. */
const resumeFrom = (
  options: Options,
  { token, ...reading }: Reading & { readonly token: string }
): Effect.Effect<void, LocalError> =>
  Effect.flatMap(
    EffectInternals.fromEither(ResumptionToken.parse(token)),
    (earlier) =>
      readAnswer(options, {
        ...reading,
        earlier,
        body: EventStream.open(options.connection, options.session, earlier.eventId)
      })
  )

/** The state of the reading of one answer. */
interface Self extends Reading {
  readonly options: Options
  /** The event after which the body begins, if an earlier connection has sent the request. */
  readonly earlier: ResumptionToken.LastEvent | undefined
  /** The id of the request on the stream. An earlier connection has sent the request under another id. */
  readonly id: Message.RequestId
  readonly outcome: Deferred.Deferred<void, LocalError>
  readonly point: Ref.Ref<ResumePoint.ResumePoint>
  /** The ids of the newest requests of the server on the stream. */
  readonly questions: Ref.Ref<ReadonlyArray<Message.RequestId>>
}

/** Reads the events of a body. Succeeds after the answer. Fails when the answer will not come. */
const readAnswer = (
  options: Options,
  { body, earlier, onAnswer, onToken, request }: Reading & {
    readonly body: Stream.Stream<Events.Event, TransportError | EventStream.NoEventStream>
    readonly earlier?: ResumptionToken.LastEvent
  }
): Effect.Effect<void, LocalError> =>
  Effect.gen(function*() {
    const { method } = request
    const outcome = yield* Deferred.make<void, LocalError>()
    const self: Self = {
      options,
      request,
      onAnswer,
      onToken,
      earlier,
      id: earlier?.requestId ?? request.id,
      outcome,
      point: yield* Ref.make<ResumePoint.ResumePoint>({ ...ResumePoint.initial, lastEventId: earlier?.eventId }),
      questions: yield* Ref.make<ReadonlyArray<Message.RequestId>>([])
    }
    const reading = Effect.matchEffect(Stream.runForEach(body, onEvent(self)), {
      onFailure: (error): Effect.Effect<void, LocalError> =>
        error._tag === "TransportError" ? resume(self, error) : Effect.fail(
          error.status === 404
            ? new SessionExpired({ method })
            : Answer.lost(method, `the stream cannot be resumed: ${error.message}`)
        ),
      onSuccess: () => resume(self, undefined)
    })
    const ending = Effect.zipRight(Deferred.await(outcome), Effect.sleep(END_WAIT))
    yield* raceFirst(Effect.catchAll(reading, (error) => Deferred.fail(outcome, error)), ending).pipe(
      // A failure here is in `outcome`, which is read next.
      Effect.ignore,
      Effect.onInterrupt(() =>
        Effect.flatMap(Deferred.isDone(outcome), (isOver) => isOver ? Effect.void : cancelQuestions(self))
      ),
      (racing) => options.watchSession(racing, Deferred.fail(outcome, new SessionExpired({ method })))
    )
    return yield* Deferred.await(outcome)
  })

const onEvent = (self: Self) => (event: Events.Event): Effect.Effect<void> => {
  const { id, onToken, outcome, request: { method } } = self
  return Effect.zipRight(
    Ref.update(self.point, ResumePoint.after(event)),
    event instanceof Sse.TooLarge && Answer.mayBeAnswer(event, id)
      ? Deferred.fail(outcome, Answer.tooLargeEvent(method, event))
      : Effect.flatMap(
        Ref.get(self.options.session),
        (current) => Effect.forEach(Incoming.fromEvent(current, event), onMessage(self, current), { discard: true })
      )
  ).pipe(onToken === undefined ? identity : Effect.zipRight(giveToken(self, event, onToken)))
}

const onMessage =
  (self: Self, current: HttpSession.HttpSession) => (message: Message.Incoming): Effect.Effect<unknown> =>
    Effect.flatMap(Deferred.isDone(self.outcome), (isOver) => {
      const { earlier, id, outcome, questions, request } = self
      if (isOver) return Incoming.deliver(current, [message], request.id)
      if (Answer.isMalformed(message, id)) {
        return Deferred.fail(outcome, Answer.unreadable(request.method, message.message))
      }
      if (Answer.isAnswer(message, id)) {
        return Effect.zipRight(
          self.onAnswer(earlier === undefined ? message : { ...message, id: request.id }),
          Deferred.succeed(outcome, undefined)
        )
      }
      const known = earlier === undefined ? message : translated(message, id, request.id)
      const deliver = Incoming.deliver(current, [known], request.id)
      if (Message.isMalformed(message) || !Message.isRequest(message)) return deliver
      // Only the newest questions are kept, because older questions were answered long ago.
      const remember = Ref.update(questions, (ids) => [...ids, message.id].slice(-MAX_IN_FLIGHT))
      return Effect.zipRight(remember, deliver)
    })

/** Gives a token to the application. A request that is answered needs no token. */
const giveToken = (
  { id, outcome, point }: Self,
  event: Events.Event,
  give: (token: string) => Effect.Effect<void>
): Effect.Effect<void> =>
  event instanceof Sse.TooLarge || event.id === undefined ? Effect.void : Effect.gen(function*() {
    const { lastEventId } = yield* Ref.get(point)
    if (lastEventId === undefined || (yield* Deferred.isDone(outcome))) return
    yield* Effect.catchAllCause(
      Effect.suspend(() => give(ResumptionToken.make(id, lastEventId))),
      (cause) => Effect.logWarning("onResumptionToken failed", cause)
    )
  })

/** Reads the rest of the stream when the body has ended without the answer. */
const resume = (self: Self, cutBy: TransportError | undefined): Effect.Effect<void, TransportError> =>
  Effect.flatMap(
    Deferred.isDone(self.outcome),
    (isOver) => isOver ? Effect.void : Stream.runForEach(resumed(self, cutBy), onEvent(self))
  )

/** Cancels the open questions of the server, because the server cannot cancel them on a stream that is not read any more. */
const cancelQuestions = ({ options: { connection }, questions }: Self): Effect.Effect<unknown> =>
  Effect.flatMap(Ref.get(questions), (ids) =>
    Effect.sync(() =>
      connection.fork(Effect.forEach(
        ids,
        (requestId) => connection.reader.deliver(Message.notification(Methods.cancelled.name, { requestId })),
        { discard: true }
      ))
    ))

/** Translates progress under the earlier id of the request into progress of the request that resumes it. */
const translated = (message: Message.Incoming, from: Message.RequestId, to: Message.RequestId): Message.Incoming =>
  !Message.isMalformed(message) && Message.isNotification(message) && message.method === Progress.METHOD &&
    message.params?.progressToken === from
    ? Message.notification(message.method, { ...message.params, progressToken: to })
    : message

/**
 * Reads the events after the point at which a stream was cut off. The consumer moves the point forward with each event. The stream fails
 * when it cannot be resumed, or when too many attempts brought no event.
 *
 * @param firstCut The error with which the stream was cut off; `undefined` when it ended without an error.
 */
const resumed = (
  self: Self,
  firstCut: TransportError | undefined
): Stream.Stream<Events.Event, TransportError> =>
  Stream.unwrap(Effect.gen(function*() {
    const { options: { connection, session }, point, request: { method } } = self
    const { maxResumes, reconnect } = connection.settings
    const cutBy = yield* Ref.make(firstCut)
    const pause = yield* ResumePoint.pauses(point, reconnect)

    const fail = (why: string) =>
      Effect.flatMap(Ref.get(cutBy), (cause) => Effect.fail(Answer.lost(method, why, cause)))

    /** Waits, and gives the point from which the stream is resumed. Fails with `None` after the answer. */
    const next: Effect.Effect<ResumePoint.ResumePoint, Option.Option<TransportError>> = Effect.gen(function*() {
      if (yield* Deferred.isDone(self.outcome)) return yield* Effect.fail(Option.none())
      const { attempts, lastEventId } = yield* Ref.get(point)
      const why = (yield* Ref.get(cutBy))?.message ?? "it has ended"
      const giveUp = (what: string) => Effect.mapError(fail(`${what}: ${why}`), Option.some)
      if (lastEventId === undefined) return yield* giveUp("the stream cannot be resumed")
      if (attempts >= maxResumes) return yield* giveUp(`${maxResumes} attempts to resume the stream brought nothing`)
      yield* Effect.catchAll(pause, () => giveUp("the stream was not resumed"))
      return yield* Ref.get(point)
    })

    const resume = ({ lastEventId }: ResumePoint.ResumePoint) =>
      Stream.catchAll(EventStream.open(connection, session, lastEventId), (error) =>
        error._tag === "TransportError"
          ? Stream.execute(Ref.set(cutBy, error))
          : Stream.execute(
            Effect.flatMap(
              Deferred.isDone(self.outcome),
              (isOver) => isOver ? Effect.void : fail(`the stream cannot be resumed: ${error.message}`)
            )
          ))

    return Stream.flatMap(Stream.repeatEffectOption(next), resume)
  }))
