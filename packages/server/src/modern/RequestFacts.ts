/**
 * What is known of one modern message and its client: the envelope of the message says it. The same object keeps how far the request has
 * come, for `Questions`, which ends the request with a question.
 */
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type { Envelope } from "@effect-mcp/protocol/modern/Envelope"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import type * as Context from "effect/Context"
import type { Hints } from "../CacheOptions.js"
import type { Headers } from "../http/HttpExchange.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { ClientFacts, Session } from "../runtime/Session.js"
import type { KeptSession } from "../runtime/SessionLayer.js"
import type { Round } from "./Questions.js"

export type ModernSession = Session<RequestFacts>

/**
 * What is known of one message and its client, and how far its request has come. Its mutable fields: `hints` is set by the
 * feature that serves it, `hasEnded` when its handler has ended, `round` when something needs it.
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
  /** The hints for caches that this result has. */
  hints: Hints | undefined
  hasEnded = false
  /** The questions of this run, and the answers of earlier ones. */
  round: Round | undefined

  constructor(
    { capabilities, clientInfo, logLevel, version }: Envelope,
    private readonly channel: Channel,
    /** Whether the message came in a POST of its own. */
    readonly isPosted: boolean,
    /** The headers of the POST, of which some repeat arguments. */
    readonly headers?: Headers | undefined,
    readonly pipe?: KeptSession | undefined
  ) {
    this.version = version
    this.clientInfo = clientInfo
    this.clientCapabilities = capabilities
    this.logLevel = logLevel
    this.services = pipe?.services
  }

  get clientKey(): object | string | undefined {
    // Anonymous HTTP clients cannot be told apart.
    return this.channel.origin === undefined ? this.channel : RequestOrigin.principalOf(this.channel)
  }

  /** Whose subscriptions are those of this client: those of the pipe, or of the principal. */
  get subscriber(): Channel | string | undefined {
    return this.isPosted ? RequestOrigin.principalOf(this.channel) : this.channel
  }
}
