/**
 * What the legacy modules of one endpoint share: the neutral context, the dispatcher that serves their messages, and the
 * event store, if the application provides one.
 */
import type { FedTransport } from "@effect-mcp/jsonrpc/unstable/Feed"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { DispatcherService, FedConversation } from "../Dispatcher.js"
import { Dispatcher } from "../Dispatcher.js"
import type { EventStoreService } from "../EventStore.js"
import { EventStore } from "../EventStore.js"
import { EndpointContext } from "../http/EndpointContext.js"

export class HttpContext extends EndpointContext {
  /** The legacy revisions of the server. */
  private readonly versions: ReadonlyArray<Version.Version>

  constructor(
    { options, runtime, sweeper }: EndpointContext,
    readonly dispatcher: DispatcherService,
    readonly events: EventStoreService | undefined
  ) {
    super(options, sweeper, runtime)
    this.versions = dispatcher.versions.filter(Version.isLegacy)
  }

  /** Begins the legacy conversation of a transport. The transport's feed passes it the messages, so no fiber reads them. */
  converse(transport: FedTransport, onEnd: () => void): FedConversation {
    const conversation = this.dispatcher.open(transport, onEnd, { versions: this.versions })
    transport.feed.receiveWith(conversation.receive)
    return conversation
  }
}

export const make = (context: EndpointContext): Effect.Effect<HttpContext, never, Dispatcher> =>
  Effect.zipWith(
    Dispatcher,
    Effect.serviceOption(EventStore),
    (dispatcher, events) => new HttpContext(context, dispatcher, Option.getOrUndefined(events))
  )
