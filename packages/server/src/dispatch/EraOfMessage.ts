/**
 * The era of one message, as `protocol/Era` classifies it, with what the server supports: an envelope that names a legacy
 * revision of the server makes no message modern. And the errors with which a server of one era refuses messages of the other one, in
 * conversations (`EraOfConversation`), in single HTTP requests (`HttpTransports`) and in other single messages (`SingleMessage`).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import { isRequest } from "@effect-mcp/jsonrpc/Message"
import * as Era from "@effect-mcp/protocol/Era"
import { initialize } from "@effect-mcp/protocol/legacy/Methods"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { MethodNotFound, UnsupportedVersion } from "@effect-mcp/protocol/McpError"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import { quotable } from "../runtime/Subject.js"

/** `header` is the `MCP-Protocol-Version` of an HTTP request. */
export const of = (message: Request | Notification, versions: ReadonlyArray<string>, header?: string): Era.Era => {
  if (Era.ofMessage(message, header) === "legacy") return isModernInitialize(message, header) ? "modern" : "legacy"
  const named = namedBy(message)
  return typeof named === "string" && Version.isLegacy(named) && versions.includes(named) ? "legacy" : "modern"
}

/**
 * Chooses the era that serves a message which belongs to no conversation, or the error with which a server of one era refuses the
 * message.
 */
export const chooser = (
  versions: ReadonlyArray<string>
): (message: Request | Notification, header?: string) => Era.Era | McpError => {
  if (!versions.some(Version.isLegacy)) {
    return (message, header) =>
      isRequest(message) && message.method === initialize.name && of(message, versions, header) === "legacy"
        // SHOULD name the supported revisions to a client that sends `initialize`
        ? unsupported(message, versions)
        : "modern"
  }
  return versions.some(Version.isModern)
    ? (message, header) => of(message, versions, header)
    : (message, header) => refusedByLegacy(message, versions, header) ?? "legacy"
}

/** The error of `initialize`, for a client that knows only legacy revisions. */
export const unsupported = ({ params }: Request, versions: ReadonlyArray<string>): UnsupportedVersion => {
  const requested = params?.protocolVersion
  return new UnsupportedVersion({
    requested: typeof requested === "string" ? quotable(requested) : "",
    supported: versions
  })
}

/**
 * The error of a modern message, from a server without modern revisions: one of the legacy era, because a client of both eras that got
 * an error of a modern server, such as -32022, would not fall back to `initialize`. `undefined` for a legacy message, and for a message
 * that names a revision of the server in its own era.
 */
export const refusedByLegacy = (
  message: Request | Notification,
  versions: ReadonlyArray<string>,
  header?: string
): McpError | undefined => {
  if (Era.ofMessage(message, header) === "legacy") return undefined
  const { method } = message
  if (method === Methods.discover.name) return new MethodNotFound({ method })
  const named = namedBy(message)
  const requested = typeof named === "string" ? named : header ?? ""
  return versions.includes(requested)
    ? undefined
    : new UnsupportedVersion({ requested: quotable(requested), supported: versions })
}

// Over HTTP, a client that also sends the header of a modern revision is modern: it has no method `initialize`.
const isModernInitialize = (message: Request | Notification, header: string | undefined): boolean =>
  header !== undefined && Version.isModern(header) && namedBy(message) === header

const namedBy = ({ params }: Request | Notification): unknown =>
  (params?._meta as Record<string, unknown> | null | undefined)?.[Era.VERSION_KEY]
