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
import * as Serve from "../legacy/Serve.js"
import * as StatelessConversation from "../legacy/StatelessConversation.js"
import * as Subscriptions from "../legacy/Subscriptions.js"
import type { RegistryService } from "../Registry.js"
import * as Changes from "../runtime/Changes.js"
import type { Server } from "../runtime/Server.js"
import type { ReadConversation } from "./Conversations.js"
import * as Conversations from "./Conversations.js"

/** Dies when the server can serve none of its revisions. */
export const make = (
  server: Server,
  registry: RegistryService,
  options: Options
): Effect.Effect<DispatcherService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const versions = server.versions.filter(Version.isLegacy)
    if (versions.length === 0) {
      return yield* Effect.dieMessage(
        `This server can serve none of its versions (${server.versions.join(", ")}); it can serve ${
          Version.legacy.join(", ")
        }`
      )
    }
    const serving = Serve.make(server)
    const conversations = yield* Conversations.make({ session: server.session, versions }, serving, options)
    const exchange = yield* StatelessConversation.make(serving, options)
    yield* Changes.announce(registry, (kind) =>
      conversations.forEach((connection) => LegacyChanges.announce(connection, kind)))
    yield* registry.onUpdate((uri) =>
      conversations.forEach((connection) => Subscriptions.updated(connection, uri))
    )

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
        if (Version.isLegacy(version)) return exchange(incoming, channel, version)
        if (!Message.isMalformed(incoming) && Message.isRequest(incoming)) {
          const error = new McpError.UnsupportedVersion({ requested: version, supported: versions })
          channel.unsafeSend(Message.failure(incoming.id, McpError.toWire(error, "legacy")))
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
