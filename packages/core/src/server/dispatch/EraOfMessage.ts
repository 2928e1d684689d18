/**
 * Decides whether a message is legacy (revisions up to 2025-11-25) or modern (revision 2026-07-28): its protocol era. `protocol/Version`
 * classifies the message without the server. This module also considers the revisions of the server: a modern message whose `_meta` names a
 * legacy revision of the server counts as legacy. The module also makes the errors with which a server of one era refuses messages of the
 * other era.
 *
 * `side` chooses the era of each message of a conversation, so clients of both eras may share one pipe. `chooser` chooses the era of a
 * message that belongs to no conversation, for `HttpTransports` and `Dispatch`. `PipeClients` calls `of`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import { isRequest, type Notification, type Request } from "../../jsonrpc/Message.js"
import type { RequestSide, Side } from "../../jsonrpc/Side.js"
import { initialize } from "../../protocol/legacy/Methods.js"
import { type McpError, MethodNotFound, UnsupportedVersion } from "../../protocol/McpError.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as Version from "../../protocol/Version.js"
import type { Connection } from "../legacy/Connection.js"
import type { LegacyServerSide } from "../legacy/ServerSide.js"
import type { ModernServerSide } from "../modern/ServerSide.js"
import { quotable } from "../runtime/HandlerName.js"

/** Gives the era of a message. `header` is the value of the HTTP header `MCP-Protocol-Version`. */
export const of = (message: Request | Notification, versions: ReadonlyArray<string>, header?: string): Version.Era => {
  if (Version.eraOfMessage(message, header) === "legacy") {
    // Over HTTP, a message whose header also names the modern revision is modern, even when its method is `initialize`.
    return header !== undefined && Version.isModern(header) && namedBy(message) === header ? "modern" : "legacy"
  }
  const named = namedBy(message)
  return typeof named === "string" && Version.isLegacy(named) && versions.includes(named) ? "legacy" : "modern"
}

/**
 * Makes a function for messages that belong to no conversation. The function gives the era that serves the message, or the error with which
 * a server of one era refuses the message.
 */
export const chooser = (
  versions: ReadonlyArray<string>
): (message: Request | Notification, header?: string) => Version.Era | McpError => {
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

/** Makes the error with which a server without legacy revisions answers `initialize`. */
export const unsupported = ({ params }: Request, versions: ReadonlyArray<string>): UnsupportedVersion => {
  const requested = params?.protocolVersion
  return new UnsupportedVersion({
    requested: typeof requested === "string" ? quotable(requested) : "",
    supported: versions
  })
}

/**
 * Makes the error with which a server without modern revisions refuses a modern message. This must not be an error that only modern servers
 * send, such as -32022. Otherwise a client of both eras would not fall back to `initialize`. Gives `undefined` for a legacy message, and
 * for a message that names a revision of the server.
 */
export const refusedByLegacy = (
  message: Request | Notification,
  versions: ReadonlyArray<string>,
  header?: string
): McpError | undefined => {
  if (Version.eraOfMessage(message, header) === "legacy") return undefined
  const { method } = message
  if (method === Methods.discover.name) return new MethodNotFound({ method })
  const named = namedBy(message)
  const requested = typeof named === "string" ? named : header ?? ""
  return versions.includes(requested)
    ? undefined
    : new UnsupportedVersion({ requested: quotable(requested), supported: versions })
}

const namedBy = ({ params }: Request | Notification): unknown =>
  (params?._meta as Record<string, unknown> | null | undefined)?.[Version.VERSION_KEY]

/** The eras that a server serves: one or both. */
export type Eras =
  | { readonly legacy: LegacyServerSide; readonly modern: ModernServerSide | undefined }
  | { readonly legacy: undefined; readonly modern: ModernServerSide }

/** Makes the functions that serve the messages of one conversation, each message in its own era. */
export const side = (
  { legacy, modern }: Eras,
  connection: Connection,
  versions: ReadonlyArray<Version.Version>
): Side => {
  // The connection of a conversation always has a scope.
  const piped = modern?.piped(connection.scope!)
  if (legacy === undefined) return onlyModern(modern!, piped!, versions)
  const ofLegacy = legacy.to(connection)
  if (piped === undefined) return onlyLegacy(legacy, ofLegacy, connection, versions)
  return {
    onRequest: ofLegacy.onRequest,
    neverWaits: ofLegacy.neverWaits,
    sideOf: (request) => of(request, versions) === "modern" ? piped : ofLegacy,
    onNotification: (notification, channel) =>
      of(notification, versions) === "modern"
        ? piped.onNotification(notification, channel)
        : legacy.notification(connection, notification, channel)
  }
}

const onlyLegacy = (
  legacy: LegacyServerSide,
  side: RequestSide,
  connection: Connection,
  versions: ReadonlyArray<Version.Version>
): Side => ({
  neverWaits: side.neverWaits,
  ownLimit: side.ownLimit,
  onRequest: (request, incoming) => {
    const error = isLegacy(connection) ? undefined : refusedByLegacy(request, versions)
    return error === undefined
      ? side.onRequest(request, incoming)
      : legacy.refuse(connection, request, incoming, error)
  },
  onNotification: (notification, channel) => legacy.notification(connection, notification, channel)
})

const onlyModern = (modern: ModernServerSide, piped: Side, versions: ReadonlyArray<Version.Version>): Side => ({
  ...piped,
  onRequest: (request, incoming) =>
    request.method === initialize.name && of(request, versions) === "legacy"
      // SHOULD name the supported revisions to a client that sends `initialize`
      ? modern.refuseUnknown(request, incoming, unsupported(request, versions))
      : piped.onRequest(request, incoming)
})

const isLegacy = ({ accepted, handshake }: Connection): boolean => accepted || handshake !== undefined
