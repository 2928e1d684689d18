/**
 * The rest of a stream of events that was cut off: it waits and resumes after the last event with a GET, again and again
 * until the answer has come. It never sends the request of the stream again.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Answer from "../http/Answer.js"
import type { Event } from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as EventStream from "./EventStream.js"
import type { HttpSession } from "./HttpSession.js"
import type { ResumePoint } from "./ResumePoint.js"
import * as ResumePoints from "./ResumePoint.js"

export interface Options {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession>
  /** The method of the request that the stream answers, for errors. */
  readonly method: string
  /** Where the stream was cut off; the consumer moves it on with each event. */
  readonly point: Ref.Ref<ResumePoint>
  /** What the stream was cut off by, if it did not end by itself. */
  readonly cutBy: TransportError | undefined
  /** Whether nothing more is expected; fails when resuming cannot help. */
  readonly isComplete: Effect.Effect<boolean, TransportError>
}

/** Fails when the stream cannot be resumed, or when too many attempts brought nothing. */
export const make = (options: Options): Stream.Stream<Event, TransportError> =>
  Stream.unwrap(Effect.gen(function*() {
    const { connection, isComplete, method, point, session } = options
    const { maxResumes, reconnect } = connection.settings
    const cutBy = yield* Ref.make(options.cutBy)
    const pause = yield* ResumePoints.pauses(point, reconnect)

    const fail = (why: string) =>
      Effect.flatMap(Ref.get(cutBy), (cause) => Effect.fail(Answer.lost(method, why, cause)))

    /** Waits and gives the point to resume from; ends with the answer. */
    const next: Effect.Effect<ResumePoint, Option.Option<TransportError>> = Effect.gen(function*() {
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
          : Stream.execute(
            Effect.flatMap(
              isComplete,
              (isOver) => isOver ? Effect.void : fail(`the stream cannot be resumed: ${error.message}`)
            )
          ))

    return Stream.flatMap(Stream.repeatEffectOption(next), resume)
  }))
