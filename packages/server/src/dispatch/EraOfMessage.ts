/**
 * The era of one message, as `protocol/Era` classifies it, with what the server supports: an envelope that names a legacy
 * revision of the server makes no message modern.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import * as Era from "@effect-mcp/protocol/Era"
import { UnsupportedVersion } from "@effect-mcp/protocol/McpError"
import * as Version from "@effect-mcp/protocol/Version"
import { quotable } from "../runtime/Subject.js"

/** `header` is the `MCP-Protocol-Version` of an HTTP request. */
export const of = (message: Request | Notification, versions: ReadonlyArray<string>, header?: string): Era.Era => {
  if (Era.ofMessage(message, header) === "legacy") return isModernInitialize(message, header) ? "modern" : "legacy"
  const named = namedBy(message)
  return typeof named === "string" && Version.isLegacy(named) && versions.includes(named) ? "legacy" : "modern"
}

/** The error of `initialize`, for a client that knows only legacy revisions. */
export const unsupported = ({ params }: Request, versions: ReadonlyArray<string>): UnsupportedVersion => {
  const requested = params?.protocolVersion
  return new UnsupportedVersion({
    requested: typeof requested === "string" ? quotable(requested) : "",
    supported: versions
  })
}

// Over HTTP, a client that also sends the header of a modern revision is modern: it has no method `initialize`.
const isModernInitialize = (message: Request | Notification, header: string | undefined): boolean =>
  header !== undefined && Version.isModern(header) && namedBy(message) === header

const namedBy = ({ params }: Request | Notification): unknown =>
  (params?._meta as Record<string, unknown> | null | undefined)?.[Era.VERSION_KEY]
