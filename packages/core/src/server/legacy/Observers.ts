/**
 * Runs the client observers that features have registered (`Registry.observe`), for `ServerSide` and `Era`. Observers run when a legacy
 * client (revisions up to 2025-11-25) has completed its handshake, has changed its roots, or has set its log level. This module makes the
 * context of an observer, and decides when observers run.
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
 * Makes the context of an observer. The context belongs to no request. The observer can send messages to the client until the client
 * disconnects.
 */
export const contextOf = (
  connection: Connection,
  speech: Speech<Connection>,
  notification: Notification,
  channel: Channel = noChannel
): HandlerContext<Connection> => new HandlerContext(connection, notification, outboundOf(connection, channel), speech)

/** Makes the functions that send to the client outside of any request. */
export const outboundOf = ({ outbound: { notify, request } }: Connection, channel: Channel): RequestChannel => ({
  request,
  notify,
  channel
})

// No message has caused this context, so it has no HTTP request.
const noChannel: Channel = { unsafeSend: () => false, send: () => Effect.void }

/** Gives the function that runs the observers of this notification; `undefined` when the notification has no observers. */
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
