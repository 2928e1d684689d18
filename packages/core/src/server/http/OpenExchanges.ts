/**
 * Stores the open HTTP requests of a handler on an HTTP server that the application has started, for `WebHandler` and for `NodeHandler` of
 * the node package. Examples of such servers are Express, Fastify, and platforms that call a function from `Request` to `Response`. When
 * the handler closes, this module ends the open requests, and waits until the clients have read the answers. After the deadline, this
 * module cuts off the remaining answers.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { HttpExchange } from "./HttpExchange.js"
import * as Refusal from "./Refusal.js"

export interface Open extends HttpExchange {
  /** Whether the endpoint still waits for a part of the request's body. */
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
  /** Gives the exchange to the endpoint, which answers it. */
  readonly handle: (exchange: A) => void
  /** Call this function when the client has read the answer, or has disconnected. */
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
    // Refuses the requests whose body is not complete. No handler runs for these requests yet.
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
