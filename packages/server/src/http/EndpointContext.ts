/**
 * What the rooms of one endpoint have in common: whom they feed, what was decided about them, and the one fiber that looks
 * after time. Made once for each endpoint.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Dispatcher from "../Dispatcher.js"
import * as EventStore from "../EventStore.js"
import * as HttpOptions from "../HttpOptions.js"
import * as EventStream from "./EventStream.js"
import type { Headers, HttpExchange } from "./HttpExchange.js"
import * as Sweeper from "./Sweeper.js"

/**
 * @since 0.1.0
 * @category models
 */
export class EndpointContext {
  constructor(
    readonly options: HttpOptions.Resolved,
    readonly dispatcher: Dispatcher.DispatcherService,
    readonly sweeper: Sweeper.Sweeper,
    readonly events: EventStore.EventStoreService | undefined,
    readonly runtime: Runtime.Runtime<never>
  ) {}

  /** Begins to answer with a stream of events. */
  stream(
    exchange: HttpExchange,
    onOver: (unwritten: ReadonlyArray<string>) => void,
    headers?: Headers
  ): EventStream.EventStream {
    const { capacity, keepAlive, stallTimeout } = this.options
    return new EventStream.EventStream(exchange, {
      headers,
      sweeper: this.sweeper,
      keepAlive,
      stallTimeout,
      capacity,
      onOver
    })
  }
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(
  options: HttpOptions.HttpOptions<R>
): Effect.Effect<EndpointContext, never, Dispatcher.Dispatcher | Scope.Scope | R> =>
  Effect.gen(function*() {
    return new EndpointContext(
      HttpOptions.resolve(options),
      yield* Dispatcher.Dispatcher,
      yield* Sweeper.make,
      Option.getOrUndefined(yield* Effect.serviceOption(EventStore.EventStore)),
      // With whatever the application's own functions need.
      (yield* Effect.runtime<R>()) as Runtime.Runtime<never>
    )
  })
