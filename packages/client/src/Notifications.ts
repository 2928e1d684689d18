/**
 * The notifications that a server sends, and the diagnostics of its session, as streams for any number of listeners. A
 * listener gets everything from when it begins to listen to the end of the session. One that is slower than the server
 * loses the oldest values; other listeners lose nothing.
 *
 * @since 0.1.0
 */
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import type { LoggingMessage } from "@effect-mcp/protocol/Logging"
import type * as Stream from "effect/Stream"

/**
 * How many values wait for a slow listener before it loses the oldest; fewer when they have more than 16 Mi characters.
 *
 * @category constants
 */
export const CAPACITY = 256

/**
 * A list of the server's that can change.
 *
 * @category models
 */
export type Change = "tools" | "resources" | "prompts"

/**
 * Every `ClientSession` has these streams.
 *
 * @category models
 */
export interface Notifications {
  /** Every notification that belongs to no call of the client, in the order of arrival. */
  readonly notifications: Stream.Stream<Notification>
  /**
   * The server's log messages. Invalid ones are left out.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logs: Stream.Stream<LoggingMessage>
  /** Which of the server's lists have changed. */
  readonly listChanges: Stream.Stream<Change>
  /** The URIs of subscribed resources whose content has changed. */
  readonly resourceUpdates: Stream.Stream<string>
  /** The ids of URL elicitations that the user has completed. */
  readonly elicitationsCompleted: Stream.Stream<string>
  /**
   * Events that ended nothing but that an operator may want to know: late answers, errors without an id. They are logged
   * while there is no listener.
   */
  readonly diagnostics: Stream.Stream<Diagnostic>
}
