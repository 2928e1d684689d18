/**
 * Counts the HTTP requests that a handler is answering on sockets of an HTTP server which is not ours: Express, Fastify, a function from
 * `Request` to `Response`. When the handler closes, the requests end, clients take what they are still reading, and what is not taken
 * before the deadline is cut. `WebHandler`, and `NodeHandler` of the node package, each have such a counter.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { HttpExchange } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

export interface Open extends HttpExchange {
  /** Whether the endpoint waits for the rest of the request. */
  readonly isReading: boolean
  /** Disconnects the client. */
  readonly cut: () => void
}

interface Endpoint {
  readonly handle: (exchange: HttpExchange) => void
  readonly drain: Effect.Effect<void>
  readonly close: Effect.Effect<void>
}

export interface OpenExchanges<A extends Open> {
  /** The endpoint answers the exchange. */
  readonly handle: (exchange: A) => void
  /** The client has taken the answer, or has disconnected. */
  readonly remove: (exchange: A) => void
}

export const make = <A extends Open>(
  endpoint: Endpoint,
  closeTimeout: Duration.DurationInput = TimeLimit.CLOSE
): Effect.Effect<OpenExchanges<A>, never, Scope.Scope> => {
  const open = new Set<A>()
  let onEmpty = () => {}
  const emptied = Effect.async<void>((resume) => {
    onEmpty = () => resume(Effect.void)
    if (open.size === 0) onEmpty()
  })
  const close = Effect.timed(endpoint.close).pipe(
    // Nothing runs for a request before all of it has come.
    Effect.tap(() => Effect.sync(() => open.forEach((one) => one.isReading && Refusal.send(one, Refusal.closing)))),
    Effect.flatMap(([elapsed]) => TimeLimit.end(emptied, Duration.subtract(closeTimeout, elapsed))),
    Effect.zipRight(Effect.sync(() =>
      open.forEach((one) => {
        Refusal.send(one, Refusal.closing)
        one.cut()
      })
    ))
  )
  return Effect.as(Effect.addFinalizer(() => Effect.zipRight(endpoint.drain, close)), {
    handle: (exchange) => {
      open.add(exchange)
      endpoint.handle(exchange)
    },
    remove: (exchange) => {
      open.delete(exchange)
      if (open.size === 0) onEmpty()
    }
  })
}
