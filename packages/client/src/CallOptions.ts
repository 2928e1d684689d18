/**
 * The options of a call to a server: how long it waits, what receives its progress, and the `_meta` that it carries. The
 * verbs of `ClientSession`, `ClientSessionGroup` and `Typed` take them.
 *
 * @since 0.1.0
 */
import type { RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { JsonObject } from "@effect-mcp/protocol/Json"

/** The options of every call. */
export interface CallOptions extends RequestOptions {
  /** `_meta` of the request. */
  readonly meta?: JsonObject | undefined
}

/** The options of a call that lists one page. */
export interface ListOptions extends CallOptions {
  /** Where the page begins: the `nextCursor` of the page before it. */
  readonly cursor?: string | undefined
}

/** The options of a call to a tool. */
export interface CallToolOptions extends CallOptions {
  /**
   * Whether the result is checked against the tool's output schema. Default: the `checkOutputs` option of the client.
   */
  readonly checkOutput?: boolean | undefined
}
