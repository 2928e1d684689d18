/**
 * The subscriptions of the legacy era: `resources/subscribe` and `resources/unsubscribe`, and the notifications to the clients that have
 * subscribed. A subscription lasts as long as the conversation with its client. `Era` serves the two methods with this module,
 * `dispatch/Dispatch` reports updates, `ServerSide` subscribes again after a takeover, and `dispatch/PipeClients` ends the subscriptions of
 * a client that has gone.
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

/** Waits for the subscription of the client to this resource, if there is one. When it was refused, or when there is none, runs `begin`. */
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
  // Another request of the client may have begun the subscription meanwhile.
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

/** Ends all subscriptions of a client that has gone. */
export const endAll = (connection: Connection): Effect.Effect<void> =>
  Effect.suspend(() => {
    const ends = Array.from(connection.subscriptions?.values() ?? [], ({ end }) => end)
    connection.subscriptions?.clear()
    return Effect.forEach(ends, (end) => end, { concurrency: "unbounded", discard: true })
  })

/**
 * Notifies a client that the content of a resource has changed, if the client has subscribed to the resource. The notification has the URI
 * that the client sent.
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

/** Notifies a client that all resources that it has subscribed to may have new content. */
export const allUpdated = (connection: Connection): Effect.Effect<void> =>
  Effect.forEach(
    // While a session is restored, a resource may be in both lists.
    new Set([...urisOf(connection), ...connection.unrestored ?? []]),
    (uri) => announce(connection, uri),
    { discard: true }
  )

/** The URIs that the client has subscribed to, as the client sent them. */
const urisOf = ({ subscriptions }: Connection): ReadonlyArray<string> =>
  Array.from(subscriptions?.values() ?? [], ({ uri }) => uri)

// Without the check of the capability: a client that could subscribe also gets updates of resources that were added later.
const resourceUpdated: typeof Methods.resourceUpdated = { ...Methods.resourceUpdated, capability: undefined }
