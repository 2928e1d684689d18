/**
 * The part of a handler's `RequestContext` that both eras share: the facts of the message, and notifications to its sender.
 * The `ServerSession` of each era adds the client's facts, the log level, and requests to the client.
 *
 * A class with getters, because one is made for every request and most handlers read none of it. Its one mutable field is
 * the last progress that was sent.
 */
import type { Notification, Params, Request, RequestId } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import * as Progress from "@effect-mcp/jsonrpc/Progress"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type { ExtensionTable } from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Call } from "../Middleware.js"
import type { Principal } from "../Principal.js"
import type { RequestContextService } from "../RequestContext.js"
import type { ServerSessionService } from "../ServerSession.js"
import * as ExtensionCalls from "./ExtensionCalls.js"
import * as RequestOrigin from "./RequestOrigin.js"

/** Sends to the sender of one message, on the channel that the message came on. */
export interface RequestChannel extends Outbound {
  readonly channel: Channel
  /** Why the client has cancelled the request. */
  readonly cancelReason?: string | undefined
}

export abstract class RequestFacts {
  private lastProgress = -Infinity

  constructor(
    protected readonly received: Request | Notification,
    /** For a request, it sends until the response; for a notification, it sends outside of any request. */
    protected readonly outbound: RequestChannel
  ) {}

  abstract get version(): Version

  abstract get clientCapabilities(): ClientCapabilities

  /** The extensions that the server was given. */
  abstract get extensions(): ExtensionTable

  /** Sends requests to the client on the channel of the message. */
  protected abstract get back(): Outbound

  /** Sends `notifications/progress`, with only those parameters that the revision of the client knows. */
  protected abstract sendProgress(params: Params): Effect.Effect<void>

  get id(): RequestId | undefined {
    return (this.received as Request).id
  }

  get method(): string {
    return this.received.method
  }

  get call(): Call {
    return { id: this.id, method: this.method, params: this.received.params as JsonObject | undefined }
  }

  get meta(): RequestMeta {
    return (this.received.params?._meta ?? {}) as RequestMeta
  }

  get sessionId(): string | undefined {
    return this.origin.sessionId
  }

  get headers(): RequestOrigin.RequestOrigin["headers"] {
    return this.origin.headers
  }

  get principal(): Principal | undefined {
    return this.origin.principal
  }

  /** The services that the application gave with the HTTP request of the message. */
  get services(): RequestOrigin.RequestOrigin["services"] {
    return this.origin.services
  }

  /** The user that sent the message, as a service. */
  get user(): RequestOrigin.RequestOrigin["user"] {
    return this.origin.user
  }

  get closeStream(): Effect.Effect<void> {
    return this.origin.closeStream
  }

  get cancelReason(): RequestContextService["cancelReason"] {
    return Effect.sync(() => Option.fromNullable(this.outbound.cancelReason))
  }

  // Functions of getters, so that a function that was taken out of the session can still be called.
  get progress(): RequestContextService["progress"] {
    return (progress, options) =>
      Effect.suspend(() => {
        const params = Progress.toParams(this.meta.progressToken, { progress, ...options }, this.lastProgress)
        if (params === undefined) return Effect.void
        this.lastProgress = progress
        return this.sendProgress(params)
      })
  }

  get supports(): RequestContextService["supports"] {
    return (required) => ExtensionCalls.supports(this, required)
  }

  get extension(): RequestContextService["extension"] {
    return (extension) => Effect.suspend(() => ExtensionCalls.settings(this, extension))
  }

  get notify(): RequestContextService["notify"] {
    return (method: string | Extension.Notification, params?: any) =>
      Effect.suspend(() =>
        typeof method === "string"
          ? this.sendNotification(method, params)
          : ExtensionCalls.notify(this, (name, params) => this.sendNotification(name, params), method, params)
      )
  }

  get request(): ServerSessionService["request"] {
    return (method: string | Extension.Request, params?: any, options?: RequestOptions): Effect.Effect<any, any> =>
      Effect.suspend((): Effect.Effect<any, any> =>
        typeof method === "string"
          ? this.back.request(method, params, options)
          : ExtensionCalls.request(this, this.back.request, method, params, options)
      )
  }

  /** Sends a notification on the channel of the message. */
  protected sendNotification(method: string, params?: Params): Effect.Effect<void> {
    return this.outbound.notify(method, params)
  }

  private get origin(): RequestOrigin.RequestOrigin {
    return RequestOrigin.of(this.outbound.channel)
  }
}
