/**
 * Makes the `Dispatcher` of a server: conversations for transports, the requests without a session, and
 * the notifications of changes to all of them.
 */
import { MAX_IN_FLIGHT, MAX_WAITING, MAX_WAITING_TEXT } from "@effect-mcp/jsonrpc/Conversation"
import type { Listener, Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Requests from "@effect-mcp/jsonrpc/unstable/Requests"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Caller } from "../Authenticator.js"
import type { Change } from "../ChangeBus.js"
import type { DispatcherService, Options } from "../Dispatcher.js"
import type { Connection } from "../legacy/Connection.js"
import * as LegacyServe from "../legacy/Serve.js"
import * as Subscriptions from "../legacy/Subscriptions.js"
import * as ModernServe from "../modern/Serve.js"
import type { Subscriptions as ModernSubscriptions } from "../modern/Subscriptions.js"
import * as NodeChanges from "../nodes/NodeChanges.js"
import type { Kind, RegistryService } from "../Registry.js"
import type { Open } from "../runtime/FedConversation.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { Server } from "../runtime/Server.js"
import * as Defects from "../telemetry/Defects.js"
import * as Metrics from "../telemetry/Metrics.js"
import type { ReadConversation } from "./Conversations.js"
import * as Conversations from "./Conversations.js"
import * as EraOfMessage from "./EraOfMessage.js"
import * as SingleMessage from "./SingleMessage.js"

/** The default limit of the requests in flight that belong to no conversation, of all clients together. */
export const MAX_EXCHANGES = 4096

/** What HTTP endpoints use of a dispatcher. `make` makes every dispatcher. */
export interface Entrances extends DispatcherService, Pick<Server, "authenticate" | "documents" | "requiredScopes"> {
  readonly open: Open
  /** Runs the requests that belong to no conversation. Their limits hold for the clients of all endpoints together. */
  readonly requests: Requests.Requests
  readonly legacy: LegacyServe.LegacyServe | undefined
  readonly modern: ModernServe.ModernServe | undefined
}

export const make = (
  server: Server,
  registry: RegistryService,
  options: Options
): Effect.Effect<Entrances, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { versions } = server
    const scope = yield* Effect.scope
    const legacy = versions.some(Version.isLegacy) ? LegacyServe.make(server) : undefined
    const modern = versions.some(Version.isModern) ? ModernServe.make(server) : undefined
    if (modern !== undefined) yield* Metrics.subscriptions.observe(() => modern.subscriptions.size)
    const conversations = yield* Conversations.make(
      server,
      (connection, only = versions) =>
        EraOfMessage.side(
          { legacy, modern: only.some(Version.isModern) ? modern : undefined } as EraOfMessage.Eras,
          connection,
          only
        ),
      options
    )
    const requests = yield* Requests.make({
      limits: {
        running: options.maxExchanges ?? MAX_EXCHANGES,
        waiting: options.maxWaiting ?? MAX_WAITING,
        text: options.maxWaitingText ?? MAX_WAITING_TEXT
      },
      perClient: {
        limit: options.maxInFlight ?? MAX_IN_FLIGHT,
        clientOf: RequestOrigin.principalOf
      },
      closeTimeout: options.closeTimeout ?? "5 seconds",
      report: Defects.report(options)
    })
    yield* Metrics.requests.observe(() => requests.size)
    const changed = yield* NodeChanges.deliver(registry, deliverTo(conversations, modern?.subscriptions, registry))
    if (modern !== undefined) {
      modern.subscriptions.deliver = (kind, principal) => changed({ _tag: "List", kind, principal })
    }

    const listeners = new Listeners(conversations)
    return {
      accept: (transport, caller) =>
        Effect.suspend(() => {
          const { close, ended } = conversations.read(transport, caller)
          return Effect.onInterrupt(ended, () => close)
        }),
      listen: (listener, caller) => listeners.listen(listener, caller),
      serve: SingleMessage.make(server, legacy, modern, requests, scope),
      authenticate: server.authenticate,
      documents: server.documents,
      requiredScopes: server.requiredScopes,
      open: conversations.feed,
      requests,
      legacy,
      modern,
      versions,
      listening: Effect.acquireRelease(listeners.begin, () => listeners.end),
      listeners: () => listeners.size,
      listenersEnded: listeners.ended,
      conversations: () => conversations.size
    }
  })

/** Delivers a change to the clients of this node. */
const deliverTo = (
  conversations: Conversations.Conversations,
  subscriptions: ModernSubscriptions | undefined,
  registry: RegistryService
): (change: Change) => Effect.Effect<void> => {
  const announce = (kind: Kind) =>
    Effect.zipRight(
      conversations.forEach((connection) => announceTo(connection, kind)),
      subscriptions?.announce(kind) ?? Effect.void
    )
  return (change) => {
    switch (change._tag) {
      case "List":
        return change.principal === undefined
          ? announce(change.kind)
          : subscriptions?.announceTo(change.principal, change.kind) ?? Effect.void
      case "Resource":
        return Effect.zipRight(
          conversations.forEach((connection) => Subscriptions.updated(connection, change.uri)),
          subscriptions?.updated(change.uri) ?? Effect.void
        )
      case "Extension":
        return subscriptions?.extended(change.notification) ?? Effect.void
      case "Unknown":
        return Effect.all([
          Effect.forEach(kinds.filter(registry.offers), announce, { discard: true }),
          conversations.forEach(Subscriptions.allUpdated),
          subscriptions?.allUpdated ?? Effect.void
        ], { discard: true })
    }
  }
}

/** The listeners of a dispatcher. Its mutable field counts them. */
class Listeners {
  size = 0
  private readonly unused = Edition.latch(true)
  /** Waits until there is no listener. */
  readonly ended = this.unused.await
  readonly begin = Effect.sync(() => {
    this.size++
    Edition.close(this.unused)
  })
  readonly end = Effect.sync(() => {
    if (--this.size === 0) Edition.open(this.unused)
  })

  constructor(private readonly conversations: Conversations.Conversations) {}

  listen<E, R>(listener: Listener<E, R>, caller?: (transport: Transport) => Caller): Effect.Effect<void, E, R> {
    return Effect.acquireUseRelease(
      Effect.map(this.begin, () => new Set<ReadConversation>()),
      (clients) =>
        Effect.zipRight(
          Stream.runForEach(listener, (transport) =>
            Effect.sync(() => {
              const client = this.conversations.read(transport, caller?.(transport))
              clients.add(client)
              client.onEnd(() => clients.delete(client))
            })),
          Effect.suspend(() => Effect.forEach([...clients], ({ ended }) => ended, { discard: true }))
        ),
      (clients) =>
        Effect.ensuring(
          Effect.forEach([...clients], ({ close }) => close, { concurrency: "unbounded", discard: true }),
          this.end
        )
    )
  }
}

const kinds: ReadonlyArray<Kind> = ["tools", "resources", "prompts"]

/** Notifies a legacy client, outside of any request. It receives the notification if its server advertised `listChanged`. */
const announceTo = (connection: Connection, kind: Kind): Effect.Effect<void> => connection.announce(notifications[kind])

const notifications = {
  tools: Methods.toolListChanged,
  resources: Methods.resourceListChanged,
  prompts: Methods.promptListChanged
} as const
