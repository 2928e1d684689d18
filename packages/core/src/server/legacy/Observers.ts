/**
 * Runs the observers of a legacy client that features have registered, for `ServerSide` and `Era`. Observers learn that the client has
 * completed its handshake, has changed its roots, or has set its log level. This module makes the context that an observer gets, and
 * decides when observers run.
 */
import * as Effect from "effect/Effect"
import type { Notification } from "../../jsonrpc/Message.js"
import type { Channel } from "../../jsonrpc/Side.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import type { ClientObserver } from "../Registry.js"
import type { RequestChannel } from "../runtime/Asker.js"
import { HandlerContext, type Speech } from "../runtime/HandlerContext.js"
import type { ServerSessionService } from "../ServerSession.js"
import type { Connection } from "./Connection.js"

/**
 * The context of an observer, outside of the client's requests. What the observer sends reaches the client as long as the client is
 * connected.
 */
export const contextOf = (
  connection: Connection,
  speech: Speech<Connection>,
  notification: Notification,
  channel: Channel = noChannel
): HandlerContext<Connection> => new HandlerContext(connection, notification, outboundOf(connection, channel), speech)

/** Sends to the client outside of any request. */
export const outboundOf = ({ outbound: { notify, request } }: Connection, channel: Channel): RequestChannel => ({
  request,
  notify,
  channel
})

// A context that no message has begun has no HTTP request either.
const noChannel: Channel = { unsafeSend: () => false, send: () => Effect.void }

/** The function that runs the observers when this notification arrives; `undefined` when no observer is registered for it. */
export const ofNotification = (
  observers: ReadonlySet<ClientObserver>,
  method: string
): ((session: ServerSessionService) => Effect.Effect<void>) | undefined => {
  const key = observers.size === 0 ? undefined : events.get(method)
  return key === undefined ? undefined : (handler) => run(observers, key, handler)
}

type Event = Exclude<keyof ClientObserver, "onAnonymous">

const events: ReadonlyMap<string, Event> = new Map([
  [Methods.initialized.name, "onInitialized"],
  [Methods.rootsListChanged.name, "onRootsChanged"]
])

export const run = (observers: ReadonlySet<ClientObserver>, key: Event, session: ServerSessionService) =>
  Effect.forEach([...observers], (observer) => observer[key]?.(session) ?? Effect.void, { discard: true })
