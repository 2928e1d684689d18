/**
 * Serves legacy requests that belong to no session: each one as if its client had completed a handshake at the revision
 * that comes with it. Nothing is remembered between two requests, and a handler cannot send requests to the client.
 *
 * One conversation serves them all. Every POST is a channel of its own, so equal ids in two POSTs are two requests.
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import type { Channel, Side } from "@effect-mcp/jsonrpc/Side"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import type { FedTransport, Receiver } from "@effect-mcp/jsonrpc/unstable/Feed"
import { Feed } from "@effect-mcp/jsonrpc/unstable/Feed"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Options } from "../Dispatcher.js"
import * as Defects from "../runtime/Defects.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { Connection } from "./Connection.js"
import type { Serving } from "./Serve.js"

/** The default limit of the requests in flight, of all clients together. */
export const MAX_EXCHANGES = 4096

/**
 * A function that serves one message, whose response leaves on the channel. It gives a function that interrupts the
 * request, as long as it has no response.
 */
export const make = (
  serving: Pick<Serving, "request"> & Pick<Side, "neverWaits" | "hasOwnLimit">,
  options: Options
): Effect.Effect<
  (incoming: Message.Incoming, channel: Channel, version: LegacyVersion) => () => void,
  never,
  Scope.Scope
> => {
  const transport = new StatelessTransport()
  const { feed } = transport
  const conversation = Effect.map(Conversation.factory, (start) => {
    const started = start(transport, {
      onRequest: (request, incoming) => serving.request(connections.get(incoming.channel)!, request, incoming),
      onNotification: () => undefined,
      neverWaits: serving.neverWaits,
      hasOwnLimit: serving.hasOwnLimit
    }, {
      maxInFlight: options.maxExchanges ?? MAX_EXCHANGES,
      maxWaiting: options.maxWaiting,
      maxWaitingText: options.maxWaitingText,
      perClient: {
        limit: options.maxInFlight ?? MAX_IN_FLIGHT,
        clientOf: (channel) => RequestOrigin.of(channel).principal?.id
      },
      closeTimeout: options.closeTimeout,
      report: Defects.report(options)
    })
    feed.receiveWith(started.receive)
    return started
  })
  return Effect.as(
    Effect.acquireRelease(conversation, ({ close }) => close),
    (incoming, channel, version) => {
      // A notification or a response would belong to another POST, perhaps of another client.
      if (!Message.isMalformed(incoming) && !Message.isRequest(incoming)) return nothing
      connections.set(channel, connectionOf(incoming, version))
      feed.offer(incoming, channel)
      if (Message.isMalformed(incoming)) return nothing
      return () => feed.offer(Message.notification(Methods.cancelled.name, { requestId: incoming.id }), channel)
    }
  )
}

const nothing = () => {}

/** The state of each POST, as long as its channel is in use. */
const connections = new WeakMap<Channel, Connection>()

const connectionOf = (incoming: Message.Incoming, version: LegacyVersion): Connection => {
  const connection = new Connection(Outbound.none)
  // A client without a session may send `initialize`, too, and gets its result.
  connection.accepted = Message.isMalformed(incoming) ||
    (incoming as Message.Request).method !== Methods.initialize.name
  connection.initialized = true
  connection.version = version
  return connection
}

/** The one transport of all POSTs: their messages are fed to it, and responses leave on the channel of each POST. */
class StatelessTransport implements FedTransport {
  readonly feed = new Feed()

  get incoming(): Transport["incoming"] {
    return this.feed.incoming
  }

  run(receiver: Receiver): Effect.Effect<void, TransportError> {
    return this.feed.run(receiver)
  }

  readonly send = (): Effect.Effect<void> => Effect.void

  readonly unsafeSend = (): boolean => false
}
