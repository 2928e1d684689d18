/**
 * What the server tells without being asked, for any number of listeners. A listener that is slower than the server loses
 * the oldest, and nothing else does.
 *
 * @since 0.1.0
 */
import type { Incident } from "@effect-mcp/jsonrpc/Incident"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LoggingMessage } from "@effect-mcp/protocol/Logging"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * How much a listener may fall behind before it loses the oldest.
 *
 * @since 0.1.0
 * @category limits
 */
export const CAPACITY = 256

/**
 * @since 0.1.0
 * @category models
 */
export interface Notifications {
  readonly publish: (notification: Notification) => void
  readonly report: (incident: Incident) => Effect.Effect<void>
  /** Every notification that belongs to no call of ours, in the order of arrival, from now on. */
  readonly all: Stream.Stream<Notification>
  /** What the server logs; messages that are none are left out. */
  readonly logs: Stream.Stream<LoggingMessage>
  /** What was odd and ended nothing: answers to nothing, errors without an id. */
  readonly incidents: Stream.Stream<Incident>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Notifications, never, Scope.Scope> = Effect.gen(function*() {
  const notifications = yield* hub<Notification>()
  const incidents = yield* hub<Incident>()
  const all = Stream.fromPubSub(notifications)
  return {
    publish: (notification) => {
      notifications.unsafeOffer(notification)
    },
    report: (incident) => Effect.asVoid(PubSub.publish(incidents, incident)),
    all,
    logs: Stream.filterMap(all, ({ method, params }) =>
      method === Methods.message.name ? Either.getRight(Methods.message.decodeParams(params)) : Option.none()),
    incidents: Stream.fromPubSub(incidents)
  }
})

const hub = <A>(): Effect.Effect<PubSub.PubSub<A>, never, Scope.Scope> =>
  Effect.acquireRelease(PubSub.sliding<A>(CAPACITY), PubSub.shutdown)
