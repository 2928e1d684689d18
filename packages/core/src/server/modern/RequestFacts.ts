/**
 * The facts about one modern message (revision 2026-07-28) and its client. `Http` and `ServerSide` read these facts from the `Envelope` of
 * each message, that is, from the members of `_meta` that describe the client. The headers of a POST must repeat values of the body. This
 * module checks the headers, in the order in which a client can correct its mistakes. `Era` checks the headers that repeat arguments of
 * tools.
 *
 * The object also stores the state of the request, for `Questions`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import type * as Context from "effect/Context"
import * as Either from "effect/Either"
import type * as Message from "../../jsonrpc/Message.js"
import type { Channel } from "../../jsonrpc/Side.js"
import type { ClientCapabilities } from "../../protocol/Capabilities.js"
import type { Implementation } from "../../protocol/Implementation.js"
import type { LoggingLevel } from "../../protocol/Logging.js"
import * as McpError from "../../protocol/McpError.js"
import * as Envelope from "../../protocol/modern/Envelope.js"
import * as Headers from "../../protocol/modern/Headers.js"
import type { ModernVersion } from "../../protocol/Version.js"
import type { Hints } from "../CacheHints.js"
import type { Headers as Sent } from "../http/HttpExchange.js"
import type { ClientFacts } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { KeptSession } from "../runtime/SessionLayer.js"
import type { Round } from "./Questions.js"

/**
 * The facts about one message and its client, and the state of the request. Mutable fields: `Era` sets `hints`, and sets `hasEnded` when
 * the handler has ended. `round` is made when first needed.
 */
export class RequestFacts implements ClientFacts {
  readonly version: ModernVersion
  readonly requestedVersion = undefined
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly hasDeclared = true
  readonly logLevel: LoggingLevel | undefined
  readonly services: Context.Context<never> | undefined
  readonly sessionScope = undefined
  readonly accepted = true
  /** The cache hints of this result; `undefined` when the result has no hints of its own. */
  hints: Hints | undefined
  hasEnded = false
  /** The questions of this round, and the answers of earlier rounds; `undefined` before they are needed. */
  round: Round | undefined

  constructor(
    { capabilities, clientInfo, logLevel, version }: Envelope.Envelope,
    private readonly channel: Channel,
    /** Whether the message came in a POST. */
    readonly isPosted: boolean,
    /** The headers of the POST, some of which repeat arguments of a tool; `undefined` on other transports. */
    readonly headers?: Sent | undefined,
    readonly pipe?: KeptSession | undefined
  ) {
    this.version = version
    this.clientInfo = clientInfo
    this.clientCapabilities = capabilities
    this.logLevel = logLevel
    this.services = pipe?.services
  }

  get clientKey(): object | string | undefined {
    // The server cannot distinguish HTTP clients without a principal.
    return this.channel.origin === undefined ? this.channel : RequestOrigin.principalOf(this.channel)
  }

  /**
   * Identifies the client, to find its subscriptions: the pipe, or over HTTP the id of the principal. `undefined` for an HTTP client
   * without a principal.
   */
  get subscriber(): Channel | string | undefined {
    return this.isPosted ? RequestOrigin.principalOf(this.channel) : this.channel
  }
}

/** The facts from a POST that are read before the server serves the request. */
export interface Posted {
  readonly envelope: Read
  /** The headers of the POST; `undefined` where the transport has no headers. Some headers must repeat arguments. */
  readonly headers: Sent | undefined
}

/** The envelope of a message, or the error with which the server refuses the message. */
export type Read = Either.Either<Envelope.Envelope, McpError.McpError>

export const envelopeOf = (params: Message.Params | undefined, versions: ReadonlyArray<string>): Read =>
  Either.mapLeft(Envelope.decode(params, versions), (error) =>
    error._tag === "UnsupportedVersion"
      ? new McpError.UnsupportedVersion({
        requested: HandlerName.quotable(error.requested),
        supported: error.supported
      })
      : error)

/** Reads the envelope of a request. Also gives an error when the headers differ from the body. */
export const envelopeOfRequest = (
  request: Message.Request,
  headers: Sent | undefined,
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

/** Gives the error of a notification whose headers differ from its body; `undefined` when they agree or there are no headers. */
export const refusalOfNotification = (
  { params }: Message.Notification,
  headers: Sent | undefined,
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
  headers: Sent
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
