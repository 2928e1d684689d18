/**
 * The stream beside all requests: what the server says of its own accord. It is opened again when it ends, for as long as the
 * server offers one; a server that offers none is no worse for it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 * @since 0.1.0
 */
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { HttpSession } from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import { listen } from "./Listen.js"
import { ResumePoint } from "./ResumePoint.js"

/**
 * How many milliseconds a stream must have lived to count for something, even if it brought nothing.
 *
 * @since 0.1.0
 * @category limits
 */
export const STEADY = 10_000

/**
 * Listens until the server offers no stream any more.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (site: HttpConnection, session: HttpSession): Effect.Effect<void> =>
  Effect.suspend(() => {
    const cursor = new ResumePoint()
    const hear = (event: Sse.Event | Sse.TooLarge) => {
      cursor.take(event)
      return Incoming.deliver(
        site,
        event instanceof Sse.TooLarge
          ? [Incoming.odd(`An event has more than ${event.maxEventBytes} bytes`)]
          : Incoming.ofEvent(site, session, event)
      )
    }
    const timed = Effect.gen(function*() {
      const began = yield* Clock.currentTimeMillis
      const outcome = yield* listen(site, session, cursor, hear)
      if ((yield* Clock.currentTimeMillis) - began >= STEADY) cursor.fruitless = 0
      return outcome
    })
    const again = (pause: Effect.Effect<void, void>): Effect.Effect<void> =>
      Effect.flatMap(timed, (outcome) => {
        if (outcome._tag === "Unavailable") {
          // It may have forgotten what was said, and have more to say.
          if (cursor.lastEventId === undefined || isFinal.has(outcome.status)) return Effect.void
          cursor.lastEventId = undefined
        }
        return Effect.matchEffect(pause, { onFailure: () => Effect.void, onSuccess: () => again(pause) })
      })
    return Effect.flatMap(cursor.pauses(site.options.reconnect), again)
  })

const isFinal = new Set([401, 403, 405])
