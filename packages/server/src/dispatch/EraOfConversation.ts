/**
 * Chooses the era that serves the messages of a conversation: legacy from `initialize` on. Before that, the first message
 * decides, as `protocol/Era` classifies it. `ModernRefusal` has the answer to a modern one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Side } from "@effect-mcp/jsonrpc/Side"
import type { Version } from "@effect-mcp/protocol/Version"
import type { Connection } from "../legacy/Connection.js"
import type { Serving } from "../legacy/Serve.js"
import * as ModernRefusal from "./ModernRefusal.js"

/** The server's side of one conversation. */
export const side = (legacy: Serving, connection: Connection, versions: ReadonlyArray<Version>): Side => ({
  onRequest: (request, incoming) => {
    const isLegacy = connection.accepted || connection.handshake !== undefined
    const error = isLegacy ? undefined : ModernRefusal.of(request, versions)
    return error === undefined
      ? legacy.request(connection, request, incoming)
      : legacy.refuse(connection, request, incoming, error)
  },
  onNotification: (notification, channel) => legacy.notification(connection, notification, channel),
  neverWaits: legacy.neverWaits
})
