/**
 * Legacy requests that belong to no session: each is served on its own, as if its client had shaken hands at the revision
 * that its channel names. Nothing is remembered from one to the next, and nobody can be asked.
 *
 * One conversation without a pipe serves them all: equal ids on two channels are two requests there, as anywhere.
 *
 * @since 0.1.0
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import type { Channel, Work } from "@effect-mcp/jsonrpc/Side"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import type { FedTransport, Receiver } from "@effect-mcp/jsonrpc/unstable/Feed"
import { Feed } from "@effect-mcp/jsonrpc/unstable/Feed"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { Connection } from "./Connection.js"
import type { Serving } from "./Serve.js"

/**
 * How many of them may be in flight, of all clients together, unless the server says otherwise. A principal, and a POST of
 * nobody's, may have as many of them as a conversation may.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_EXCHANGES = 4096

/**
 * Serves one message; the answer leaves on the channel. Gives what stops it, for as long as it is not answered.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  serving: Serving,
  options: {
    /** Of one principal, and of one channel whose principal nobody knows. */
    readonly maxInFlight?: number | undefined
    readonly maxExchanges?: number | undefined
    readonly closeTimeout?: Duration.DurationInput | undefined
  }
): Effect.Effect<
  (incoming: Message.Incoming, channel: Channel, version: LegacyVersion) => () => void,
  never,
  Scope.Scope
> => {
  const shares = new Shares(options.maxInFlight ?? MAX_IN_FLIGHT)
  const transport = new StatelessTransport()
  const { feed } = transport
  const conversation = Effect.map(Conversation.factory, (start) => {
    const started = start(transport, {
      onRequest: (request, exchange) =>
        shares.count(exchange.channel, serving.request(connections.get(exchange.channel)!, request, exchange)),
      onNotification: () => undefined
    }, {
      maxInFlight: options.maxExchanges ?? MAX_EXCHANGES,
      closeTimeout: options.closeTimeout
    })
    feed.receiveWith(started.receive)
    return started
  })
  return Effect.as(
    Effect.acquireRelease(conversation, ({ close }) => close),
    (incoming, channel, version) => {
      // Nothing else means anything here: a cancel would be of some other client's request.
      if (!Message.isMalformed(incoming) && !Message.isRequest(incoming)) return nothing
      if (!Message.isMalformed(incoming) && shares.isUsedUp(channel)) {
        channel.unsafeSend(Message.failure(incoming.id, shares.error))
        return nothing
      }
      connections.set(channel, stranger(incoming, version))
      feed.offer(incoming, channel)
      if (Message.isMalformed(incoming)) return nothing
      return () => feed.offer(Message.notification(Methods.cancelled.name, { requestId: incoming.id }), channel)
    }
  )
}

const nothing = () => {}

/** How much each client has in flight, so that none takes what all have together. */
class Shares {
  readonly error: JsonRpcError.ErrorObject
  private readonly taken = new Map<Channel | string, number>()

  constructor(private readonly limit: number) {
    this.error = { code: JsonRpcError.UNAVAILABLE, message: `Too many requests: ${limit} are in flight` }
  }

  isUsedUp(channel: Channel): boolean {
    return (this.taken.get(clientOf(channel)) ?? 0) >= this.limit
  }

  /** Counts the work until its end. */
  count(channel: Channel, work: Work): Work {
    const client = clientOf(channel)
    this.taken.set(client, (this.taken.get(client) ?? 0) + 1)
    return {
      ...work,
      release: (exit) => {
        const left = this.taken.get(client)! - 1
        if (left === 0) this.taken.delete(client)
        else this.taken.set(client, left)
        return work.release?.(exit)
      }
    }
  }
}

const clientOf = (channel: Channel): Channel | string => RequestOrigin.of(channel).principal?.id ?? channel

// Its facts are those of one exchange, and go with its channel.
const connections = new WeakMap<Channel, Connection>()

const stranger = (incoming: Message.Incoming, version: LegacyVersion): Connection => {
  const connection = new Connection(Outbound.none)
  // Whoever shakes hands nevertheless is answered.
  connection.accepted = Message.isMalformed(incoming) ||
    (incoming as Message.Request).method !== Methods.initialize.name
  connection.initialized = true
  connection.version = version
  return connection
}

/** What POSTs without a session send comes in on one transport; answers leave on the channel of each POST. */
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
