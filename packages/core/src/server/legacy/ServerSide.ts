/**
 * Serves the messages of legacy conversations (revisions up to 2025-11-25). `dispatch/Dispatch` makes this object, and
 * `dispatch/EraOfMessage` gives it the legacy messages. This module decides which messages wait for the handshake. When another node has
 * served the session before, this module restores the session before it serves the first message.
 *
 * `runtime/Serve` runs the handlers of messages, with the record that `Era` makes. `Handshake` makes messages wait for `initialize`.
 * `Observers` runs the client observers of features.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Notification, Request } from "../../jsonrpc/Message.js"
import type { Channel, IncomingRequest, RequestSide, Work } from "../../jsonrpc/Side.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import { getTaskPayload } from "../../protocol/legacy/TaskMethods.js"
import { type McpError } from "../../protocol/McpError.js"
import { isBrief } from "../../protocol/rules/NeverWaits.js"
import { HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Serve from "../runtime/Serve.js"
import type { Server } from "../runtime/Server.js"
import type { Connection } from "./Connection.js"
import * as Era from "./Era.js"
import * as Handshake from "./Handshake.js"
import * as Initialize from "./Initialize.js"
import * as Observers from "./Observers.js"
import * as Subscriptions from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

/** Serves the legacy messages of all connections. Each server makes one such object. */
export interface LegacyServerSide {
  /** Makes the functions that serve the requests of one client. */
  readonly to: (connection: Connection) => RequestSide
  readonly notification: (
    connection: Connection,
    notification: Notification,
    channel: Channel
  ) => Effect.Effect<void> | undefined
  /** Answers a request with an error. Middleware gets the request and the error. */
  readonly refuse: (connection: Connection, request: Request, incoming: IncomingRequest, error: McpError) => Work
}

type Self = Serve.Serve<Connection>

export const make = (server: Server, wire?: Wire): LegacyServerSide => {
  const self: Self = Serve.make(server, Era.make(server, wire))
  return {
    to: (connection) => ({
      onRequest: (request, incoming) => serve(self, connection, request, incoming),
      // MUST respond promptly (2025-11-25 basic/utilities/ping#behavior-requirements)
      neverWaits: (method) => method === Methods.ping.name || isBrief(method),
      ownLimit: ({ method }) =>
        method === getTaskPayload.name && connection.reach === "conversation"
          ? connection.taskResults ??= server.tasks?.limitOfResults()
          : undefined
    }),
    notification: (connection, notification, channel) => notified(self, connection, notification, channel),
    refuse: (connection, request, incoming, error) => Serve.refuse(self, connection, request, incoming, error)
  }
}

const serve = (self: Self, connection: Connection, request: Request, incoming: IncomingRequest): Work => {
  const refusal = self.server.authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
  if (refusal !== undefined) return Serve.fail(self, refusal)
  const { handshake, phase } = connection
  if (phase._tag === "Restoring" && handshake === undefined) {
    const handler = new HandlerContext(connection, request, incoming, self.era.speech)
    const restored = restore(self, handler)
    return Handshake.restoring(connection, restored, () => Serve.request(self, connection, request, incoming))
  }
  const isInitialize = request.method === Methods.initialize.name
  if (handshake !== undefined && request.method !== Methods.ping.name) {
    return isInitialize
      ? Serve.fail(self, Handshake.underWay)
      : Handshake.afterRequest(handshake, () => Serve.request(self, connection, request, incoming))
  }
  const work = Serve.request(self, connection, request, incoming)
  // When the server has no middleware and no session layer, the handshake takes no time, so other messages do not need to wait.
  return isInitialize && !connection.accepted && !self.pipeline.isBare ? Handshake.begin(connection, work) : work
}

const notified = (
  self: Self,
  connection: Connection,
  notification: Notification,
  channel: Channel
): Effect.Effect<void> | undefined => {
  const { era: { speech }, pipeline, server } = self
  const { method, params } = notification
  if (server.authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
  const { accepted, handshake, phase } = connection
  if (!accepted && handshake === undefined) return undefined
  if (phase._tag === "Restoring" && handshake === undefined) {
    const handler = Observers.contextOf(connection, speech, notification, channel)
    return Effect.matchCauseEffect(Handshake.restored(connection, restore(self, handler)), {
      // This code drops the notification, as after a failed handshake. The next message tries again to restore the session.
      onFailure: (cause) =>
        Effect.logDebug(`Dropped "${HandlerName.quotable(method)}": the session could not be restored`, cause),
      onSuccess: () => notified(self, connection, notification, channel) ?? Effect.void
    })
  }
  if (method === Methods.initialized.name && Either.isRight(Methods.initialized.decodeParams(params))) {
    connection.onInitialized()
  }
  const listener = Serve.listenerOf(self, connection, method)
  const observed = Observers.ofNotification(server.observers, method)
  if (listener === undefined && !pipeline.isSurrounded && observed === undefined) return undefined
  const outbound = Observers.outboundOf(connection, channel)
  return Handshake.afterNotification(
    connection,
    Serve.notification(self, connection, notification, outbound, listener, observed)
  )
}

/** Restores a session at this node: builds the session layer, and begins the subscriptions to resources again. */
const restore = ({ server }: Self, handler: HandlerContext<Connection>): Effect.Effect<void, unknown> => {
  const { scope, services, unrestored = [] } = handler.facts
  const { session: layer, subscriptions } = server
  const built = layer === undefined || scope === undefined || services !== undefined
    ? Effect.void
    : Initialize.build(layer, handler, scope)
  return subscriptions === undefined ? built : Effect.zipRight(
    built,
    // Ignores a subscription whose resource no longer exists, or is now hidden from the client.
    Effect.forEach(unrestored, (uri) => Effect.ignore(Subscriptions.subscribe(handler, { uri }, subscriptions)), {
      discard: true
    })
  )
}
