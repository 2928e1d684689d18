/**
 * The client's subscription: one `subscriptions/listen` request that stays open and names every change that the client
 * must learn of. When that set changes, a second request takes the place of the first, which is cancelled once the server has
 * acknowledged the second. A subscription that ends is opened again, more and more slowly while it ends soon. After such a
 * gap everything that the server acknowledges counts as changed, because the client may have missed a change.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Notification, Params } from "@effect-mcp/jsonrpc/Message"
import { notification } from "@effect-mcp/jsonrpc/Message"
import type { CallError, Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { SubscriptionFilter } from "@effect-mcp/protocol/modern/Subscriptions"
import * as Subscriptions from "@effect-mcp/protocol/modern/Subscriptions"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"

export interface Listen {
  /** Handles `notifications/subscriptions/acknowledged`. */
  readonly acknowledge: (params: unknown) => Effect.Effect<void>
  /** Opens the subscription for the lists that the server can report. Does not wait for the server. */
  readonly open: Effect.Effect<void>
  /** Adds a resource. Succeeds when the server has acknowledged it. */
  readonly subscribe: (uri: string) => Effect.Effect<void, CallError>
  readonly unsubscribe: (uri: string) => Effect.Effect<void, CallError>
}

/** The longest wait before a subscription is opened again. The first is a second; each is twice as long as the last. */
const MAX_WAIT_SECONDS = 30

interface Subscription {
  readonly filter: SubscriptionFilter
  /** What the server acknowledged to the first request. */
  readonly acknowledged: Deferred.Deferred<SubscriptionFilter, CallError>
  /** What the server acknowledged to the present request. */
  accepted: SubscriptionFilter | undefined
  /** How many requests in a row the server has not acknowledged, or ended sooner than the wait before them. */
  failures: number
}

/** `publish` receives the changes that the client assumes after a gap. The subscription ends with the scope. */
export const make = (
  outbound: Outbound,
  capabilities: ServerCapabilities,
  publish: (notification: Notification) => void
): Effect.Effect<Listen, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const mutex = Effect.unsafeMakeSemaphore(1)
    const lists = Subscriptions.supported(
      { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
      capabilities
    )
    const uris = new Set<string>()
    /** The newest subscription: the only one that waits for an acknowledgement. */
    let newest: Subscription | undefined
    let running: Fiber.RuntimeFiber<void> | undefined

    const request = ({ filter }: Subscription): Effect.Effect<Params, CallError> =>
      outbound.request(Methods.listen.name, { notifications: filter }, { timeout: Duration.infinity })

    /**
     * Opens the subscription again and again. Ends when the server does not acknowledge the first request, and when it
     * acknowledges nothing of the filter.
     */
    const keepOpen = (subscription: Subscription): Effect.Effect<void> =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        subscription.accepted = undefined
        const end = yield* Effect.either(request(subscription))
        if (newest !== subscription) return
        const { accepted } = subscription
        const error = Either.isLeft(end) ? end.left : notAcknowledged
        if (accepted === undefined && (yield* Deferred.fail(subscription.acknowledged, error))) return
        if (accepted !== undefined && Object.keys(accepted).length === 0) return
        const seconds = Math.min(2 ** subscription.failures, MAX_WAIT_SECONDS)
        const isLongLived = accepted !== undefined && (yield* Clock.currentTimeMillis) - began > 1000 * seconds
        subscription.failures = isLongLived ? 0 : subscription.failures + 1
        const share = yield* Random.nextRange(0.5, 1)
        yield* Effect.sleep(Duration.seconds(share * (isLongLived ? 1 : seconds)))
        return yield* keepOpen(subscription)
      })

    /** Replaces the subscription by one for the present lists and resources. */
    const replace: Effect.Effect<SubscriptionFilter, CallError> = Effect.suspend(() => {
      const [lastSubscription, lastRunning] = [newest, running]
      const endLast = lastRunning === undefined ? Effect.void : Fiber.interruptFork(lastRunning)
      const filter: SubscriptionFilter = uris.size === 0 ? lists : { ...lists, resourceSubscriptions: [...uris] }
      if (Object.keys(filter).length === 0) {
        newest = running = undefined
        return Effect.as(endLast, filter)
      }
      return Effect.gen(function*() {
        const subscription: Subscription = {
          filter,
          acknowledged: yield* Deferred.make<SubscriptionFilter, CallError>(),
          accepted: undefined,
          failures: 0
        }
        newest = subscription
        const fiber = running = yield* Effect.forkIn(Effect.interruptible(keepOpen(subscription)), scope)
        return yield* Effect.onExit(Deferred.await(subscription.acknowledged), (exit) => {
          if (Exit.isSuccess(exit)) return endLast
          newest = lastSubscription
          running = lastRunning
          return Fiber.interruptFork(fiber)
        })
      })
    })

    return {
      acknowledge: (params) =>
        Effect.suspend(() => {
          const decoded = Methods.acknowledged.decodeParams(params)
          const subscription = newest
          if (subscription === undefined || Either.isLeft(decoded)) return Effect.void
          const accepted = subscription.accepted = decoded.right.notifications
          return Effect.map(Deferred.succeed(subscription.acknowledged, accepted), (isFirst) => {
            if (isFirst) return
            for (const { method, params } of Subscriptions.changes(accepted)) publish(notification(method, params))
          })
        }),
      open: Effect.asVoid(Effect.forkIn(Effect.ignore(mutex.withPermits(1)(replace)), scope)),
      subscribe: (uri) =>
        mutex.withPermits(1)(Effect.suspend(() => {
          if (uris.has(uri)) return Effect.void
          uris.add(uri)
          const subscribing = Effect.filterOrFail(
            replace,
            ({ resourceSubscriptions = [] }) => resourceSubscriptions.includes(uri),
            () => notAccepted(uri)
          )
          return Effect.asVoid(Effect.onError(subscribing, () => Effect.sync(() => uris.delete(uri))))
        })),
      unsubscribe: (uri) =>
        mutex.withPermits(1)(Effect.suspend(() => uris.delete(uri) ? Effect.asVoid(replace) : Effect.void))
    }
  })

const notAcknowledged = new TransportError({
  reason: "Decode",
  message: "The server ended the subscription before it acknowledged it"
})

const notAccepted = (uri: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The server acknowledged no subscription to "${uri.slice(0, 200)}"` })
