/**
 * Reads the envelope of a modern message, and checks that the headers of its POST, if there are any, repeat what the body says. The
 * first of several differences is the one that the client can correct first.
 *
 * `Http` and the `serve` of a dispatcher read POSTs so, and `Serve` reads the messages of a pipe, which have no headers. Headers that
 * repeat arguments of tools are checked by `Serve`, which knows the tools.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import type * as Message from "@effect-mcp/jsonrpc/Message"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Envelope from "@effect-mcp/protocol/modern/Envelope"
import * as Headers from "@effect-mcp/protocol/modern/Headers"
import * as Either from "effect/Either"
import type * as HttpExchange from "../http/HttpExchange.js"
import * as HandlerName from "../runtime/HandlerName.js"

/** What was read of a POST before its request is served. */
export interface Posted {
  readonly envelope: Read
  /** What must repeat arguments; `undefined` where there are no headers. */
  readonly headers: HttpExchange.Headers | undefined
}

/** The envelope of a message, or why the message is refused. */
export type Read = Either.Either<Envelope.Envelope, McpError.McpError>

export const envelopeOf = (params: Message.Params | undefined, versions: ReadonlyArray<string>): Read =>
  Either.mapLeft(Envelope.decode(params, versions), (error) =>
    error._tag === "UnsupportedVersion"
      ? new McpError.UnsupportedVersion({
        requested: HandlerName.quotable(error.requested),
        supported: error.supported
      })
      : error)

/** The envelope of a request; left where the headers differ from the body, too. */
export const envelopeOfRequest = (
  request: Message.Request,
  headers: HttpExchange.Headers | undefined,
  versions: ReadonlyArray<string>
): Read => {
  if (headers === undefined) return envelopeOf(request.params, versions)
  const differs = differentVersion(request.params, headers)
  if (differs !== undefined) return Either.left(differs)
  const envelope = envelopeOf(request.params, versions)
  if (Either.isLeft(envelope)) return envelope
  const checked = Headers.check(request, (name) => headers[name])
  return Either.isLeft(checked) ? Either.left(checked.left) : envelope
}

/** Why a notification does not fit to the headers, if there are any. */
export const refusalOfNotification = (
  { params }: Message.Notification,
  headers: HttpExchange.Headers | undefined,
  versions: ReadonlyArray<string>
): McpError.McpError | undefined => {
  if (headers === undefined) return undefined
  const version = headers[VERSION]?.trim()
  if (version !== undefined && !versions.includes(version)) {
    return new McpError.UnsupportedVersion({ requested: version.slice(0, 128), supported: versions })
  }
  return differentVersion(params, headers)
}

const differentVersion = (
  params: Message.Params | undefined,
  headers: HttpExchange.Headers
): McpError.HeaderMismatch | undefined => {
  const header = headers[VERSION]?.trim()
  if (header === undefined) {
    return new McpError.HeaderMismatch({ message: `Header mismatch: ${Headers.VERSION} is missing` })
  }
  const version = Envelope.versionOf(params)
  return version === undefined || version === header
    ? undefined
    : new McpError.HeaderMismatch({ message: `Header mismatch: ${Headers.VERSION} differs from the body` })
}

const VERSION = Headers.VERSION.toLowerCase()
