/**
 * Reads the standalone stream, which brings what the server sends outside of requests. When it ends, the client opens it
 * again, as long as the server offers one; a conversation goes on without it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { Event } from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as EventStream from "./EventStream.js"
import type { HttpSession } from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import * as ResumePoint from "./ResumePoint.js"

/** A stream that was open this long has worked, even if it brought no event. In milliseconds. */
const LONG_OPEN = 10_000

/** Reads until the server offers no stream any more. */
export const run = (connection: HttpConnection, session: Ref.Ref<HttpSession>): Effect.Effect<void> =>
  Effect.gen(function*() {
    const point = yield* Ref.make(ResumePoint.initial)
    const pause = yield* ResumePoint.pauses(point, connection.settings.reconnect)

    const onEvent = (event: Event) =>
      Effect.zipRight(
        Ref.update(point, ResumePoint.after(event)),
        Effect.flatMap(Ref.get(session), (current) => Incoming.deliver(current, Incoming.fromEvent(current, event)))
      )

    /** Fails when the stream cannot be opened any more. */
    const attempt = Effect.gen(function*() {
      const start = yield* Clock.currentTimeMillis
      const { lastEventId } = yield* Ref.get(point)
      const reading = Stream.runForEach(EventStream.open(connection, session, lastEventId), onEvent)
      const error = yield* Effect.catchAll(reading, Effect.succeed)
      if ((yield* Clock.currentTimeMillis) - start >= LONG_OPEN) {
        yield* Ref.update(point, (now) => ({ ...now, attempts: 0 }))
      }
      if (error?._tag !== "NoEventStream") return
      // The server may have deleted the events of before, and have others.
      if ((yield* Ref.get(point)).lastEventId === undefined || isFinal.has(error.status)) {
        return yield* Effect.fail(error)
      }
      yield* Ref.update(point, (now) => ({ ...now, lastEventId: undefined }))
    })

    yield* Effect.ignore(Effect.forever(Effect.zipRight(attempt, pause)))
  })

const isFinal = new Set([401, 403, 405])
