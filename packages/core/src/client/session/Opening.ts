/**
 * A conversation with a server while the client does not know the protocol era of the server yet. `Negotiation` opens the conversation and
 * sends the first requests. When the era is known, `legacy/Connect` or `modern/Connect` calls `setEra` to say how requests of the server
 * are handled, and makes a session from the conversation. Notifications reach their listeners from the beginning. Some servers answer a
 * probe with an error that has no id; `follow` makes this error the answer of the probe.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Conversation from "../../jsonrpc/Conversation.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Batch from "../../jsonrpc/runtime/Batch.js"
import { otherForm } from "../../jsonrpc/runtime/RequestIds.js"
import type { Side } from "../../jsonrpc/Side.js"
import * as Transport from "../../jsonrpc/Transport.js"
import { codes } from "../../protocol/ErrorCodes.js"
import { isBrief, neverWaits } from "../../protocol/rules/NeverWaits.js"
import * as FeatureFibers from "./FeatureFibers.js"
import type { Options } from "./NegotiatedSession.js"
import * as NotificationHub from "./NotificationHub.js"

/** How an era handles what the server sends. */
export interface EraHandlers {
  /** Handles requests of the server. Default: requests of the server are dropped. */
  readonly onRequest?: Side["onRequest"]
  /**
   * Returns the separate limit of a request of the server, if the request does not count for the common limit. Default: no request has a
   * separate limit.
   */
  readonly ownLimit?: Side["ownLimit"]
  /** The method that a heartbeat sends. Default: no heartbeat. */
  readonly ping?: string
  /** Called with each notification after its listeners. Returns the effect that handles the notification, if there is one. */
  readonly onNotification?: (notification: Message.Notification) => Effect.Effect<void> | undefined
}

export interface Opening {
  readonly conversation: Conversation.Conversation
  readonly hub: NotificationHub.NotificationHub
  readonly transport: Transport.Transport
  /** Whether the transport has ended by itself. */
  readonly isOver: () => boolean
  /** The input that was skipped because it is not a message. */
  readonly skipped: Readonly<Skipped>
  readonly setEra: (handlers: EraHandlers) => void
  /**
   * Makes the `onId` of a probe. While the probe has no answer, an error whose id is not an id of this client counts as its answer.
   * `onAnswer` gets the answer, also after the call has timed out.
   */
  readonly follow: (onAnswer: (answer: Message.Response) => void) => (id: Message.RequestId) => void
  /** Ends `follow`: the era is known, or the client finds out the era in another way. */
  readonly unfollow: () => void
  /** The scope of the conversation. When it closes, the conversation ends. */
  readonly scope: Scope.Scope
}

/**
 * Opens a conversation over a transport. `decoders` must fit both eras. Until an era is set, requests of the server are dropped. When the
 * scope closes, the conversation ends.
 */
export const open = (
  transport: Transport.Transport,
  decoders: NotificationHub.Decoders,
  options: Options
): Effect.Effect<Opening, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { closeTimeout, features, heartbeat, limits, timeout } = options
    let era: EraHandlers = {}
    let isOver = false
    const followed: Array<Followed> = []
    const skipped: Skipped = { count: 0, first: undefined }
    const hub = yield* NotificationHub.make(decoders)
    const conversation = yield* Conversation.make(
      watched(transport, () => era.onRequest === undefined, hub.onElicitation, followed, skipped, () => {
        isOver = true
      }),
      {
        onRequest: (request, incoming) => era.onRequest!(request, incoming),
        onNotification: (notification) => {
          options.onNotification(notification)
          const reporting = hub.publish(notification)
          const handling = era.onNotification?.(notification)
          return reporting === undefined || handling === undefined
            ? reporting ?? handling
            : Effect.zipRight(reporting, handling)
        },
        neverWaits: (method) => neverWaits(method) || isBrief(method),
        ownLimit: (request, channel) => era.ownLimit?.(request, channel)
      },
      {
        timeout,
        ...limits,
        maxPending: limits?.maxCalls,
        closeTimeout,
        report: hub.report,
        reportOnly: true,
        heartbeat: heartbeat === undefined ? undefined : { ...heartbeat, method: () => era.ping }
      }
    )
    yield* Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(conversation.ended), hub.end)))
    // Started now, because the server may log while the session is being opened.
    yield* FeatureFibers.handleLogs(features, hub, closeTimeout)
    if (options.tracing !== undefined) yield* options.tracing.session
    return {
      conversation,
      hub,
      transport,
      isOver: () => isOver,
      skipped,
      scope: yield* Effect.scope,
      follow: (onAnswer) => (id) => void followed.push({ id, onAnswer, isAnswered: false }),
      unfollow: () => void followed.splice(0),
      setEra: (handlers) => {
        era = handlers
      }
    }
  })

/** How many inputs were skipped, and the beginning of the first skipped input whose text is known. */
export interface Skipped {
  count: number
  first: string | undefined
}

/** A probe whose answer is expected. */
interface Followed {
  readonly id: Message.RequestId
  readonly onAnswer: (answer: Message.Response) => void
  isAnswered: boolean
}

/**
 * Returns the same transport with four additions. It drops requests of the server while `areDropped` returns `true`. It counts in `skipped`
 * the input that is not a message. `onElicitation` gets the ids of the URL elicitations in requests and in errors that demand them, before
 * any later message is received. `onEnd` is called when the transport has ended.
 */
const watched = (
  transport: Transport.Transport,
  areDropped: () => boolean,
  onElicitation: NotificationHub.NotificationHub["onElicitation"],
  followed: Array<Followed>,
  skipped: Skipped,
  onEnd: () => void
): Transport.Transport => ({
  ...transport,
  run: (receive) => {
    const take = (incoming: Message.Incoming): void => {
      const delivery = followed.length === 0 ? incoming : answerOf(followed, incoming)
      if (Message.isMalformed(delivery)) {
        skipped.count++
        skipped.first ??= MessageText.beginningOf(delivery)
      } else {
        if (Message.isRequest(delivery)) {
          if (areDropped()) return
          onElicitation(delivery.params?.elicitationId)
        } else if ("error" in delivery && delivery.error.code === codes.legacy.UrlElicitationRequired) {
          const { elicitations } = (delivery.error.data ?? {}) as { readonly elicitations?: unknown }
          if (Array.isArray(elicitations)) { for (const one of elicitations) onElicitation(one?.elicitationId) }
        }
      }
      receive(delivery)
    }
    return Effect.ensuring(
      Transport.run(transport, (given) => {
        if (given instanceof Transport.Undelivered) receive(given)
        else if (Message.isMalformed(given)) Batch.flattened(given).forEach(take)
        else take(given)
      }),
      Effect.sync(onEnd)
    )
  }
})

/** Returns the same message. An error whose id is not an id of this client gets the id of the first probe that has no answer. */
const answerOf = (followed: ReadonlyArray<Followed>, incoming: Message.Incoming): Message.Incoming => {
  const isMalformed = Message.isMalformed(incoming)
  if (isMalformed ? incoming.kind !== "response" && incoming.kind !== "unknown" : !Message.isResponse(incoming)) {
    return incoming
  }
  const { id } = incoming as Message.Response
  const own = followed.find((one) => one.id === id || (Message.isRequestId(id) && one.id === otherForm(id)))
  const isSuccess = !isMalformed && Message.isSuccess(incoming as Message.Response)
  // A conversation counts its requests from 1.
  const isOurs = Number(id) >= 1
  const answered = own ?? (isSuccess || isOurs ? undefined : followed.find(({ isAnswered }) => !isAnswered))
  if (answered === undefined) return incoming
  answered.isAnswered = true
  if (isMalformed) return own === undefined ? Message.failure(answered.id, incoming) : incoming
  const answer = { ...incoming as Message.Response, id: answered.id }
  answered.onAnswer(answer)
  return answer
}
