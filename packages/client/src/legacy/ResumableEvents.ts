/**
 * A stream of events that goes on where it was cut off. It starts with the body of a response; each time that a body ends
 * too early, it waits and resumes after the last event with a GET. It never sends the request of the response again.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { Event } from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as Answer from "./Answer.js"
import * as EventStream from "./EventStream.js"
import type { HttpSession } from "./HttpSession.js"
import type { ResumePoint } from "./ResumePoint.js"
import * as ResumePoints from "./ResumePoint.js"

export interface Options {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession>
  /** The method of the request that the stream answers, for errors. */
  readonly method: string
  /** Whether nothing more is expected, asked when a body has ended; fails when resuming cannot help. */
  readonly isComplete: Effect.Effect<boolean, TransportError>
}

/** The events of `first` and of the streams that go on from it. */
export const make = (
  first: Stream.Stream<Event, TransportError>,
  { connection, isComplete, method, session }: Options
): Stream.Stream<Event, TransportError> => {
  const { maxResumes, reconnect } = connection.settings

  return Stream.unwrap(Effect.gen(function*() {
    const point = yield* Ref.make(ResumePoints.initial)
    const cutBy = yield* Ref.make<TransportError | undefined>(undefined)

    const fail = (why: string) =>
      Effect.flatMap(Ref.get(cutBy), (cause) => Effect.fail(Answer.lost(method, why, cause)))

    /** Waits and gives the point to resume from; ends with the answer. */
    const next = (pause: Effect.Effect<void, void>): Effect.Effect<ResumePoint, Option.Option<TransportError>> =>
      Effect.gen(function*() {
        if (yield* Effect.mapError(isComplete, Option.some)) return yield* Effect.fail(Option.none())
        const { attempts, lastEventId } = yield* Ref.get(point)
        const why = (yield* Ref.get(cutBy))?.message ?? "it has ended"
        const giveUp = (what: string) => Effect.mapError(fail(`${what}: ${why}`), Option.some)
        if (lastEventId === undefined) return yield* giveUp("the stream cannot be resumed")
        if (attempts >= maxResumes) return yield* giveUp(`${maxResumes} attempts to resume the stream brought nothing`)
        yield* Effect.catchAll(pause, () => giveUp("the stream was not resumed"))
        return yield* Ref.get(point)
      })

    const resume = ({ lastEventId }: ResumePoint) =>
      Stream.catchAll(EventStream.open(connection, session, lastEventId), (error) =>
        error._tag === "TransportError"
          ? Stream.execute(Ref.set(cutBy, error))
          : Stream.execute(Effect.flatMap(isComplete, (isOver) =>
            isOver ? Effect.void : fail(`the stream cannot be resumed: ${error.message}`))))

    const resumed = Stream.unwrap(Effect.map(
      ResumePoints.pauses(point, reconnect),
      (pause) => Stream.flatMap(Stream.repeatEffectOption(next(pause)), resume)
    ))
    return Stream.catchAll(first, (error) => Stream.execute(Ref.set(cutBy, error))).pipe(
      Stream.concat(resumed),
      Stream.tap((event) => Ref.update(point, ResumePoints.after(event)))
    )
  }))
}
