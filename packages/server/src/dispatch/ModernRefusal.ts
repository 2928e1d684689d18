/**
 * Why a server that was given no modern revision refuses a modern message: in conversations (`EraOfConversation`) and in single
 * HTTP requests (`EraOfPost`).
 *
 * The error is one of the legacy era. A client of both eras that got an error of a modern server, such as -32022, would
 * not fall back to `initialize`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import * as Era from "@effect-mcp/protocol/Era"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { MethodNotFound, UnsupportedVersion } from "@effect-mcp/protocol/McpError"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import { quotable } from "../runtime/Subject.js"

/**
 * `undefined` for a legacy message, and for one that names a revision that the server supports in its own era. `header` is
 * the `MCP-Protocol-Version` of an HTTP request.
 */
export const of = (
  message: Request | Notification,
  versions: ReadonlyArray<string>,
  header?: string
): McpError | undefined => {
  if (Era.ofMessage(message, header) === "legacy") return undefined
  const { method, params } = message
  if (method === Methods.discover.name) return new MethodNotFound({ method })
  const named = (params?._meta as Record<string, unknown> | undefined)?.[Era.VERSION_KEY]
  const requested = typeof named === "string" ? named : header ?? ""
  return versions.includes(requested)
    ? undefined
    : new UnsupportedVersion({ requested: quotable(requested), supported: versions })
}
