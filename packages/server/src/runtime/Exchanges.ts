/**
 * Serves messages that belong to no session, each on a channel of its own. One conversation serves them all, so that their
 * limits hold for all clients together; equal ids on two channels are two requests. What a request means is up to its era.
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import { MAX_IN_FLIGHT } from "@effect-mcp/jsonrpc/Conversation"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel, Side } from "@effect-mcp/jsonrpc/Side"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import type { FedTransport, Receiver } from "@effect-mcp/jsonrpc/unstable/Feed"
import { Feed } from "@effect-mcp/jsonrpc/unstable/Feed"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Options } from "../Dispatcher.js"
import * as Defects from "./Defects.js"
import * as Metrics from "./Metrics.js"
import * as RequestOrigin from "./RequestOrigin.js"

/** The default limit of the requests in flight, of all clients together. */
export const MAX_EXCHANGES = 4096

/** Serves one message; its response leaves on the channel. Gives a function that interrupts the request. */
export type Exchange = (incoming: Message.Incoming, channel: Channel) => () => void

export const make = (
  side: Pick<Side, "onRequest" | "neverWaits" | "hasOwnLimit"> & {
    /** Without it, notifications are dropped. */
    readonly onNotification?: Side["onNotification"]
  },
  options: Options
): Effect.Effect<Exchange, never, Scope.Scope> => {
  const transport = new ExchangeTransport()
  const { feed } = transport
  const conversation = Effect.map(Conversation.factory, (start) => {
    const started = start(transport, { onNotification: () => undefined, ...side }, {
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
  const counted = Effect.tap(
    Effect.acquireRelease(conversation, ({ close }) => close),
    ({ inFlight }) => Metrics.requests.observe(inFlight)
  )
  return Effect.as(
    counted,
    (incoming, channel) => {
      // A cancellation or a response would belong to another exchange, perhaps of another client.
      if (!Message.isMalformed(incoming) && !Message.isRequest(incoming)) {
        const isHandled = side.onNotification !== undefined && !Message.isResponse(incoming) &&
          incoming.method !== CANCELLED
        if (isHandled) feed.offer(incoming, channel)
        return nothing
      }
      feed.offer(incoming, channel)
      if (Message.isMalformed(incoming)) return nothing
      return () => feed.offer(Message.notification(CANCELLED, { requestId: incoming.id }), channel)
    }
  )
}

const CANCELLED = "notifications/cancelled"

const nothing = () => {}

/** The one transport of all exchanges: their messages are fed to it, and responses leave on the channel of each. */
class ExchangeTransport implements FedTransport {
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
