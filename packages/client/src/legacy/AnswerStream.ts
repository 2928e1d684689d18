/**
 * An answer that comes on a stream of events, after the messages that the server sends before it. After the answer the
 * stream is read for a moment longer: when the server ends it, its connection can be used again.
 *
 * `Post` reads an answer with it when its response is a stream. It goes on where the stream is cut off. A token names the
 * place: a later connection reads the rest of the stream with it, as the answer to a request of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import type { LocalError, TransportError } from "@effect-mcp/jsonrpc/LocalError"
import { SessionExpired } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Progress from "@effect-mcp/jsonrpc/Progress"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import { raceFirst } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Answer from "../http/Answer.js"
import type * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as ResumptionToken from "../http/ResumptionToken.js"
import * as EventStream from "./EventStream.js"
import type { HttpSession } from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import * as ResumePoint from "./ResumePoint.js"

/** How long the server may take to end the stream after the answer. */
const END_WAIT = "1 second"

export interface Options {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession>
  /** Runs an effect, and `onExpired` when the server loses the session meanwhile. */
  readonly watchSession: <A, E>(effect: Effect.Effect<A, E>, onExpired: Effect.Effect<unknown>) => Effect.Effect<A, E>
}

export interface Reading {
  readonly request: Message.Request
  readonly onAnswer: Answer.OnAnswer
  /** Receives a token whenever the request can be resumed from a later place. */
  readonly onToken: ((token: string) => Effect.Effect<void>) | undefined
}

/** Reads the rest of a stream that a token names. The first attempt is made at once. */
export const resumeFrom = (
  options: Options,
  { token, ...reading }: Reading & { readonly token: string }
): Effect.Effect<void, LocalError> =>
  Effect.flatMap(
    ResumptionToken.parse(token),
    (place) =>
      read(options, { ...reading, place, body: EventStream.open(options.connection, options.session, place.eventId) })
  )

/** Reads the events of a body. Succeeds after the answer; fails when the answer will not come. */
export const read = (
  options: Options,
  { body, onAnswer, onToken, place, request }: Reading & {
    readonly body: Stream.Stream<Events.Event, TransportError | EventStream.NoEventStream>
    /** Where the body begins, when an earlier connection has sent the request, under an id of its own. */
    readonly place?: ResumptionToken.Place
  }
): Effect.Effect<void, LocalError> =>
  Effect.gen(function*() {
    const { connection, session, watchSession } = options
    const { method } = request
    const id = place?.requestId ?? request.id
    const outcome = yield* Deferred.make<void, LocalError>()
    const point = yield* Ref.make<ResumePoint.ResumePoint>({ ...ResumePoint.initial, lastEventId: place?.eventId })
    const oversized = yield* Ref.make<number | undefined>(undefined)
    const questions = yield* Ref.make<ReadonlyArray<Message.RequestId>>([])

    const onMessage = (current: HttpSession) => (message: Message.Incoming): Effect.Effect<unknown> =>
      Effect.flatMap(Deferred.isDone(outcome), (isOver) => {
        if (isOver) return Incoming.deliver(current, [message])
        if (Answer.isMalformed(message, id)) {
          return Deferred.fail(outcome, Answer.unreadable(method, message.message))
        }
        if (Answer.isAnswer(message, id)) {
          return Effect.zipRight(
            onAnswer(place === undefined ? message : { ...message, id: request.id }),
            Deferred.succeed(outcome, undefined)
          )
        }
        const deliver = Incoming.deliver(current, [place === undefined ? message : translated(message, id, request.id)])
        if (Message.isMalformed(message) || !Message.isRequest(message)) return deliver
        // Older questions were answered long ago.
        const remember = Ref.update(questions, (ids) => [...ids, message.id].slice(-MAX_IN_FLIGHT))
        return Effect.zipRight(remember, deliver)
      })

    const onEvent = (event: Events.Event): Effect.Effect<void> =>
      Effect.zipRight(
        Ref.update(point, ResumePoint.after(event)),
        Effect.flatMap(Ref.get(session), (current) => {
          const messages = Incoming.fromEvent(current, event)
          const handling = Effect.forEach(messages, onMessage(current), { discard: true })
          if (!(event instanceof Sse.TooLarge)) return handling
          const { maxEventBytes } = event
          if (messages.some((dropped) => Answer.isMalformed(dropped, id))) {
            return Deferred.fail(outcome, tooLarge(method, maxEventBytes))
          }
          const isUnidentified = messages.every((dropped) => Message.isMalformed(dropped) && dropped.id === undefined)
          return isUnidentified ? Effect.zipRight(Ref.set(oversized, maxEventBytes), handling) : handling
        })
      ).pipe(onToken === undefined ? identity : Effect.zipRight(giveToken(event, onToken)))

    /** A request that is answered needs no token. */
    const giveToken = (event: Events.Event, give: (token: string) => Effect.Effect<void>): Effect.Effect<void> =>
      event instanceof Sse.TooLarge || event.id === undefined ? Effect.void : Effect.gen(function*() {
        const { lastEventId } = yield* Ref.get(point)
        if (lastEventId === undefined || (yield* Deferred.isDone(outcome))) return
        yield* Effect.catchAllCause(
          Effect.suspend(() => give(ResumptionToken.make(id, lastEventId))),
          (cause) => Effect.logWarning("onResumptionToken failed", cause)
        )
      })

    const isComplete = Effect.flatMap(Deferred.isDone(outcome), (isOver) =>
      isOver ? Effect.succeed(true) : Effect.flatMap(Ref.get(oversized), (bytes) =>
        bytes === undefined
          ? Effect.succeed(false)
          // Most likely it was the answer.
          : Effect.fail(tooLarge(method, bytes))))

    /** Reads the rest, when the body has ended without the answer. */
    const resume = (cutBy: TransportError | undefined): Effect.Effect<void, TransportError> =>
      Effect.flatMap(isComplete, (isOver) =>
        isOver ? Effect.void : Stream.runForEach(resumed(options, method, point, cutBy, isComplete), onEvent))

    const reading = Effect.matchEffect(Stream.runForEach(body, onEvent), {
      onFailure: (error): Effect.Effect<void, LocalError> =>
        error._tag === "TransportError" ? resume(error) : Effect.fail(
          error.status === 404
            ? new SessionExpired({ method })
            : Answer.lost(method, `the stream cannot be resumed: ${error.message}`)
        ),
      onSuccess: () =>
        resume(undefined)
    })
    const ending = Effect.zipRight(Deferred.await(outcome), Effect.sleep(END_WAIT))

    /** The server cannot cancel its questions on a stream that is not read any more. */
    const cancelQuestions = Effect.flatMap(Ref.get(questions), (ids) =>
      Effect.sync(() =>
        connection.fork(Effect.forEach(
          ids,
          (requestId) =>
            connection.reader.deliver(Message.notification(Methods.cancelled.name, { requestId })),
          { discard: true }
        ))
      ))

    yield* raceFirst(
      Effect.catchAll(reading, (error) =>
        Deferred.fail(outcome, error)),
      ending
    ).pipe(
      // What fails here is the outcome, which is next.
      Effect.ignore,
      Effect.onInterrupt(() =>
        Effect.flatMap(Deferred.isDone(outcome), (isOver) =>
          isOver ? Effect.void : cancelQuestions)
      ),
      (racing) => watchSession(racing, Deferred.fail(outcome, new SessionExpired({ method })))
    )
    return yield* Deferred.await(outcome)
  })

const tooLarge = (method: string, bytes: number): TransportError =>
  Answer.lost(method, `an event has more than ${bytes} bytes`)

/** Progress of the request under its earlier id is progress of the request that resumes it. */
const translated = (message: Message.Incoming, from: Message.RequestId, to: Message.RequestId): Message.Incoming =>
  !Message.isMalformed(message) && Message.isNotification(message) && message.method === Progress.METHOD &&
    message.params?.progressToken === from
    ? Message.notification(message.method, { ...message.params, progressToken: to })
    : message

/**
 * The events after the point where a stream was cut off; the consumer moves the point on with each event. Fails when the stream
 * cannot be resumed, or when too many attempts brought nothing.
 *
 * @param firstCut What the stream was cut off by, if it did not end by itself.
 * @param isComplete Whether nothing more is expected; fails when resuming cannot help.
 */
const resumed = (
  { connection, session }: Options,
  method: string,
  point: Ref.Ref<ResumePoint.ResumePoint>,
  firstCut: TransportError | undefined,
  isComplete: Effect.Effect<boolean, TransportError>
): Stream.Stream<Events.Event, TransportError> =>
  Stream.unwrap(Effect.gen(function*() {
    const { maxResumes, reconnect } = connection.settings
    const cutBy = yield* Ref.make(firstCut)
    const pause = yield* ResumePoint.pauses(point, reconnect)

    const fail = (why: string) =>
      Effect.flatMap(Ref.get(cutBy), (cause) => Effect.fail(Answer.lost(method, why, cause)))

    /** Waits and gives the point to resume from; ends with the answer. */
    const next: Effect.Effect<ResumePoint.ResumePoint, Option.Option<TransportError>> = Effect.gen(function*() {
      if (yield* Effect.mapError(isComplete, Option.some)) return yield* Effect.fail(Option.none())
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
              isComplete,
              (isOver) => isOver ? Effect.void : fail(`the stream cannot be resumed: ${error.message}`)
            )
          ))

    return Stream.flatMap(Stream.repeatEffectOption(next), resume)
  }))
