/**
 * The subscription of a client. `Connect` makes the subscription, and `ModernCalls` changes it. A subscription is one
 * `subscriptions/listen` request that stays open and names every change that the client wants to learn of. When the client wants other
 * changes, it sends a second request, and cancels the first after the server has acknowledged the second.
 *
 * When the server ends the subscription, the client opens it again. If the server ends it again soon, the client waits longer each time.
 * Between the end and the next acknowledgement the client may have missed changes. Therefore, after this acknowledgement, the client calls
 * `publish` for everything that the server has acknowledged. `Filter` counts what is wanted. `Reopening` decides what follows after the end
 * of a request.
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
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { Diagnostic } from "../../jsonrpc/Diagnostic.js"
import { ConnectionClosed, TransportError } from "../../jsonrpc/LocalError.js"
import { isRequestId, type Notification, notification, type Params, type RequestId } from "../../jsonrpc/Message.js"
import type { CallError, Outbound } from "../../jsonrpc/Outbound.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { raceFirst } from "../../kit/Race.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Subscriptions from "../../protocol/modern/Subscriptions.js"
import * as Decoding from "../session/Decoding.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"
import * as Filter from "./Filter.js"
import * as Reopening from "./Reopening.js"

export interface Listen {
  /** Handles `notifications/subscriptions/acknowledged`. */
  readonly acknowledge: (params: Params | undefined) => Effect.Effect<void>
  /** Handles `notifications/cancelled`, with which a server may end a subscription. */
  readonly cancelled: (params: Params | undefined) => Effect.Effect<void>
  /** Opens the subscription for the lists whose changes the server can report. Does not wait for the server. */
  readonly open: Effect.Effect<void>
  /** Waits until the server has acknowledged or refused that subscription. */
  readonly opened: Effect.Effect<void>
  /** Subscribes to a resource. Succeeds when the server has acknowledged it. */
  readonly subscribe: (uri: string) => Effect.Effect<void, CallError>
  readonly unsubscribe: (uri: string) => Effect.Effect<void, CallError>
  /**
   * Adds a member of an extension to the filter until the scope closes: a flag, or keys. Succeeds when the server has acknowledged the
   * member. `onReopened` is called each time that a broken subscription is open again.
   */
  readonly include: (
    name: string,
    keys: ReadonlyArray<string> | undefined,
    onReopened: () => void
  ) => Effect.Effect<void, CallError, Scope.Scope>
}

const RESOURCES = "resourceSubscriptions" satisfies keyof Subscriptions.SubscriptionFilter

/** How long the client waits before it reports that the server has neither acknowledged nor refused the first subscription. */
const SILENCE = Duration.seconds(30)
const SILENT = "it has not answered the request"

/** How long the client waits for the result of a request that the server has cancelled. */
const RESULT_WAIT = Duration.seconds(1)

/** One subscription. `request`, `acknowledge` and `cancelled` set the facts about its current request. `keepOpen` sets `failures`. */
interface Subscription {
  readonly filter: Subscriptions.SubscriptionFilter
  /** Succeeds when the server has cancelled the current request. */
  cancelled: Deferred.Deferred<void>
  /** What the server has acknowledged for the first request. */
  readonly firstAcknowledged: Deferred.Deferred<Subscriptions.SubscriptionFilter, CallError>
  /** What the server has acknowledged for the current request; `undefined` when it has acknowledged nothing yet. */
  acknowledged: Subscriptions.SubscriptionFilter | undefined
  /** Whether the server has acknowledged the current request and has not ended it. */
  isOpen: boolean
  /** How many requests in a row did not stay open: the server has not acknowledged the request, or has ended it soon (see `Reopening`). */
  failures: number
}

/** The subscription that the client wants now, and the fiber that keeps it open. */
interface Current {
  readonly newest: Subscription | undefined
  readonly running: Fiber.RuntimeFiber<void> | undefined
}

interface Self {
  readonly outbound: Outbound
  /** The name of the server, if it is known. */
  readonly peer: string | undefined
  readonly publish: (notification: Notification) => void
  readonly report: Decoding.Report
  readonly scope: Scope.Scope
  /** Completes when the server has acknowledged or refused the first subscription. */
  readonly opened: Deferred.Deferred<void>
  /** Lets only one change of the filter run at a time. */
  readonly turns: Semaphore.Semaphore
  readonly filter: Ref.Ref<Filter.Filter>
  readonly current: Ref.Ref<Current>
  /**
   * The names of the changes in the last report about changes that the server does not announce. With them, a server that refuses again and
   * again is reported only once.
   */
  readonly unannounced: Ref.Ref<string>
  /** At most two subscriptions, by the ids of their current requests: the newest, and the one that the newest will replace. */
  readonly requests: Map<string, Subscription>
  /** Functions that are called each time that a broken subscription is open again. */
  readonly reopenings: Set<() => void>
}

/** Makes the wait for the server interruptible if the caller is interruptible. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes the subscription, which is not open yet. When a broken subscription is open again, `publish` gets every change that the server may
 * have reported meanwhile. Changes that the server does not announce are reported, except when a call fails because of them. The
 * subscription ends when the scope closes.
 */
export const make = (
  outbound: Outbound,
  { serverCapabilities, serverInfo }: Pick<ServerFacts, "serverCapabilities" | "serverInfo">,
  publish: (notification: Notification) => void,
  report: Decoding.Report
): Effect.Effect<Listen, never, Scope.Scope> => {
  const lists = Subscriptions.supported(everyList, serverCapabilities)
  const given = { outbound, peer: serverInfo?.name, publish, report }
  return Effect.map(notOpen(lists), (state) => {
    const self: Self = { ...given, ...state }
    return {
      include: (name, keys, onReopened) => include(self, name, keys, onReopened),
      acknowledge: (params) => onAcknowledged(self, params),
      cancelled: (params) => cancelled(self, params),
      open: open(self),
      opened: Deferred.await(self.opened),
      subscribe: (uri) => subscribe(self, uri),
      unsubscribe: (uri) => change(self, (restore) => remove(self, RESOURCES, [uri], restore))
    }
  })
}

/** Makes the state in which no subscription is open yet, and the changes of these lists are wanted. */
const notOpen = Effect.fnUntraced(function*(lists: Subscriptions.SubscriptionFilter) {
  return {
    scope: yield* Effect.scope,
    opened: yield* Deferred.make<void>(),
    turns: Semaphore.make(),
    filter: yield* Ref.make(Filter.make(lists)),
    current: yield* Ref.make<Current>({ newest: undefined, running: undefined }),
    unannounced: yield* Ref.make(""),
    requests: new Map<string, Subscription>(),
    reopenings: new Set<() => void>()
  }
})

const everyList: Subscriptions.SubscriptionFilter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true
}

const open = (self: Self): Effect.Effect<void> =>
  Effect.flatMap(Ref.get(self.filter), ({ lists }) =>
    Effect.asVoid(Effect.forkIn(
      Effect.ensuring(
        Effect.zipRight(
          Effect.fork(Effect.interruptible(Effect.delay(unsubscribed(self, Object.keys(lists), SILENT), SILENCE))),
          Effect.catchAll(
            change(self, (restore) => replace(self, restore)),
            (error) => refused(self, lists, error)
          )
        ),
        Deferred.succeed(self.opened, undefined)
      ),
      self.scope
    )))

const subscribe = (self: Self, uri: string): Effect.Effect<void, CallError> =>
  change(
    self,
    (restore) =>
      Effect.flatMap(Ref.get(self.filter), (filter) =>
        Filter.has(filter, RESOURCES, uri) ? Effect.void : add(self, RESOURCES, [uri], restore, uri))
  )

const include = (
  self: Self,
  name: string,
  keys: ReadonlyArray<string> | undefined,
  onReopened: () => void
): Effect.Effect<void, CallError, Scope.Scope> =>
  change(self, (restore) =>
    Effect.flatMap(add(self, name, keys, restore, name), () => {
      // Several callers may give the same function, and each of them ends separately, so each gets a function of its own.
      const reopened = () => onReopened()
      self.reopenings.add(reopened)
      return Effect.addFinalizer(() => {
        self.reopenings.delete(reopened)
        const removing = Effect.ignore(change(self, (restore) => remove(self, name, keys, restore)))
        // The scope does not wait, because the server may need a long time to acknowledge the smaller subscription.
        return Effect.forkIn(Effect.interruptible(removing), self.scope)
      })
    }))

/** Runs one change of the filter at a time. The change can be interrupted only while it waits for the server. */
const change = <A, R>(
  self: Self,
  run: (restore: Restore) => Effect.Effect<A, CallError, R>
): Effect.Effect<A, CallError, R> => self.turns.run(Effect.uninterruptibleMask(run))

/** Adds a member to the filter. When the server does not accept the member, the error names `what`. */
const add = Effect.fnUntraced(function*(
  self: Self,
  name: string,
  keys: ReadonlyArray<string> | undefined,
  restore: Restore,
  what: string
) {
  const [filter, hasChanged] = Filter.add(yield* Ref.get(self.filter), name, keys)
  yield* Ref.set(self.filter, filter)
  if (!hasChanged) return
  const subscribing = Effect.filterOrFail(
    replace(self, restore),
    (acknowledged) => Filter.isAcknowledged(acknowledged, name, keys),
    () => notAcknowledged(what)
  )
  yield* Effect.onError(
    subscribing,
    () => Ref.update(self.filter, (filter) => Filter.remove(filter, name, keys)[0])
  )
})

const remove = Effect.fnUntraced(function*(
  self: Self,
  name: string,
  keys: ReadonlyArray<string> | undefined,
  restore: Restore
) {
  const [filter, hasChanged] = Filter.remove(yield* Ref.get(self.filter), name, keys)
  yield* Ref.set(self.filter, filter)
  if (hasChanged) yield* replace(self, restore)
})

/** Replaces the subscription by a new subscription for the current filter. Returns what the server has acknowledged. */
const replace = Effect.fnUntraced(function*(self: Self, restore: Restore) {
  const last = yield* Ref.get(self.current)
  const filter = Filter.wireOf(yield* Ref.get(self.filter))
  if (Filter.isEmpty(filter)) {
    yield* Ref.set(self.current, { newest: undefined, running: undefined })
    yield* end(last)
    return filter
  }
  const subscription: Subscription = {
    filter,
    cancelled: yield* Deferred.make<void>(),
    firstAcknowledged: yield* Deferred.make<Subscriptions.SubscriptionFilter, CallError>(),
    acknowledged: undefined,
    isOpen: false,
    failures: 0
  }
  return yield* handOver(self, last, subscription, restore)
})

const end = ({ running }: Current): Effect.Effect<void> =>
  running === undefined ? Effect.void : Fiber.interruptFork(running)

/**
 * Opens a subscription. When the server acknowledges it, ends the last subscription. When the server does not acknowledge it, the last
 * subscription continues.
 */
const handOver = Effect.fnUntraced(function*(
  self: Self,
  last: Current,
  subscription: Subscription,
  restore: Restore
) {
  const fiber = yield* start(self, subscription)
  return yield* Effect.onExit(restore(Deferred.await(subscription.firstAcknowledged)), (exit) => {
    const { newest, running } = last
    if (Exit.isSuccess(exit)) {
      if (newest?.isOpen === false) onGap(self, exit.value)
      return end(last)
    }
    // `keepOpen` of the last subscription stops when its request ends while it is not the newest subscription.
    const hasEnded = running === undefined || EffectInternals.exitOf(running) !== undefined
    return Ref.set(self.current, last).pipe(
      Effect.zipRight(Fiber.interruptFork(fiber)),
      Effect.zipRight(newest !== undefined && hasEnded ? start(self, newest) : Effect.void)
    )
  })
})

/** Makes a subscription the newest, and starts the fiber that keeps it open. */
const start = (self: Self, newest: Subscription): Effect.Effect<Fiber.RuntimeFiber<void>> =>
  Ref.update(self.current, (current): Current => ({ ...current, newest })).pipe(
    Effect.zipRight(Effect.forkIn(Effect.interruptible(keepOpen(self, newest)), self.scope)),
    Effect.tap((running) => Ref.set(self.current, { newest, running }))
  )

/** Opens the subscription again after each end, until `Reopening` decides to stop or reports that the server refuses the subscription. */
const keepOpen = Effect.fnUntraced(function*(self: Self, subscription: Subscription) {
  while (true) {
    const began = yield* Clock.currentTimeMillis
    const exit = yield* Effect.either(request(self, subscription))
    if ((yield* Ref.get(self.current)).newest !== subscription) return
    const { acknowledged, failures, filter, firstAcknowledged } = subscription
    const next = Reopening.afterEnd({
      wasOpen: yield* Deferred.isDone(firstAcknowledged),
      acknowledged,
      error: Either.isLeft(exit) ? exit.left : undefined,
      began,
      failures
    }, yield* Clock.currentTimeMillis)
    if (next._tag === "Refuse") yield* Deferred.fail(firstAcknowledged, next.error)
    if (next._tag !== "Reopen") return
    if (next.report !== undefined) yield* refused(self, filter, next.report)
    subscription.failures = next.after.failures
    yield* Effect.sleep(Duration.seconds(next.after.seconds * (yield* Random.nextRange(0.5, 1))))
  }
})

const request = (self: Self, subscription: Subscription): Effect.Effect<unknown, CallError> =>
  Effect.flatMap(Deferred.make<void>(), (cancelled) => {
    const notifications = subscription.filter
    let key = ""
    const onId = (id: RequestId): void => {
      self.requests.set(key = String(id), subscription)
    }
    subscription.cancelled = cancelled
    subscription.acknowledged = undefined
    return raceFirst(
      Effect.ensuring(
        self.outbound.request(Methods.listen.name, { notifications }, { timeout: Duration.infinity, onId }),
        Effect.sync(() => {
          self.requests.delete(key)
          subscription.isOpen = false
        })
      ),
      // Some servers send a result after they have cancelled the request.
      Effect.zipRight(Deferred.await(cancelled), Effect.sleep(RESULT_WAIT))
    )
  })

const onAcknowledged = (self: Self, params: Params | undefined): Effect.Effect<void> =>
  Effect.flatMap(Ref.get(self.current), ({ newest }) => {
    const { decodeParams, name } = Methods.acknowledged
    const { problem, value } = Decoding.decodeParams(name, decodeParams, params)
    const reported = problem === undefined ? Effect.void : self.report(problem)
    const id = Subscriptions.idOf(params)
    const subscription = id === undefined ? newest : self.requests.get(String(id))
    return subscription === undefined || value === undefined
      ? reported
      : Effect.zipRight(reported, acknowledge(self, subscription, value.notifications))
  })

/** Handles that the server has acknowledged the current request of a subscription. */
const acknowledge = Effect.fnUntraced(
  function*(self: Self, subscription: Subscription, acknowledged: Subscriptions.SubscriptionFilter) {
    const { filter, firstAcknowledged } = subscription
    subscription.acknowledged = acknowledged
    subscription.isOpen = true
    const isFirst = yield* Deferred.succeed(firstAcknowledged, acknowledged)
    if (!isFirst) onGap(self, acknowledged)
    // After the first acknowledgement, only missing lists are reported, because the call that has added another member fails itself.
    const promised = isFirst ? (yield* Ref.get(self.filter)).lists : filter
    const missing = Filter.missing(acknowledged, filter, Object.keys(promised))
    yield* unsubscribed(self, missing, "it has not acknowledged that it does")
  }
)

const cancelled = (self: Self, params: Params | undefined): Effect.Effect<void> =>
  Effect.suspend(() => {
    const subscription = isRequestId(params?.requestId) ? self.requests.get(String(params.requestId)) : undefined
    if (subscription === undefined) return Effect.void
    subscription.isOpen = false
    return Effect.asVoid(Deferred.succeed(subscription.cancelled, undefined))
  })

/** Publishes a change for everything that the server has acknowledged, because a broken subscription is open again. */
const onGap = ({ publish, reopenings }: Self, acknowledged: Subscriptions.SubscriptionFilter): void => {
  for (const { method, params } of Subscriptions.changes(acknowledged)) publish(notification(method, params))
  for (const onReopened of reopenings) onReopened()
}

const refused = (self: Self, filter: Subscriptions.SubscriptionFilter, error: CallError): Effect.Effect<void> =>
  error instanceof ConnectionClosed ? Effect.void : unsubscribed(self, Object.keys(filter), error.message)

/** Reports the changes that the server does not announce, unless the same changes were reported last. */
const unsubscribed = (self: Self, changes: ReadonlyArray<string>, reason: string): Effect.Effect<void> =>
  Effect.flatMap(
    Ref.getAndSet(self.unannounced, changes.join()),
    (last) =>
      changes.length === 0 || changes.join() === last
        ? Effect.void
        : self.report(Diagnostic.Unsubscribed({ peer: self.peer, changes, reason }))
  )

const notAcknowledged = (what: string): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The server did not acknowledge the subscription to "${what.slice(0, 200)}"`
  })
