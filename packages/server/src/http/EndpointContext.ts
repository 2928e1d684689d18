/**
 * What all modules of one endpoint share, in both eras: its options, the timer, and the runtime that its fibers run in.
 * `legacy/HttpContext` adds what only the legacy era needs.
 */
import * as Effect from "effect/Effect"
import type * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { HttpOptions } from "../HttpOptions.js"
import * as EventStream from "./EventStream.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"
import * as ResolvedOptions from "./ResolvedOptions.js"
import * as Sweeper from "./Sweeper.js"

export class EndpointContext {
  constructor(
    readonly options: ResolvedOptions.ResolvedOptions,
    readonly sweeper: Sweeper.Sweeper,
    readonly runtime: Runtime.Runtime<never>
  ) {}

  /** Begins to answer with an event stream. */
  stream(
    exchange: HttpExchange,
    onClose: (unsent: ReadonlyArray<string>) => void,
    headers?: Headers
  ): EventStream.EventStream {
    const { capacity, keepAlive, stallTimeout } = this.options
    return new EventStream.EventStream(exchange, {
      headers,
      sweeper: this.sweeper,
      keepAlive,
      stallTimeout,
      capacity,
      onClose
    })
  }
}

export const make = <R = never>(
  options: HttpOptions<R>
): Effect.Effect<EndpointContext, never, Scope.Scope | R> =>
  Effect.zipWith(
    Sweeper.make,
    Effect.runtime<R>(),
    (sweeper, runtime) =>
      // This runtime has the services that `authenticate` requires.
      new EndpointContext(ResolvedOptions.make(options), sweeper, runtime as Runtime.Runtime<never>)
  )
