/**
 * Chooses the era that serves each message of a conversation. A request whose envelope names a modern revision is modern,
 * whatever came before it; any other one is legacy. So clients of both eras may share one pipe. A server of one era refuses
 * the messages of the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { Side } from "@effect-mcp/jsonrpc/Side"
import type { Era } from "@effect-mcp/protocol/Era"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { Version } from "@effect-mcp/protocol/Version"
import type { Connection } from "../legacy/Connection.js"
import type { Serving as Legacy } from "../legacy/Serve.js"
import type { Serving as Modern } from "../modern/Serve.js"
import * as EraOfMessage from "./EraOfMessage.js"
import * as ModernRefusal from "./ModernRefusal.js"

/** The eras that a server serves: one or both. */
export type Eras =
  | { readonly legacy: Legacy; readonly modern: Modern | undefined }
  | { readonly legacy: undefined; readonly modern: Modern }

/** The server's side of one conversation. */
export const side = ({ legacy, modern }: Eras, connection: Connection, versions: ReadonlyArray<Version>): Side => {
  if (legacy === undefined) return onlyModern(modern!, versions)
  if (modern === undefined) return onlyLegacy(legacy, connection, versions)
  return {
    onRequest: (request, incoming) =>
      EraOfMessage.of(request, versions) === "modern"
        ? modern.request(request, incoming)
        : legacy.request(connection, request, incoming),
    onNotification: (notification, channel) =>
      EraOfMessage.of(notification, versions) === "modern"
        ? modern.notification(notification, channel)
        : legacy.notification(connection, notification, channel),
    neverWaits: legacy.neverWaits,
    // The names of the methods come first: for most requests nothing else is looked at.
    hasOwnLimit: (request) =>
      modern.hasOwnLimit(request)
        ? EraOfMessage.of(request, versions) === "modern"
        : legacy.hasOwnLimit(request) && EraOfMessage.of(request, versions) === "legacy",
    unavailableCode: (request) => codeIn(EraOfMessage.of(request, versions))
  }
}

const onlyLegacy = (legacy: Legacy, connection: Connection, versions: ReadonlyArray<Version>): Side => ({
  onRequest: (request, incoming) => {
    const error = isLegacy(connection) ? undefined : ModernRefusal.of(request, versions)
    return error === undefined
      ? legacy.request(connection, request, incoming)
      : legacy.refuse(connection, request, incoming, error)
  },
  onNotification: (notification, channel) => legacy.notification(connection, notification, channel),
  neverWaits: legacy.neverWaits,
  hasOwnLimit: legacy.hasOwnLimit
})

const onlyModern = (modern: Modern, versions: ReadonlyArray<Version>): Side => ({
  onRequest: (request, incoming) =>
    request.method === Methods.initialize.name && EraOfMessage.of(request, versions) === "legacy"
      // SHOULD name the supported revisions to a client that sends `initialize`
      ? modern.refuse(request, incoming, EraOfMessage.unsupported(request, versions))
      : modern.request(request, incoming),
  onNotification: modern.notification,
  neverWaits: modern.neverWaits,
  hasOwnLimit: modern.hasOwnLimit,
  unavailableCode: () => codeIn("modern")
})

// From 2026-07-28 on, SHOULD NOT send a code from -32000 to -32019.
const codeIn = (era: Era): number => era === "modern" ? JsonRpcError.INTERNAL_ERROR : JsonRpcError.UNAVAILABLE

const isLegacy = ({ accepted, handshake }: Connection): boolean => accepted || handshake !== undefined
