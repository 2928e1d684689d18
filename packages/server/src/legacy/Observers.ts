/**
 * Lets features observe the clients of sessions: their handshake, their roots, their log level. What an observer gets belongs
 * to no request, so it reaches the client as long as the client is connected.
 */
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Effect from "effect/Effect"
import type { ClientObserver } from "../Registry.js"
import type { Server } from "../runtime/Server.js"
import type { ServerSessionService } from "../ServerSession.js"
import type { Connection } from "./Connection.js"
import { LegacyServerSession } from "./ServerSession.js"

/** The session of a client outside of its requests. */
export const session = (
  connection: Connection,
  server: ConstructorParameters<typeof LegacyServerSession>[3],
  notification: Notification,
  channel: Channel = none
): LegacyServerSession => {
  const { notify, request } = connection.outbound
  return new LegacyServerSession(connection, notification, { request, notify, channel }, server)
}

// A session that no message began has no HTTP request either.
const none: Channel = { unsafeSend: () => false, send: () => Effect.void }

/** What observers do when this notification arrives; `undefined` when none observes it. */
export const ofNotification = (
  observers: ReadonlySet<ClientObserver>,
  method: string
): ((session: ServerSessionService) => Effect.Effect<void>) | undefined => {
  const key = observers.size === 0 ? undefined : events.get(method)
  return key === undefined ? undefined : (session) => run(observers, key, session)
}

const events: ReadonlyMap<string, keyof ClientObserver> = new Map([
  [Methods.initialized.name, "onInitialized"],
  [Methods.rootsListChanged.name, "onRootsChanged"]
])

/** The client of a connection has set its log level. */
export const logLevel = (server: Server, connection: Connection): Effect.Effect<void> =>
  server.observers.size === 0
    ? Effect.void
    : run(server.observers, "onLogLevel", session(connection, server, Message.notification(Methods.setLevel.name)))

const run = (observers: ReadonlySet<ClientObserver>, key: keyof ClientObserver, session: ServerSessionService) =>
  Effect.forEach([...observers], (observer) => observer[key]?.(session) ?? Effect.void, { discard: true })
