/**
 * A conversation without a reader, which `dispatch/Conversations` begins: its owner, an HTTP session (`legacy/HttpSession`) or a stream
 * of HTTP+SSE (`legacy/Sse`), passes each message to the conversation. Where several nodes serve an endpoint, another node can take over
 * the session.
 */
import type * as Effect from "effect/Effect"
import type { Channel } from "../../jsonrpc/Side.js"
import type { Delivery, Sender } from "../../jsonrpc/Transport.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { InternalError } from "../../protocol/McpError.js"
import type { Version } from "../../protocol/Version.js"
import type { HttpRefusal } from "../HttpRefusal.js"

/**
 * Begins a conversation whose messages the caller passes to `receive`. The conversation runs in the server's context until the caller
 * closes it. `onEnd` runs when the server closes the conversation.
 */
export type Open = (
  sender: Sender,
  onEnd: () => void,
  options?: {
    /** The revisions that the conversation may have. Default: all that the server supports. */
    readonly versions?: ReadonlyArray<Version> | undefined
    /** The session of the conversation, where several nodes may serve it one after another. */
    readonly shared?: SharedSession | undefined
  }
) => SessionConversation

/** A session that one node of a server serves, and that another can take over. */
export interface SharedSession {
  /** What `store` got last, at another node; `undefined` for a session that begins here. */
  readonly facts: JsonObject | undefined
  /** Whether another node has taken the session over. */
  readonly isLost: boolean
  /** Stores what another node needs. Requests that change these facts wait until `store` has ended, and fail with its error. */
  readonly store: (facts: JsonObject) => Effect.Effect<void, InternalError | HttpRefusal>
}

/** An open conversation that its caller feeds. */
export interface SessionConversation {
  /** Handles one more message of the client; its response leaves on the channel. Default: the sender. */
  readonly receive: (incoming: Delivery, channel?: Channel) => void
  /**
   * Ends the conversation: interrupts the handlers, and answers what they have not answered. Can be run again; the first
   * run waits for the end.
   */
  readonly close: Effect.Effect<void>
  /** The revision that both sides agreed on; `undefined` before `initialize` has succeeded. */
  readonly version: () => Version | undefined
  /** The number of the client's requests that have no response yet. */
  readonly inFlight: () => number
}
