/**
 * What a handler holds while it serves one legacy request: the facts of its connection, and the request's own channel, on
 * which the client is told and asked. The one object behind `RequestContext` and `ServerSession`.
 *
 * @since 0.1.0
 */
import type { Notification, Request, RequestId } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import { none } from "@effect-mcp/jsonrpc/Outbound"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Logging from "@effect-mcp/protocol/Logging"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Root } from "@effect-mcp/protocol/Roots"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Question } from "../Ask.js"
import * as Ask from "../Ask.js"
import type { Call } from "../Middleware.js"
import type { Principal } from "../Principal.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { AskError, ServerSessionService } from "../ServerSession.js"
import * as Asking from "./Ask.js"
import type { Connection } from "./Connection.js"

/**
 * A channel to the client, and what it came over.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestChannel extends Outbound {
  readonly channel: Channel
}

/**
 * @since 0.1.0
 * @category models
 */
export class LegacyServerSession implements ServerSessionService {
  private last = -Infinity

  constructor(
    readonly connection: Connection,
    /** What came: a request, or a notification. */
    private readonly came: Request | Notification,
    /** The request's own channel, or the one beside all requests. */
    private readonly channel: RequestChannel,
    private readonly logs: boolean
  ) {}

  get id(): RequestId | undefined {
    return (this.came as Request).id
  }

  get method(): string {
    return this.came.method
  }

  /** What came, as middleware sees it. */
  get call(): Call {
    return { id: this.id, method: this.method, params: this.came.params }
  }

  get version(): LegacyVersion {
    return this.connection.version
  }

  get clientInfo(): Implementation | undefined {
    return this.connection.clientInfo
  }

  get clientCapabilities(): ClientCapabilities {
    return this.connection.clientCapabilities
  }

  get standalone(): Outbound {
    return this.connection.outbound
  }

  get supports(): ServerSessionService["supports"] {
    return (required) => Capabilities.missing(this.connection.clientCapabilities, required) === undefined
  }

  get sessionId(): string | undefined {
    return RequestOrigin.of(this.channel.channel).sessionId
  }

  get headers(): RequestOrigin.RequestOrigin["headers"] {
    return RequestOrigin.of(this.channel.channel).headers
  }

  get principal(): Principal | undefined {
    return RequestOrigin.of(this.channel.channel).principal
  }

  get closeStream(): Effect.Effect<void> {
    return RequestOrigin.of(this.channel.channel).closeStream
  }

  get meta(): RequestMeta {
    return (this.came.params?._meta ?? {}) as RequestMeta
  }

  // Functions of getters, so that who takes one out of the session can still call it.
  get progress(): ServerSessionService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const { progressToken } = this.meta
        // MUST increase with each notification (2025-11-25 basic/utilities/progress#progress-flow)
        if (progressToken === undefined || !(progress > this.last) || progress === Infinity) return Effect.void
        this.last = progress
        const { message, total } = options ?? {}
        return this.tell(Methods.progress, {
          progressToken,
          progress,
          ...(Number.isFinite(total) ? { total } : undefined),
          ...(message === undefined ? undefined : { message })
        })
      })
  }

  get log(): ServerSessionService["log"] {
    return (level, data, logger) =>
      Effect.suspend(() => {
        const threshold = this.connection.level
        if (!this.logs || (threshold !== undefined && !Logging.isAtLeast(level, threshold))) return Effect.void
        // There is no message without data, and JSON has no `undefined`.
        const told = { level, data: data === undefined ? null : data }
        return this.tell(Methods.message, logger === undefined ? told : { ...told, logger })
      })
  }

  get notify(): ServerSessionService["notify"] {
    return (method, params) => this.channel.notify(method, params)
  }

  get notifyStandalone(): ServerSessionService["notifyStandalone"] {
    return (method, params) => this.connection.outbound.notify(method, params)
  }

  get elicitationComplete(): ServerSessionService["elicitationComplete"] {
    return (elicitationId) =>
      Effect.suspend(() =>
        this.supports({ elicitation: { url: {} } })
          ? this.connection.outbound.notify(Methods.elicitationComplete.name, { elicitationId })
          : Effect.void
      )
  }

  get ask(): ServerSessionService["ask"] {
    return (questions, options) =>
      Effect.all(Record.map(questions, (question) => this.put(question, options))) as Effect.Effect<any, AskError>
  }

  get elicit(): ServerSessionService["elicit"] {
    return (options: any, request?: RequestOptions): Effect.Effect<any, AskError> =>
      Effect.suspend(() => this.put<any>(Ask.elicit(options), request))
  }

  get elicitUrl(): ServerSessionService["elicitUrl"] {
    return (options, request) => this.put(Ask.url(options), request)
  }

  get createMessage(): ServerSessionService["createMessage"] {
    return (params, request) => this.put(Ask.sample(params), request)
  }

  get listRoots(): Effect.Effect<ReadonlyArray<Root>, AskError> {
    return this.put(Ask.roots)
  }

  get ping(): Effect.Effect<void, AskError> {
    return Asking.ping(this.back)
  }

  get request(): ServerSessionService["request"] {
    return (method, params, options) => this.back.request(method, params, options)
  }

  /** The way to ask the client; none where its answer would find no conversation. */
  private get back(): Outbound {
    return this.connection.scope === undefined ? none : this.channel
  }

  private put<A>(question: Question<A>, options?: RequestOptions): Effect.Effect<A, AskError> {
    return Asking.ask(this.connection, this.back, question, options)
  }

  private tell<P extends object>(method: Method.Notification<string, P>, params: P): Effect.Effect<void> {
    return this.channel.notify(method.name, method.narrowParams(this.connection.version)(params) as JsonObject)
  }
}
