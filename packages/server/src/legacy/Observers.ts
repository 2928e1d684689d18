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
import type { RequestChannel } from "../runtime/Asker.js"
import type { Era } from "../runtime/Session.js"
import { Session } from "../runtime/Session.js"
import type { ServerSessionService } from "../ServerSession.js"
import type { Connection, LegacySession } from "./Connection.js"

/** The session of a client outside of its requests. */
export const session = (
  connection: Connection,
  era: Era<Connection>,
  notification: Notification,
  channel: Channel = none
): LegacySession => new Session(connection, notification, outbound(connection, channel), era)

/** Sends outside of any request. */
export const outbound = ({ outbound: { notify, request } }: Connection, channel: Channel): RequestChannel => ({
  request,
  notify,
  channel
})

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
export const logLevel = (
  observers: ReadonlySet<ClientObserver>,
  connection: Connection,
  era: Era<Connection>
): Effect.Effect<void> =>
  observers.size === 0
    ? Effect.void
    : run(observers, "onLogLevel", session(connection, era, Message.notification(Methods.setLevel.name)))

const run = (observers: ReadonlySet<ClientObserver>, key: keyof ClientObserver, session: ServerSessionService) =>
  Effect.forEach([...observers], (observer) => observer[key]?.(session) ?? Effect.void, { discard: true })
