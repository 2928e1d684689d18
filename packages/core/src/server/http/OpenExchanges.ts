/**
 * Keeps the HTTP requests that a handler is answering on an HTTP server which this library did not start: Express, Fastify, or a platform
 * that calls a function from `Request` to `Response`. When the HTTP handler closes, this module has the open requests end, and waits until
 * the clients have read the answers. After the deadline this module cuts off the answers that are left. `WebHandler`, and `NodeHandler` of
 * the node package, each use this module.
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
  /** Has the endpoint answer the exchange. */
  readonly handle: (exchange: A) => void
  /** Call it when the client has taken the answer, or has disconnected. */
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
    // No handler runs for a request before all of its body has come.
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
