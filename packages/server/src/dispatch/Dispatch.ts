/**
 * Makes the `Dispatcher` of a server: conversations for transports, single exchanges for requests without a session, and
 * the notifications of changes to all of them.
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Listener } from "@effect-mcp/jsonrpc/Transport"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DispatcherService, Options } from "../Dispatcher.js"
import * as LegacyChanges from "../legacy/Changes.js"
import * as LegacyServe from "../legacy/Serve.js"
import * as StatelessConversation from "../legacy/StatelessConversation.js"
import * as Subscriptions from "../legacy/Subscriptions.js"
import * as ModernServe from "../modern/Serve.js"
import type { RegistryService } from "../Registry.js"
import * as Changes from "../runtime/Changes.js"
import * as Exchanges from "../runtime/Exchanges.js"
import type { Server } from "../runtime/Server.js"
import type { ReadConversation } from "./Conversations.js"
import * as Conversations from "./Conversations.js"
import * as EraOfConversation from "./EraOfConversation.js"

export const make = (
  server: Server,
  registry: RegistryService,
  options: Options
): Effect.Effect<DispatcherService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { versions } = server
    const legacy = versions.some(Version.isLegacy) ? LegacyServe.make(server) : undefined
    const modern = versions.some(Version.isModern) ? ModernServe.make(server) : undefined
    const conversations = yield* Conversations.make(
      server,
      (connection, only = versions) =>
        EraOfConversation.side(
          { legacy, modern: only.some(Version.isModern) ? modern : undefined } as EraOfConversation.Eras,
          connection,
          only
        ),
      options
    )
    const legacyExchange = legacy === undefined ? undefined : yield* StatelessConversation.make(legacy, options)
    const modernExchange = modern === undefined ? undefined : yield* Exchanges.make(
      { onRequest: modern.request, onNotification: modern.notification, hasOwnLimit: modern.hasOwnLimit },
      options
    )
    yield* Changes.announce(registry, (kind) =>
      Effect.zipRight(
        conversations.forEach((connection) => LegacyChanges.announce(connection, kind)),
        modern?.subscriptions.announce(kind) ?? Effect.void
      ))
    yield* registry.onUpdate((uri) =>
      Effect.zipRight(
        conversations.forEach((connection) => Subscriptions.updated(connection, uri)),
        modern?.subscriptions.updated(uri) ?? Effect.void
      )
    )

    if (modern !== undefined) yield* registry.onNotify((notification) => modern.subscriptions.extended(notification))

    let listeners = 0
    const unused = Effect.unsafeMakeLatch(true)
    const begin = Effect.sync(() => {
      listeners++
      unused.unsafeClose()
    })
    const end = Effect.sync(() => {
      if (--listeners === 0) unused.unsafeOpen()
    })
    const listen = <E, R>(listener: Listener<E, R>): Effect.Effect<void, E, R> =>
      Effect.acquireUseRelease(
        Effect.map(begin, () => new Set<ReadConversation>()),
        (clients) =>
          Effect.zipRight(
            Stream.runForEach(listener, (transport) =>
              Effect.sync(() => {
                const client = conversations.read(transport)
                clients.add(client)
                client.onEnd(() => clients.delete(client))
              })),
            Effect.suspend(() => Effect.forEach([...clients], ({ ended }) => ended, { discard: true }))
          ),
        (clients) =>
          Effect.ensuring(
            Effect.forEach([...clients], ({ close }) => close, { concurrency: "unbounded", discard: true }),
            end
          )
      )

    return {
      accept: (transport) =>
        Effect.suspend(() => {
          const { close, ended } = conversations.read(transport)
          return Effect.onInterrupt(ended, () => close)
        }),
      listen,
      open: conversations.feed,
      exchange: (incoming, channel, version) => {
        if (Version.isLegacy(version) && legacyExchange !== undefined) return legacyExchange(incoming, channel, version)
        if (Version.isModern(version) && modernExchange !== undefined) {
          return modernExchange(incoming, channel)
        }
        if (!Message.isMalformed(incoming) && Message.isRequest(incoming)) {
          const error = new McpError.UnsupportedVersion({ requested: version, supported: versions })
          channel.unsafeSend(
            Message.failure(incoming.id, McpError.toWire(error, Version.isLegacy(version) ? "legacy" : "modern"))
          )
        }
        return () => {}
      },
      versions,
      listening: Effect.acquireRelease(begin, () => end),
      listeners: () => listeners,
      listenersEnded: unused.await,
      conversations: conversations.size
    }
  })
