/**
 * Subscriptions to resources with legacy revisions (up to 2025-11-25): the methods `resources/subscribe` and `resources/unsubscribe`, and
 * the notifications to the subscribers. A subscription ends with the conversation of its client. `Era` serves the two methods with this
 * module, and `dispatch/Dispatch` reports updates. `ServerSide` subscribes again after this node has taken a session over.
 * `dispatch/PipeClients` ends the subscriptions of a client that another client has replaced.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import type { SubscribeParams } from "../../protocol/legacy/Subscriptions.js"
import { InvalidRequest, ResourceNotFound } from "../../protocol/McpError.js"
import * as UriKey from "../../protocol/rules/UriKey.js"
import type { HandlerContext } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import type { Server } from "../runtime/Server.js"
import type { Connection, Subscription } from "./Connection.js"

export const subscribe = (
  handler: HandlerContext<Connection>,
  { uri }: SubscribeParams,
  options: NonNullable<Server["subscriptions"]>
): Effect.Effect<{}, unknown> => {
  const notFound = Effect.fail(new ResourceNotFound({ uri: HandlerName.quotable(uri) }))
  const key = UriKey.of(uri)
  return joined(handler.facts, key, () =>
    options.isKnown(uri)
      ? Effect.flatMap(
        options.hidden([uri]),
        (hidden) => hidden.has(uri) ? notFound : begin(handler, uri, key, options)
      )
      : notFound)
}

/**
 * If the client has no subscription to this resource, runs `begin`. If a subscription of the client to this resource is beginning, waits
 * until it has begun or was refused, and then runs `begin`. If the subscription has already begun, does nothing.
 */
const joined = (
  { subscriptions }: Connection,
  key: string,
  begin: () => Effect.Effect<{}, unknown>
): Effect.Effect<{}, unknown> => {
  const present = subscriptions?.get(key)
  if (present === undefined) return begin()
  return present.begun === undefined
    ? Effect.succeed({})
    : Effect.zipRight(Deferred.await(present.begun), Effect.suspend(begin))
}

const begin = (
  handler: HandlerContext<Connection>,
  uri: string,
  key: string,
  options: NonNullable<Server["subscriptions"]>
): Effect.Effect<{}, unknown> => {
  const { facts: connection } = handler
  const subscriptions = connection.subscriptions ??= new Map()
  // Before this code runs, another request of the client may have begun the subscription.
  if (subscriptions.has(key)) return joined(connection, key, () => begin(handler, uri, key, options))
  const { max } = options
  if (subscriptions.size >= max) {
    return Effect.fail(new InvalidRequest({ message: `Too many subscriptions: the limit is ${max}` }))
  }
  const beginning = options.begin(uri, handler)
  if (beginning === undefined) {
    subscriptions.set(key, { uri, end: Effect.void, begun: undefined })
    return Effect.succeed({})
  }
  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(EffectInternals.childOf(connection.ownScope), (own) => {
      const begun = EffectInternals.deferred<void>()
      const subscription: Subscription = { uri, end: Scope.close(own, Exit.void), begun }
      subscriptions.set(key, subscription)
      return restore(Scope.extend(beginning, own)).pipe(
        Effect.onError((cause) => {
          if (subscriptions.get(key) === subscription) subscriptions.delete(key)
          return Scope.close(own, Exit.failCause(cause))
        }),
        Effect.ensuring(Effect.sync(() => {
          subscription.begun = undefined
          EffectInternals.done(begun, Effect.void)
        })),
        Effect.as({})
      )
    })
  )
}

export const unsubscribe = (connection: Connection, { uri }: SubscribeParams): Effect.Effect<{}> => {
  const key = UriKey.of(uri)
  const end = connection.subscriptions?.get(key)?.end
  connection.subscriptions?.delete(key)
  return Effect.as(end ?? Effect.void, {})
}

/** Ends all subscriptions of a client that has disconnected. */
export const endAll = (connection: Connection): Effect.Effect<void> =>
  Effect.suspend(() => {
    const ends = Array.from(connection.subscriptions?.values() ?? [], ({ end }) => end)
    connection.subscriptions?.clear()
    return Effect.forEach(ends, (end) => end, { concurrency: "unbounded", discard: true })
  })

/**
 * Notifies a client that the content of a resource has changed, if the client has subscribed to the resource. The notification contains the
 * URI as the client sent it.
 */
export const updated = (uri: string): (connection: Connection) => Effect.Effect<void> => {
  const key = UriKey.of(uri)
  return (connection) => {
    const sent = connection.subscriptions?.get(key)?.uri ?? connection.unrestored?.find((one) => UriKey.of(one) === key)
    return sent === undefined ? Effect.void : announce(connection, sent)
  }
}

const announce = (connection: Connection, uri: string): Effect.Effect<void> =>
  connection.announce(resourceUpdated, { uri }, uri)

/** Notifies a client that all its subscribed resources may have new content. */
export const allUpdated = (connection: Connection): Effect.Effect<void> =>
  Effect.forEach(
    // While this node restores a session, a resource may be in both lists.
    new Set([...urisOf(connection), ...connection.unrestored ?? []]),
    (uri) => announce(connection, uri),
    { discard: true }
  )

/** Gives the URIs of the client's subscriptions, as the client sent them. */
const urisOf = ({ subscriptions }: Connection): ReadonlyArray<string> =>
  Array.from(subscriptions?.values() ?? [], ({ uri }) => uri)

// Without `capability`, so that there is no check of the capability. Every client that has subscribed gets updates.
const resourceUpdated: typeof Methods.resourceUpdated = { ...Methods.resourceUpdated, capability: undefined }
