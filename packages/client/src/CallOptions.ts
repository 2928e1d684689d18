/**
 * The options of a call to a server: how long it waits, what receives its progress, and the `_meta` that it carries. The
 * verbs of `ClientSession`, `ClientSessionGroup` and `Typed` take them.
 *
 * @since 0.1.0
 */
import type { RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"

/**
 * The options of every call.
 *
 * @category models
 */
export interface CallOptions extends RequestOptions {
  /** `_meta` of the request. */
  readonly meta?: JsonObject | undefined
  /**
   * How many times the call is sent again, with a new id, when its answer was lost: the stream of an HTTP response broke
   * before the answer, and the server may have run the call. It is sent again only when it may run twice: it lists, reads,
   * gets a prompt or completes, or it calls a tool that the server lists as read-only or idempotent. The client waits before
   * each attempt; each has the `timeout` of the call anew, and all together its `maxTotalTimeout`. When no attempt is answered, the call
   * fails with the first loss.
   *
   * Only from 2026-07-28 on: before, a broken stream is resumed. A call that needs input counts anew in each round.
   * Default: the `maxRetries` of the client.
   */
  readonly maxRetries?: number | undefined
  /**
   * Whether this call may have the result of an earlier call, and leave its own result for later calls, from 2026-07-28 on.
   * Default: the `cache` of the client.
   */
  readonly cache?: boolean | undefined
  /**
   * The capabilities that this call declares, in place of those of the client's features. Only from 2026-07-28 on, and for
   * `request` with a name, whose caller answers an `input_required` result itself.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * The lowest level of the log messages that this call wants, from 2026-07-28 on. Default: that of `setLoggingLevel`.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logLevel?: LoggingLevel | undefined
}

/**
 * The options of a call that lists one page.
 *
 * @category models
 */
export interface ListOptions extends CallOptions {
  /** Where the page begins: the `nextCursor` of the page before it. */
  readonly cursor?: string | undefined
}

/**
 * The options of a call to a tool.
 *
 * @category models
 */
export interface CallToolOptions extends CallOptions {
  /**
   * Whether the result is checked against the tool's output schema. Default: the `checkOutputs` option of the client.
   */
  readonly checkOutput?: boolean | undefined
}
