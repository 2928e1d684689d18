/**
 * The events of one GET as a stream. `Post` resumes requests with this stream. The stream ends with the body of the response. The error of
 * a failed stream says whether another attempt makes sense: yes after a `TransportError`, no after `NoEventStream`.
 *
 * `Http` calls `listen`, which reads the standalone stream: the messages that the server sends outside of requests. When the standalone
 * stream ends, the client opens it again (`ResumePoint`), until the server no longer offers it. The conversation continues without the
 * standalone stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import * as ResponseBody from "../http/ResponseBody.js"
import * as HttpSession from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import * as ResumePoint from "./ResumePoint.js"

/** The error of a server that does not offer the stream. */
export class NoEventStream extends Data.TaggedError("NoEventStream")<{
  readonly status: number
  readonly message: string
}> {}

/**
 * The statuses after which another attempt makes sense. 409 means that the server has not noticed yet that an earlier stream of this client
 * has ended.
 */
const passing = new Set([408, 409, 425, 429])

/** Opens a stream of the session: from its beginning, or after the event `lastEventId`. */
export const open = (
  { settings, stream }: HttpConnection,
  session: Ref.Ref<HttpSession.HttpSession>,
  lastEventId: string | undefined
): Stream.Stream<Events.Event, TransportError | NoEventStream> =>
  Stream.unwrap(Effect.map(Ref.get(session), (current) =>
    stream(HttpSession.get(current, lastEventId), (response) => {
      const { request, status } = response
      if (!RefusedResponse.isOk(response)) {
        return Stream.fromEffect(Effect.flatMap(RefusedResponse.fromResponse(response), (refused) =>
          Effect.fail(
            status >= 500 || passing.has(status)
              ? RefusedResponse.toError(refused)
              : new NoEventStream({ status, message: refused.message })
          )))
      }
      if (MediaType.of(response.headers["content-type"]) === MediaType.EVENTS) {
        return Events.fromResponse(response, settings)
      }
      const message = `GET ${request.url} was answered with ${status}, without a stream of events`
      return Stream.fromEffect(
        Effect.zipRight(ResponseBody.discard(response), Effect.fail(new NoEventStream({ status, message })))
      )
    })))

/** How many milliseconds a stream must be open to count as a stream that worked, although it brought no event. */
const LONG_OPEN = 10_000

/**
 * How long the client waits before it looks for other credentials, each time that the server no longer accepts the credentials of an open
 * session.
 */
const RECHECK = "30 seconds"

/** Reads the standalone stream until the server does not offer it any more. */
export const listen = (
  connection: HttpConnection,
  session: Ref.Ref<HttpSession.HttpSession>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const point = yield* Ref.make(ResumePoint.initial)
    const pause = yield* ResumePoint.pauses(point, connection.settings.reconnect)
    let wasOpen = false

    const onEvent = (event: Events.Event) =>
      Effect.zipRight(
        Ref.update(point, ResumePoint.after(event)),
        Effect.flatMap(Ref.get(session), (current) => Incoming.deliver(current, Incoming.fromEvent(current, event)))
      )

    /** Opens the stream once and reads it. Fails when the stream cannot be opened any more. */
    const attempt = Effect.gen(function*() {
      const start = yield* Clock.currentTimeMillis
      const refused = connection.credentials?.last()
      const { lastEventId } = yield* Ref.get(point)
      const reading = Stream.runForEach(open(connection, session, lastEventId), onEvent)
      const error = yield* Effect.catchAll(reading, Effect.succeed)
      const lasted = (yield* Clock.currentTimeMillis) - start >= LONG_OPEN
      if (lasted) yield* Ref.update(point, (now) => ({ ...now, attempts: 0 }))
      // A stream that was cut off after a while was open, too.
      wasOpen ||= error === undefined || (lasted && error._tag !== "NoEventStream")
      if (error?._tag !== "NoEventStream") return
      // The server has ended the stream because its token has expired. The application may have another token later.
      const { credentials } = connection
      if (error.status === 401 && wasOpen && credentials !== undefined) {
        const count = Effect.delay(Effect.orElseSucceed(credentials.now, () => refused), RECHECK)
        return yield* Effect.asVoid(Effect.repeat(count, { until: (now) => now !== refused }))
      }
      // The server may have deleted its earlier events, and may have other events under the same ids.
      if ((yield* Ref.get(point)).lastEventId === undefined || isFinal.has(error.status)) {
        return yield* Effect.fail(error)
      }
      yield* Ref.update(point, (now) => ({ ...now, lastEventId: undefined }))
    })

    yield* Effect.ignore(Effect.forever(Effect.zipRight(attempt, pause)))
  })

const isFinal = new Set([401, 403, 405])
