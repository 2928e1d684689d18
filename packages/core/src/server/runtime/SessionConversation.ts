/**
 * The interface of a conversation without a transport. An HTTP session (`legacy/HttpSession`) or a stream of HTTP+SSE (`legacy/Sse`) begins
 * the conversation, and passes each message to it. `dispatch/Conversations` implements the interface. Where several nodes serve an
 * endpoint, another node can take over the session.
 */
import type * as Effect from "effect/Effect"
import type { Channel } from "../../jsonrpc/Side.js"
import type { Delivery, Sender } from "../../jsonrpc/Transport.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { InternalError } from "../../protocol/McpError.js"
import type { Version } from "../../protocol/Version.js"
import type { HttpRefusal } from "../HttpRefusal.js"

/**
 * Begins a conversation. The caller passes the messages to `receive`. The conversation runs in the server's context until the caller closes
 * it. The server calls `onEnd` when it closes the conversation.
 */
export type Open = (
  sender: Sender,
  onEnd: () => void,
  options?: {
    /** The revisions that the conversation may have. Default: all revisions of the server. */
    readonly versions?: ReadonlyArray<Version> | undefined
    /** The session of the conversation, on a server with several nodes; `undefined` on a server with one node. */
    readonly shared?: SharedSession | undefined
  }
) => SessionConversation

/** A session that one node of a server serves, and that another node can take over. */
export interface SharedSession {
  /** The last facts that another node has stored with `store`; `undefined` for a session that begins at this node. */
  readonly facts: JsonObject | undefined
  /** Whether another node has taken the session over. */
  readonly isLost: boolean
  /**
   * Stores the facts that another node needs to take the session over. A request that changes these facts waits until this effect has
   * ended. When this effect fails, the request fails with the same error.
   */
  readonly store: (facts: JsonObject) => Effect.Effect<void, InternalError | HttpRefusal>
}

/** An open conversation. The caller passes the messages to it. */
export interface SessionConversation {
  /** Handles a message of the client, and sends the response on `channel`. By default, `channel` is the sender of the conversation. */
  readonly receive: (incoming: Delivery, channel?: Channel) => void
  /**
   * Ends the conversation: interrupts the handlers, and answers the unanswered requests. You may run this effect several times. The first
   * run waits until the conversation has ended.
   */
  readonly close: Effect.Effect<void>
  /** The revision that client and server have agreed on; `undefined` before `initialize` has succeeded. */
  readonly version: () => Version | undefined
  /** How many requests of the client have no response yet. */
  readonly inFlight: () => number
}
