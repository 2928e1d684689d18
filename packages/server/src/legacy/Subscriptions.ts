/**
 * `resources/subscribe` and `resources/unsubscribe`, and the notifications to the clients that have subscribed. A
 * subscription lasts as long as the conversation.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { SubscribeParams } from "@effect-mcp/protocol/legacy/Subscriptions"
import { InvalidRequest, ResourceNotFound } from "@effect-mcp/protocol/McpError"
import * as Effect from "effect/Effect"
import * as Subject from "../runtime/Subject.js"
import type { Connection } from "./Connection.js"

/** The default limit of the subscriptions of one client. */
export const MAX_SUBSCRIPTIONS = 1024

export const subscribe = (
  connection: Connection,
  { uri }: SubscribeParams,
  options: { readonly isKnown: (uri: string) => boolean; readonly max: number | undefined }
): Effect.Effect<{}, InvalidRequest | ResourceNotFound> => {
  const subscriptions = connection.subscriptions ??= new Set()
  if (subscriptions.has(uri)) return Effect.succeed({})
  if (!options.isKnown(uri)) return Effect.fail(new ResourceNotFound({ uri: Subject.quotable(uri) }))
  const max = options.max ?? MAX_SUBSCRIPTIONS
  if (subscriptions.size >= max) {
    return Effect.fail(new InvalidRequest({ message: `Too many subscriptions: the limit is ${max}` }))
  }
  subscriptions.add(uri)
  return Effect.succeed({})
}

export const unsubscribe = (connection: Connection, { uri }: SubscribeParams): Effect.Effect<{}> => {
  connection.subscriptions?.delete(uri)
  return Effect.succeed({})
}

/** Notifies a client that the content of a resource has changed, if the client has subscribed to it. */
export const updated = (connection: Connection, uri: string): Effect.Effect<void> =>
  connection.subscriptions?.has(uri) === true
    ? connection.announce(resourceUpdated, { uri }, uri)
    : Effect.void

// Without the capability check: a client that could subscribe also receives updates of resources that were added later.
const resourceUpdated: typeof Methods.resourceUpdated = { ...Methods.resourceUpdated, capability: undefined }
