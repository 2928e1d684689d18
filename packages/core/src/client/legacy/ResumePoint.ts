/**
 * The point at which a stream of events can be resumed, for `Post` and `EventStream`. It consists of the id of the last event, the wait
 * that the server asks for, and the number of attempts that brought no event. Every event changes the point. `pauses` makes the waits
 * between attempts, from the point and a schedule.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Sse from "../../jsonrpc/Sse.js"
import type { Event } from "../http/Events.js"

/** The shortest and the longest wait that a server can ask for, in milliseconds. */
const RETRY = { min: 100, max: 60_000 }

/** How many characters an event id may have, because it must fit into a header. */
const MAX_ID = 4096

const printable = /^[\x20-\x7e]+$/

export interface ResumePoint {
  /** The id of the event after which the stream can be resumed; `undefined` when the stream cannot be resumed. */
  readonly lastEventId: string | undefined
  /** How many milliseconds the server asks to wait; `undefined` when it does not ask. */
  readonly retry: number | undefined
  /** How many attempts in a row brought no event. */
  readonly attempts: number
}

export const initial: ResumePoint = { lastEventId: undefined, retry: undefined, attempts: 0 }

/** Returns the point after an event. */
export const after = (event: Event) => (point: ResumePoint): ResumePoint => {
  if (event instanceof Sse.TooLarge) return { ...point, attempts: 0 }
  const { id, retry } = event
  return {
    // An empty id deletes the earlier id. An id that does not fit into a header counts as no id.
    lastEventId: id === undefined ? point.lastEventId : id.length <= MAX_ID && printable.test(id) ? id : undefined,
    retry: retry === undefined ? point.retry : Math.min(Math.max(retry, RETRY.min), RETRY.max),
    attempts: 0
  }
}

/**
 * Makes an effect that waits before an attempt and counts the attempt. The waits follow the schedule, which starts again after each event.
 * The effect fails when the schedule has ended.
 */
export const pauses = (
  point: Ref.Ref<ResumePoint>,
  schedule: Schedule.Schedule<unknown, unknown>
): Effect.Effect<Effect.Effect<void, void>> => {
  const waits = Schedule.modifyDelayEffect(schedule, (_, delay) =>
    Effect.map(Ref.get(point), ({ attempts, retry }) => {
      // The client MUST wait that long before it reconnects (2025-11-25 basic/transports#sending-messages-to-the-server).
      if (retry !== undefined && attempts <= 1) return Duration.millis(retry)
      return Duration.max(delay, Duration.millis(retry ?? RETRY.min))
    }))
  return Effect.map(Schedule.driver(waits), (driver) => {
    const wait = Effect.mapError(Effect.asVoid(driver.next(undefined)), Option.getOrUndefined)
    return Effect.flatMap(
      Ref.getAndUpdate(point, (now) => ({ ...now, attempts: now.attempts + 1 })),
      ({ attempts }) => attempts === 0 ? Effect.zipRight(driver.reset, wait) : wait
    )
  })
}
