/**
 * What every handler can use while it handles a message: the facts of the message and of its sender, and functions to send progress, log
 * messages and notifications. The service is the same in both protocol eras: revisions up to 2025-11-25 (legacy) and 2026-07-28 (modern).
 * `runtime/HandlerContext` implements it.
 *
 * `ServerSession` adds requests to the client.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { RequestId } from "../jsonrpc/Message.js"
import type { Outbound } from "../jsonrpc/Outbound.js"
import type { ClientCapabilities } from "../protocol/Capabilities.js"
import type * as Extension from "../protocol/Extension.js"
import type { Implementation } from "../protocol/Implementation.js"
import type { JsonObject } from "../protocol/Json.js"
import type { LoggingLevel } from "../protocol/Logging.js"
import type { InvalidParams } from "../protocol/McpError.js"
import type { RequestMeta } from "../protocol/Meta.js"
import type { Version } from "../protocol/Version.js"
import type { Principal } from "./Authenticator.js"

/**
 * What is known of the client that sent a message.
 *
 * @category models
 */
export interface ClientOfRequest {
  /**
   * The name that the client gave itself, for people to read. It proves nothing, because a client may give itself any name. `undefined`
   * when the client gave none.
   */
  readonly info: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities
  /**
   * Whether the client declared all of these capabilities. For a part of an extension: whether the part can be used with this client,
   * because both sides have declared the extension and the revision has the part.
   */
  readonly supports: (required: ClientCapabilities | Extension.Part) => boolean
  /**
   * The settings that client and server have declared for an extension. `None` when one of them has not declared the extension, or when the
   * revision does not have it. Fails when the settings of the client do not conform to their schema.
   */
  readonly extension: <E extends Extension.Extension.Any>(
    extension: E
  ) => Effect.Effect<Option.Option<Extension.Extension.SettingsOf<E>>, InvalidParams>
  /**
   * The revision that the client requested in `initialize`, which may differ from the agreed revision; `undefined` where there was no
   * handshake.
   */
  readonly requestedVersion: string | undefined
  /**
   * The lowest level of the log messages that the client receives; `undefined` when the client has set no level.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logLevel: LoggingLevel | undefined
  /**
   * The same value for all requests of one client, that is, of one session, of one pipe, or of one principal. `undefined` where the server
   * cannot tell its clients apart.
   */
  readonly key: object | string | undefined
  /** The id of the HTTP session; `undefined` on other transports, and where there are no sessions. */
  readonly sessionId: string | undefined
  /** Closes when the session of the client ends; `undefined` with revision 2026-07-28, and on a server that keeps no sessions. */
  readonly sessionScope: Scope.Scope | undefined
}

/** @category models */
export interface RequestContextService {
  /** The id of the request, as the client sent it; `undefined` for a notification. */
  readonly id: RequestId | undefined
  readonly method: string
  /** The revision of the request. */
  readonly version: Version
  /** `_meta` of the message, with all its members. */
  readonly meta: RequestMeta
  /** The headers of the HTTP request, by their names in lower case; empty on other transports. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The identity of the sender; `undefined` for an anonymous user, and on a server without an authenticator. */
  readonly principal: Principal | undefined
  /** What is known of the client. */
  readonly client: ClientOfRequest
  /**
   * The id of the task that the call has become; `undefined` where the call is not a task, and before its task begins. Do not log the id:
   * on a server without users, anyone who knows the id can read the task, answer its questions and cancel it.
   */
  readonly taskId: string | undefined
  /**
   * The reason that the client gave when it cancelled the request. `None` as long as the client has not cancelled the request, and when it
   * gave no reason. For finalizers of the handler, for example in `Effect.onInterrupt`.
   */
  readonly cancelReason: Effect.Effect<Option.Option<string>>
  /**
   * Sends the progress of the request, if the client requested it; otherwise it sends nothing. `progress` must be greater than in the call
   * before, or else the call is dropped. The effect is suspended while the client reads more slowly than the handler sends. In a task,
   * `message` also becomes the message of the task's status; without `message`, the numbers do.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /**
   * Sends a log message, if the client wants messages of this level. `data` is any JSON value; it must not contain secrets.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Effect.Effect<void>
  /**
   * Sends a notification on the channel of this request. After the response has been sent, the notification is dropped. A notification of
   * an extension is also dropped when the client has not declared the extension.
   */
  readonly notify: {
    <Params>(notification: Extension.Notification<"server", Params>, params: NoInfer<Params>): Effect.Effect<void>
    (method: string, params?: JsonObject): Effect.Effect<void>
  }
  /**
   * Sends a notification outside of any request. The notification is dropped when the client has gone, and with revision 2026-07-28 or
   * later.
   */
  readonly standalone: Pick<Outbound, "notify">
  /**
   * These effects notify this client that a list has changed, if the server advertised such notifications. The server itself notifies all
   * clients when a feature is added or removed. These effects are for lists that differ from client to client, as with `Feature.visible`.
   * With revision 2026-07-28 they reach the subscriptions of the client: on a pipe the subscriptions of the same pipe, over HTTP the
   * subscriptions of the same user. They do not reach an anonymous client over HTTP. `Registry.changed` notifies all clients.
   */
  readonly changed: {
    readonly tools: Effect.Effect<void>
    readonly resources: Effect.Effect<void>
    readonly prompts: Effect.Effect<void>
    /**
     * Notifies this client that the content of a resource has changed, if the client has subscribed to the resource. Does nothing with
     * revision 2026-07-28. `McpServer.resourceUpdated` notifies all clients that have subscribed.
     */
    readonly resource: (uri: string) => Effect.Effect<void>
  }
  /**
   * Notifies the client that a person has finished at a page that the server asked the client to open. Any handler may send this. Does
   * nothing with revision 2026-07-28, which has no such notification.
   */
  readonly elicitationComplete: (elicitationId: string) => Effect.Effect<void>
  /**
   * Ends the HTTP stream that would carry the response, while the handler goes on. The client resumes the stream later. Does nothing on
   * other transports, and where the client cannot resume the stream.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  readonly closeStream: Effect.Effect<void>
}

/** @category tags */
export class RequestContext extends Context.Tag("@effect-mcp/core/RequestContext")<
  RequestContext,
  RequestContextService
>() {}
