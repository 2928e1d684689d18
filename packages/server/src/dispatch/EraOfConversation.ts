/**
 * Chooses the era that serves each message of a conversation. A request whose envelope names a modern revision is modern,
 * whatever came before it; any other one is legacy. So clients of both eras may share one pipe. A server of one era refuses
 * the messages of the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { RequestSide, Side } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { Version } from "@effect-mcp/protocol/Version"
import type { Connection } from "../legacy/Connection.js"
import type { LegacyServe as Legacy } from "../legacy/Serve.js"
import type { ModernServe as Modern } from "../modern/Serve.js"
import * as EraOfMessage from "./EraOfMessage.js"

/** The eras that a server serves: one or both. */
export type Eras =
  | { readonly legacy: Legacy; readonly modern: Modern | undefined }
  | { readonly legacy: undefined; readonly modern: Modern }

/** The server's side of one conversation. */
export const side = ({ legacy, modern }: Eras, connection: Connection, versions: ReadonlyArray<Version>): Side => {
  if (legacy === undefined) return onlyModern(modern!, versions)
  const ofLegacy = legacy.to(connection)
  if (modern === undefined) return onlyLegacy(legacy, ofLegacy, connection, versions)
  return {
    ...ofLegacy,
    of: (request) => EraOfMessage.of(request, versions) === "modern" ? modern.piped : ofLegacy,
    onNotification: (notification, channel) =>
      EraOfMessage.of(notification, versions) === "modern"
        ? modern.notification(notification, channel, false)
        : legacy.notification(connection, notification, channel)
  }
}

const onlyLegacy = (
  legacy: Legacy,
  side: RequestSide,
  connection: Connection,
  versions: ReadonlyArray<Version>
): Side => ({
  ...side,
  onRequest: (request, incoming) => {
    const error = isLegacy(connection) ? undefined : EraOfMessage.refusedByLegacy(request, versions)
    return error === undefined
      ? side.onRequest(request, incoming)
      : legacy.refuse(connection, request, incoming, error)
  },
  onNotification: (notification, channel) => legacy.notification(connection, notification, channel)
})

const onlyModern = (modern: Modern, versions: ReadonlyArray<Version>): Side => ({
  ...modern.piped,
  onRequest: (request, incoming) =>
    request.method === Methods.initialize.name && EraOfMessage.of(request, versions) === "legacy"
      // SHOULD name the supported revisions to a client that sends `initialize`
      ? modern.refuseUnknown(request, incoming, EraOfMessage.unsupported(request, versions))
      : modern.piped.onRequest(request, incoming),
  onNotification: (message, channel) => modern.notification(message, channel, false)
})

const isLegacy = ({ accepted, handshake }: Connection): boolean => accepted || handshake !== undefined
