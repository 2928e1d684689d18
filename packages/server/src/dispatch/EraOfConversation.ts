/**
 * Chooses the era that serves the messages of a conversation: legacy from `initialize` on. Before that, the first message
 * decides, as `protocol/Era` classifies it.
 *
 * No modern revision is served yet, so a modern message gets an error of the legacy era. It must be one that a client does
 * not take for an error of a modern server, or the client would not fall back to `initialize`: never -32022.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Request } from "@effect-mcp/jsonrpc/Message"
import type { Side } from "@effect-mcp/jsonrpc/Side"
import * as Era from "@effect-mcp/protocol/Era"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { MethodNotFound, UnsupportedVersion } from "@effect-mcp/protocol/McpError"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { Version } from "@effect-mcp/protocol/Version"
import type { Connection } from "../legacy/Connection.js"
import type { Serving } from "../legacy/Serve.js"
import * as Reply from "../runtime/Reply.js"

/** The server's side of one conversation. */
export const side = (legacy: Serving, connection: Connection, versions: ReadonlyArray<Version>): Side => ({
  onRequest: (request, incoming) => {
    const isLegacy = connection.accepted || connection.handshake !== undefined
    const error = isLegacy || Era.ofMessage(request) === "legacy" ? undefined : unsupported(request, versions)
    return error === undefined
      ? legacy.request(connection, request, incoming)
      : legacy.refuse(connection, request, incoming, error)
  },
  onNotification: (notification, channel) => legacy.notification(connection, notification, channel)
})

/** Why a modern request is refused; `undefined` for one that names a revision which the server speaks in its own era. */
const unsupported = ({ method, params }: Request, versions: ReadonlyArray<string>): McpError | undefined => {
  if (method === Methods.discover.name) return new MethodNotFound({ method })
  const named = (params?._meta as Record<string, unknown>)[Era.VERSION_KEY]
  const requested = typeof named === "string" ? named : ""
  return versions.includes(requested)
    ? undefined
    : new UnsupportedVersion({ requested: Reply.quotable(requested), supported: versions })
}
