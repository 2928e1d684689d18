/**
 * What the legacy modules of one endpoint share: the neutral context, the dispatcher that serves their messages, and the
 * event store, if the application provides one.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DispatcherService } from "../Dispatcher.js"
import { Dispatcher } from "../Dispatcher.js"
import type { EventStoreService } from "../EventStore.js"
import { EventStore } from "../EventStore.js"
import { EndpointContext } from "../http/EndpointContext.js"

export class HttpContext extends EndpointContext {
  constructor(
    { options, runtime, sweeper }: EndpointContext,
    readonly dispatcher: DispatcherService,
    readonly events: EventStoreService | undefined
  ) {
    super(options, sweeper, runtime)
  }
}

export const make = (context: EndpointContext): Effect.Effect<HttpContext, never, Dispatcher> =>
  Effect.zipWith(
    Dispatcher,
    Effect.serviceOption(EventStore),
    (dispatcher, events) => new HttpContext(context, dispatcher, Option.getOrUndefined(events))
  )
