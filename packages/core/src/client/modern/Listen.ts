/**
 * The client's subscription: one `subscriptions/listen` request that stays open and names every change that the client
 * must learn of. When that set changes, the client sends a second request, and cancels the first once the server has
 * acknowledged the second. When a subscription ends, the client opens it again, and waits longer each time while it ends soon. Between
 * the end and the new acknowledgement the client may have missed changes: `publish` then reports everything that the server has
 * acknowledged as changed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { ConnectionClosed, TransportError } from "../../jsonrpc/LocalError.js"
import { isRequestId, type Notification, notification, type Params, type RequestId } from "../../jsonrpc/Message.js"
import type { CallError, Outbound } from "../../jsonrpc/Outbound.js"
import * as Edition from "../../kit/Edition.js"
import { raceFirst } from "../../kit/Race.js"
import * as Semaphore from "../../kit/Semaphore.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type { SubscriptionFilter } from "../../protocol/modern/Subscriptions.js"
import * as Subscriptions from "../../protocol/modern/Subscriptions.js"
import * as Decoding from "../session/Decoding.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"

export interface Listen {
  /** Handles `notifications/subscriptions/acknowledged`. */
  readonly acknowledge: (params: Params | undefined) => Effect.Effect<void>
  /** Handles `notifications/cancelled`, with which a server may end a subscription. */
  readonly cancelled: (params: Params | undefined) => Effect.Effect<void>
  /** Opens the subscription for the lists that the server can report. Does not wait for the server. */
  readonly open: Effect.Effect<void>
  /** Waits until the server has acknowledged that subscription, or refused it. */
  readonly opened: Effect.Effect<void>
  /** Adds a resource. Succeeds when the server has acknowledged it. */
  readonly subscribe: (uri: string) => Effect.Effect<void, CallError>
  readonly unsubscribe: (uri: string) => Effect.Effect<void, CallError>
  /**
   * Adds a member of an extension to the filter until the scope closes: a flag, or keys. Succeeds when the server has
   * acknowledged it. `onReopened` runs when the subscription is open again after a gap.
   */
  readonly include: (
    name: string,
    keys: ReadonlyArray<string> | undefined,
    onReopened: () => void
  ) => Effect.Effect<void, CallError, Scope.Scope>
}

/** A member of the filter, of resources or of an extension: how many times its flag, or each of its keys, is included. */
interface Member {
  readonly hasKeys: boolean
  readonly counts: Map<string, number>
}

const FLAG = ""

const RESOURCES = "resourceSubscriptions" satisfies keyof SubscriptionFilter

/** The longest wait before a subscription is opened again. The first is a second; each is twice as long as the last. */
const MAX_WAIT_SECONDS = 30

/** After which time a server is reported that has neither acknowledged the first subscription nor refused it. */
const SILENCE = Duration.seconds(30)
const SILENT = "it has not answered the request"

/** How long a cancelled request waits for its result. */
const RESULT_WAIT = Duration.seconds(1)

interface Subscription {
  readonly filter: SubscriptionFilter
  /** Succeeds when the server has cancelled the present request. */
  cancelled: Deferred.Deferred<void>
  /** What the server acknowledged to the first request. */
  readonly acknowledged: Deferred.Deferred<SubscriptionFilter, CallError>
  /** What the server acknowledged to the present request. */
  accepted: SubscriptionFilter | undefined
  /** Whether the server has acknowledged the present request, and has not ended it. */
  isOpen: boolean
  /** How many requests in a row the server has not acknowledged, or ended sooner than the wait before them. */
  failures: number
}

/** Makes the wait for the server as interruptible as the caller is. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * `publish` receives the changes that the client assumes after a gap. What the server does not announce is reported, unless a call
 * fails because of it. The subscription ends with the scope.
 */
export const make = (
  outbound: Outbound,
  { serverCapabilities: capabilities, serverInfo }: Pick<ServerFacts, "serverCapabilities" | "serverInfo">,
  publish: (notification: Notification) => void,
  report: Decoding.Report
): Effect.Effect<Listen, never, Scope.Scope> =>
  Effect.map(Effect.zip(Effect.scope, Deferred.make<void>()), ([scope, opened]) => {
    const turns = Semaphore.make()
    const lists = Subscriptions.supported(
      { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
      capabilities
    )
    const members = new Map<string, Member>()
    const reopenings = new Set<() => void>()
    /** Two subscriptions at most, by the ids of their present requests: the newest, and the subscription that the newest will replace. */
    const requests = new Map<string, Subscription>()
    let newest: Subscription | undefined
    let running: Fiber.RuntimeFiber<void> | undefined
    /** What was reported last, so that a server that goes on refusing is reported once. */
    let unannounced = ""

    const unsubscribed = (changes: ReadonlyArray<string>, reason: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const last = unannounced
        unannounced = changes.join()
        return changes.length === 0 || unannounced === last
          ? Effect.void
          : report(Diagnostic.Unsubscribed({ peer: serverInfo?.name, changes, reason }))
      })

    const refused = ({ filter }: Pick<Subscription, "filter">, error: CallError): Effect.Effect<void> =>
      error instanceof ConnectionClosed ? Effect.void : unsubscribed(Object.keys(filter), error.message)

    const request = (subscription: Subscription): Effect.Effect<unknown, CallError> =>
      Effect.flatMap(Deferred.make<void>(), (cancelled) => {
        const notifications = subscription.filter
        let key = ""
        const onId = (id: RequestId): void => {
          requests.set(key = String(id), subscription)
        }
        subscription.cancelled = cancelled
        subscription.accepted = undefined
        return raceFirst(
          Effect.ensuring(
            outbound.request(Methods.listen.name, { notifications }, { timeout: Duration.infinity, onId }),
            Effect.sync(() => {
              requests.delete(key)
              subscription.isOpen = false
            })
          ),
          // Some servers send the result, too.
          Effect.zipRight(Deferred.await(cancelled), Effect.sleep(RESULT_WAIT))
        )
      })

    /**
     * Opens the subscription again and again. Ends when the server does not acknowledge the first request, and when it
     * acknowledges nothing of the filter.
     */
    const keepOpen = (subscription: Subscription): Effect.Effect<void> =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        const end = yield* Effect.either(request(subscription))
        if (newest !== subscription) return
        const { accepted } = subscription
        const error = Either.isLeft(end) ? end.left : notAcknowledged
        if (accepted === undefined && (yield* Deferred.fail(subscription.acknowledged, error))) return
        if (accepted === undefined) yield* refused(subscription, error)
        if (hasClosed(end) || (accepted !== undefined && Object.keys(accepted).length === 0)) return
        const seconds = Math.min(2 ** subscription.failures, MAX_WAIT_SECONDS)
        const isLongLived = accepted !== undefined && (yield* Clock.currentTimeMillis) - began > 1000 * seconds
        subscription.failures = isLongLived ? 0 : subscription.failures + 1
        const share = yield* Random.nextRange(0.5, 1)
        yield* Effect.sleep(Duration.seconds(share * (isLongLived ? 1 : seconds)))
        return yield* keepOpen(subscription)
      })

    const start = (subscription: Subscription): Effect.Effect<Fiber.RuntimeFiber<void>> =>
      Effect.tap(Effect.forkIn(Effect.interruptible(keepOpen(subscription)), scope), (fiber) =>
        Effect.sync(() => {
          running = fiber
        }))

    /** Counts everything that the server acknowledged after a gap as changed. */
    const onGap = (accepted: SubscriptionFilter): void => {
      for (const { method, params } of Subscriptions.changes(accepted)) publish(notification(method, params))
      for (const onReopened of reopenings) onReopened()
    }

    /** Runs one change of the filter at a time. It can be interrupted only while it waits for the server. */
    const change = <A, R>(run: (restore: Restore) => Effect.Effect<A, CallError, R>): Effect.Effect<A, CallError, R> =>
      turns.run(Effect.uninterruptibleMask(run))

    /** Replaces the subscription by one for the present lists and resources. */
    const replace = (restore: Restore): Effect.Effect<SubscriptionFilter, CallError> =>
      Effect.suspend(() => {
        const [lastSubscription, lastRunning] = [newest, running]
        const endLast = lastRunning === undefined ? Effect.void : Fiber.interruptFork(lastRunning)
        const filter: SubscriptionFilter = {
          ...lists,
          ...Object.fromEntries(
            [...members].map(([name, { counts, hasKeys }]) => [name, hasKeys ? [...counts.keys()] : true])
          )
        }
        if (Object.keys(filter).length === 0) {
          newest = running = undefined
          return Effect.as(endLast, filter)
        }
        return Effect.gen(function*() {
          const subscription: Subscription = {
            filter,
            cancelled: yield* Deferred.make<void>(),
            acknowledged: yield* Deferred.make<SubscriptionFilter, CallError>(),
            accepted: undefined,
            isOpen: false,
            failures: 0
          }
          newest = subscription
          const fiber = yield* start(subscription)
          return yield* Effect.onExit(restore(Deferred.await(subscription.acknowledged)), (exit) => {
            if (Exit.isSuccess(exit)) {
              if (lastSubscription?.isOpen === false) onGap(exit.value)
              return endLast
            }
            newest = lastSubscription
            running = lastRunning
            const hasEnded = lastSubscription !== undefined &&
              (lastRunning === undefined || Edition.exitOf(lastRunning) !== undefined)
            return Effect.zipRight(Fiber.interruptFork(fiber), hasEnded ? start(lastSubscription) : Effect.void)
          })
        })
      })

    /** Whether the filter has changed. */
    const remove = (name: string, keys: ReadonlyArray<string>): boolean => {
      const counts = members.get(name)?.counts ?? new Map<string, number>()
      const before = counts.size
      for (const key of keys) {
        const count = counts.get(key) ?? 0
        if (count > 1) counts.set(key, count - 1)
        else counts.delete(key)
      }
      if (counts.size === 0) members.delete(name)
      return counts.size < before
    }

    /** `what` is named in the error when the server does not accept the member. */
    const add = (
      name: string,
      keys: ReadonlyArray<string> | undefined,
      restore: Restore,
      what = name
    ): Effect.Effect<void, CallError> =>
      Effect.suspend(() => {
        const { counts } = members.get(name) ?? { counts: new Map<string, number>() }
        const entries = keys ?? [FLAG]
        const isKnown = entries.every((key) => counts.has(key))
        for (const key of entries) counts.set(key, (counts.get(key) ?? 0) + 1)
        if (counts.size === 0) return Effect.void
        members.set(name, { hasKeys: keys !== undefined, counts })
        if (isKnown) return Effect.void
        const subscribing = Effect.filterOrFail(
          replace(restore),
          (acknowledged) => accepts((acknowledged as JsonObject)[name], keys),
          () => notAccepted(what)
        )
        return Effect.asVoid(Effect.onError(subscribing, () => Effect.sync(() => remove(name, entries))))
      })

    return {
      include: (name, keys, onReopened) =>
        change((restore) =>
          Effect.flatMap(add(name, keys, restore), () => {
            // Several callers may give the same function, and each ends on its own.
            const reopened = () => onReopened()
            reopenings.add(reopened)
            return Effect.addFinalizer(() => {
              reopenings.delete(reopened)
              const removing = change((restore) =>
                remove(name, keys ?? [FLAG]) ? Effect.ignore(replace(restore)) : Effect.void
              )
              // The scope does not wait for the server, which may take long to acknowledge the smaller subscription.
              return Effect.forkIn(Effect.interruptible(removing), scope)
            })
          })
        ),
      acknowledge: (params) =>
        Effect.suspend(() => {
          const { decodeParams, name } = Methods.acknowledged
          const { problem, value } = Decoding.decodeParams(name, decodeParams, params)
          const reported = problem === undefined ? Effect.void : report(problem)
          const id = Subscriptions.idOf(params)
          const subscription = id === undefined ? newest : requests.get(String(id))
          if (subscription === undefined || value === undefined) return reported
          const accepted = subscription.accepted = value.notifications
          subscription.isOpen = true
          const acknowledged = Effect.flatMap(Deferred.succeed(subscription.acknowledged, accepted), (isFirst) => {
            if (!isFirst) onGap(accepted)
            // The call that has added another member fails.
            const promised = Object.keys(isFirst ? lists : subscription.filter)
            const [given, wanted] = [accepted as JsonObject, subscription.filter as JsonObject]
            const missing = promised.filter((name) => !accepts(given[name], wanted[name]))
            return unsubscribed(missing, "it has not acknowledged that it does")
          })
          return Effect.zipRight(reported, acknowledged)
        }),
      cancelled: (params) =>
        Effect.suspend(() => {
          const subscription = isRequestId(params?.requestId) ? requests.get(String(params.requestId)) : undefined
          if (subscription === undefined) return Effect.void
          subscription.isOpen = false
          return Effect.asVoid(Deferred.succeed(subscription.cancelled, undefined))
        }),
      open: Effect.asVoid(Effect.forkIn(
        Effect.ensuring(
          Effect.zipRight(
            Effect.fork(Effect.interruptible(Effect.delay(unsubscribed(Object.keys(lists), SILENT), SILENCE))),
            Effect.catchAll(change(replace), (error) => refused({ filter: lists }, error))
          ),
          Deferred.succeed(opened, undefined)
        ),
        scope
      )),
      opened: Deferred.await(opened),
      subscribe: (uri) =>
        change((restore) =>
          members.get(RESOURCES)?.counts.has(uri) === true ? Effect.void : add(RESOURCES, [uri], restore, uri)
        ),
      unsubscribe: (uri) =>
        change((restore) => remove(RESOURCES, [uri]) ? Effect.asVoid(replace(restore)) : Effect.void)
    }
  })

/** Whether the server has acknowledged a member of the filter: its keys, or its flag. */
const accepts = (acknowledged: unknown, wanted: unknown): boolean =>
  Array.isArray(wanted)
    ? Array.isArray(acknowledged) && wanted.every((key) => acknowledged.includes(key))
    : acknowledged === true

const hasClosed = (end: Either.Either<unknown, CallError>): boolean =>
  Either.isLeft(end) && end.left instanceof ConnectionClosed

const notAcknowledged = new TransportError({
  reason: "Decode",
  message: "The server ended the subscription before it acknowledged it"
})

const notAccepted = (what: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The server acknowledged no subscription to "${what.slice(0, 200)}"`
  })
