/**
 * How far a stream was read, and how long to wait before reading on: what is left of a stream that was cut off.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 * @since 0.1.0
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

/**
 * How short, and how long, a server can make us wait, in milliseconds.
 *
 * @since 0.1.0
 * @category limits
 */
export const RETRY: { readonly min: number; readonly max: number } = { min: 100, max: 60_000 }

/**
 * How long an event id may be: it has to fit into a header.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_ID = 4096

const printable = /^[\x20-\x7e]+$/

/**
 * @since 0.1.0
 * @category models
 */
export class ResumePoint {
  /** What to come back with; none when there is no coming back. */
  lastEventId: string | undefined
  /** How many milliseconds the server asks to wait. */
  retry: number | undefined
  /** How many tries in a row have brought no event. */
  fruitless = 0

  /** Remembers what an event says of itself. */
  take(event: Sse.Event | Sse.TooLarge): void {
    this.fruitless = 0
    if (event instanceof Sse.TooLarge) return
    const { id, retry } = event
    if (retry !== undefined) this.retry = Math.min(Math.max(retry, RETRY.min), RETRY.max)
    // An empty one takes back those before; one that no header can hold is as good as none.
    if (id !== undefined) this.lastEventId = id.length <= MAX_ID && printable.test(id) ? id : undefined
  }

  /** Waits before each try, as a schedule says that begins anew when tries bear fruit; fails when it has ended. */
  pauses(schedule: Schedule.Schedule<unknown, unknown>): Effect.Effect<Effect.Effect<void, void>> {
    const waits = Schedule.modifyDelay(schedule, (_, delay) => {
      const asked = this.retry
      const millis = Duration.toMillis(delay)
      // MUST wait that long before reconnecting (2025-11-25 basic/transports#sending-messages-to-the-server)
      if (asked !== undefined && this.fruitless <= 1) return asked
      return Math.max(millis, asked ?? RETRY.min)
    })
    return Effect.map(Schedule.driver(waits), (driver) =>
      Effect.suspend(() => {
        const wait = Effect.mapError(Effect.asVoid(driver.next(undefined)), Option.getOrUndefined)
        return this.fruitless++ === 0 ? Effect.zipRight(driver.reset, wait) : wait
      }))
  }
}
