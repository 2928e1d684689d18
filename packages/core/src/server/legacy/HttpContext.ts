/**
 * The values that the legacy modules of one endpoint (`Http`, `Sse`, `Stateless`) share: the `EndpointContext` of the endpoint, the
 * function that begins conversations, and the event store, if the application provides an event store. `dispatch/Endpoint` makes this
 * object.
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Sender } from "../../jsonrpc/Transport.js"
import type * as Version from "../../protocol/Version.js"
import { EventStore, type EventStoreError, type EventStoreService } from "../EventStore.js"
import { EndpointContext } from "../http/EndpointContext.js"
import * as Nodes from "../nodes/Nodes.js"
import type { Open, SessionConversation, SharedSession } from "../runtime/SessionConversation.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"

export class HttpContext extends EndpointContext {
  /** Logs an error of the event store when the store begins to fail. */
  readonly logged = StoreFailure.once<EventStoreError>("The event store")

  constructor(
    { options, runtime, sweeper }: EndpointContext,
    /** The legacy revisions of the server. */
    readonly versions: ReadonlyArray<Version.LegacyVersion>,
    private readonly begin: Open,
    readonly events: EventStoreService | undefined,
    /** The connection of this node to the other nodes of the server; `undefined` on a server with one node. */
    readonly nodes: Nodes.Nodes | undefined = undefined,
    /** Runs an effect in the background. The end of the endpoint interrupts the effect. */
    readonly inBackground: (effect: Effect.Effect<void, unknown>) => Effect.Effect<void> = () => Effect.void
  ) {
    super(options, sweeper, runtime)
  }

  /** Begins a legacy conversation. The caller passes the messages to the conversation, so no fiber reads them. */
  converse(sender: Sender, onEnd: () => void, shared?: SharedSession): SessionConversation {
    return this.begin(sender, onEnd, { versions: this.versions, shared })
  }
}

export const make = (
  context: EndpointContext,
  versions: ReadonlyArray<Version.LegacyVersion>,
  open: Open
): Effect.Effect<HttpContext, never, Scope.Scope> =>
  Effect.gen(function*() {
    const events = Option.getOrUndefined(yield* Effect.serviceOption(EventStore))
    const { sessions, ssePath } = context.options
    const hasSessions = (sessions || ssePath !== undefined) && versions.length > 0
    const nodes = hasSessions ? yield* Nodes.make(events !== undefined) : undefined
    const run = yield* FiberSet.makeRuntime<never>()
    const inBackground = (effect: Effect.Effect<void, unknown>) =>
      Effect.sync(() => void run(Effect.interruptible(effect)))
    return new HttpContext(context, versions, open, events, nodes, inBackground)
  })
