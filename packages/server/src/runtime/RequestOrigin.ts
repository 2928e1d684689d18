import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Effect from "effect/Effect"
import type { Principal } from "../Principal.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestOrigin {
  /** The id of the session, where sessions have one. */
  readonly sessionId: string | undefined
  /** The headers of the HTTP request, their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly principal: Principal | undefined
  /**
   * Ends the HTTP stream that the answer travels on; the client comes back for the rest. Does nothing where it could not
   * come back.
   */
  readonly closeStream: Effect.Effect<void>
}

/**
 * No more than a pipe.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: RequestOrigin = { sessionId: undefined, headers: {}, principal: undefined, closeStream: Effect.void }

/**
 * An HTTP request that nothing is said on but its status.
 *
 * @since 0.1.0
 * @category constructors
 */
export const request = (
  headers: RequestOrigin["headers"],
  principal: Principal | undefined,
  sessionId: string | undefined
): RequestOrigin => ({ sessionId, headers, principal, closeStream: Effect.void })

/**
 * What brought the messages of this channel.
 *
 * @since 0.1.0
 * @category getters
 */
export const of = (channel: Channel): RequestOrigin => (channel.origin ?? none) as RequestOrigin
