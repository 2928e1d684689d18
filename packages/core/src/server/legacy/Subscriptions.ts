/**
 * The subscriptions of the legacy era: `resources/subscribe` and `resources/unsubscribe`, and the notifications to the clients that have
 * subscribed. A subscription lasts as long as the conversation with its client.
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
  return joined(handler.facts, uri, () =>
    options.isKnown(uri)
      ? Effect.flatMap(options.hidden([uri]), (hidden) => hidden.has(uri) ? notFound : begin(handler, uri, options))
      : notFound)
}

/** The subscription that the client has, once it has begun; when it was refused, or there is none, `begin`. */
const joined = (
  { subscriptions }: Connection,
  uri: string,
  begin: () => Effect.Effect<{}, unknown>
): Effect.Effect<{}, unknown> => {
  const present = subscriptions?.get(uri)
  if (present === undefined) return begin()
  return present.begun === undefined
    ? Effect.succeed({})
    : Effect.zipRight(Deferred.await(present.begun), Effect.suspend(begin))
}

const begin = (
  handler: HandlerContext<Connection>,
  uri: string,
  options: NonNullable<Server["subscriptions"]>
): Effect.Effect<{}, unknown> => {
  const { facts: connection } = handler
  const subscriptions = connection.subscriptions ??= new Map()
  // Another request may have begun it meanwhile.
  if (subscriptions.has(uri)) return joined(connection, uri, () => begin(handler, uri, options))
  const { max } = options
  if (subscriptions.size >= max) {
    return Effect.fail(new InvalidRequest({ message: `Too many subscriptions: the limit is ${max}` }))
  }
  const beginning = options.begin(uri, handler)
  if (beginning === undefined) {
    subscriptions.set(uri, { end: Effect.void, begun: undefined })
    return Effect.succeed({})
  }
  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(EffectInternals.childOf(connection.ownScope), (own) => {
      const begun = EffectInternals.deferred<void>()
      const subscription: Subscription = { end: Scope.close(own, Exit.void), begun }
      subscriptions.set(uri, subscription)
      return restore(Scope.extend(beginning, own)).pipe(
        Effect.onError((cause) => {
          if (subscriptions.get(uri) === subscription) subscriptions.delete(uri)
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
  const end = connection.subscriptions?.get(uri)?.end
  connection.subscriptions?.delete(uri)
  return Effect.as(end ?? Effect.void, {})
}

/** Ends all subscriptions of a client that has gone. */
export const endAll = (connection: Connection): Effect.Effect<void> =>
  Effect.suspend(() => {
    const ends = Array.from(connection.subscriptions?.values() ?? [], ({ end }) => end)
    connection.subscriptions?.clear()
    return Effect.forEach(ends, (end) => end, { concurrency: "unbounded", discard: true })
  })

/** Notifies a client that the content of a resource has changed, if the client has subscribed to it. */
export const updated = (connection: Connection, uri: string): Effect.Effect<void> =>
  connection.subscriptions?.has(uri) === true || connection.unrestored?.includes(uri) === true
    ? connection.announce(resourceUpdated, { uri }, uri)
    : Effect.void

/** Notifies a client that all resources that it has subscribed to may have new content. */
export const allUpdated = (connection: Connection): Effect.Effect<void> =>
  Effect.forEach(
    // While a session is restored, a resource may be in both.
    new Set([...connection.subscriptions?.keys() ?? [], ...connection.unrestored ?? []]),
    (uri) => updated(connection, uri),
    { discard: true }
  )

// Without the capability check: a client that could subscribe also receives updates of resources that were added later.
const resourceUpdated: typeof Methods.resourceUpdated = { ...Methods.resourceUpdated, capability: undefined }
