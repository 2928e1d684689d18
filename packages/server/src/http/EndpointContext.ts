/**
 * What all modules of one endpoint share, in both eras: its options, the timer, and the runtime that its fibers run in.
 * `legacy/HttpContext` adds what only the legacy era needs.
 */
import * as Effect from "effect/Effect"
import type * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { HttpOptions } from "../HttpOptions.js"
import * as EventStream from "./EventStream.js"
import type { Headers, HttpExchange, SlowReaders } from "./HttpExchange.js"
import * as ResolvedOptions from "./ResolvedOptions.js"
import * as Sweeper from "./Sweeper.js"
import { Unsent } from "./Unsent.js"

export class EndpointContext implements SlowReaders {
  private readonly unsent: Unsent

  constructor(
    readonly options: ResolvedOptions.ResolvedOptions,
    readonly sweeper: Sweeper.Sweeper,
    readonly runtime: Runtime.Runtime<never>
  ) {
    this.unsent = new Unsent(options.maxUnsent)
  }

  /** Begins to answer with an event stream. */
  stream(
    exchange: HttpExchange,
    onClose: (unsent: ReadonlyArray<string>) => void,
    headers?: Headers
  ): EventStream.EventStream {
    return new EventStream.EventStream(exchange, {
      ...this.limits(),
      headers: headers === undefined ? EventStream.HEADERS : { ...EventStream.HEADERS, ...headers },
      keepAlive: this.options.keepAlive,
      onClose
    })
  }

  sendLong(exchange: HttpExchange, status: number, headers: Headers, body: string): void {
    const stream = new EventStream.EventStream(exchange, {
      ...this.limits(),
      status,
      headers,
      keepAlive: Infinity,
      onClose: () => {}
    })
    stream.push(body)
    stream.end()
  }

  watch(cut: () => void): () => void {
    const scheduled = this.sweeper.schedule(this.options.stallTimeout, cut)
    return () => this.sweeper.unwatch(scheduled)
  }

  /** How many characters wait for clients. */
  get unsentSize(): number {
    return this.unsent.size
  }

  private limits() {
    const { capacity, maxQueued, stallTimeout } = this.options
    return { sweeper: this.sweeper, unsent: this.unsent, capacity, maxQueued, stallTimeout }
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
