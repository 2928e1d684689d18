/**
 * `resources/subscribe` and `resources/unsubscribe`: which resources a client wants to hear of, as long as its conversation
 * goes on; and telling it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 * @since 0.1.0
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { SubscribeParams } from "@effect-mcp/protocol/legacy/Subscriptions"
import { InvalidRequest, ResourceNotFound } from "@effect-mcp/protocol/McpError"
import * as Effect from "effect/Effect"
import * as Reply from "../runtime/Reply.js"
import type { Connection } from "./Connection.js"

/**
 * How many resources a client may subscribe to.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_SUBSCRIPTIONS = 1024

/**
 * @since 0.1.0
 * @category handlers
 */
export const subscribe = (
  connection: Connection,
  { uri }: SubscribeParams,
  options: { readonly isKnown: (uri: string) => boolean; readonly max: number | undefined }
): Effect.Effect<{}, InvalidRequest | ResourceNotFound> => {
  const subscriptions = connection.subscriptions ??= new Set()
  if (subscriptions.has(uri)) return Effect.succeed({})
  if (!options.isKnown(uri)) return Effect.fail(new ResourceNotFound({ uri: Reply.quotable(uri) }))
  const max = options.max ?? MAX_SUBSCRIPTIONS
  if (subscriptions.size >= max) {
    return Effect.fail(new InvalidRequest({ message: `Too many subscriptions: there are ${max}` }))
  }
  subscriptions.add(uri)
  return Effect.succeed({})
}

/**
 * @since 0.1.0
 * @category handlers
 */
export const unsubscribe = (connection: Connection, { uri }: SubscribeParams): Effect.Effect<{}> => {
  connection.subscriptions?.delete(uri)
  return Effect.succeed({})
}

/**
 * Tells a client that the content of a resource is new, if it wants to hear of it. Once, however often, while it does not
 * read.
 *
 * @since 0.1.0
 * @category telling
 */
export const updated = (connection: Connection, uri: string): Effect.Effect<void> =>
  connection.subscriptions?.has(uri) === true
    ? connection.announce(promised, { uri }, uri)
    : Effect.void

// Whoever could subscribe is told, also of resources that came after it was told what there is.
const promised: typeof Methods.resourceUpdated = { ...Methods.resourceUpdated, capability: undefined }
