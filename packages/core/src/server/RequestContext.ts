/**
 * The service that every handler can use while it handles a message. The service contains facts about the message and its sender, and
 * functions to send progress, log messages and notifications. It has the same members for all protocol revisions. `runtime/HandlerContext`
 * implements the service.
 *
 * `ServerSession` is a larger service: it has all members of this service, and functions that send requests to the client.
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
 * The facts about the client that sent a message.
 *
 * @category models
 */
export interface ClientOfRequest {
  /**
   * The name and version that the client sent, for people to read. Do not trust them, because a client may send any name. `undefined` when
   * the client sent none.
   */
  readonly info: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities
  /**
   * Whether the client declared all of these capabilities. For an `Extension.Part` (a request, a notification or a kind of result of an
   * extension): whether client and server have declared the extension, and the revision of the request has this part.
   */
  readonly supports: (required: ClientCapabilities | Extension.Part) => boolean
  /**
   * Gives the settings that client and server have declared for an extension. `None` when the client or the server has not declared the
   * extension, or when the revision does not have the extension. Fails when the settings of the client do not conform to their schema.
   */
  readonly extension: <E extends Extension.Extension.Any>(
    extension: E
  ) => Effect.Effect<Option.Option<Extension.Extension.SettingsOf<E>>, InvalidParams>
  /**
   * The revision that the client requested in `initialize`. The server may have answered with another revision (see `version`). `undefined`
   * where there was no handshake.
   */
  readonly requestedVersion: string | undefined
  /**
   * The lowest level of the log messages that the client receives; `undefined` when the client has set no level.
   *
   * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
   */
  readonly logLevel: LoggingLevel | undefined
  /**
   * A value that is the same for all requests of one client. One client is one session, one pipe or one principal. `undefined` where the
   * server cannot distinguish its clients.
   */
  readonly key: object | string | undefined
  /** The id of the HTTP session; `undefined` on other transports, and where there are no sessions. */
  readonly sessionId: string | undefined
  /**
   * A scope that closes when the session of the client ends; `undefined` with revision 2026-07-28 or later, and on a server without
   * sessions.
   */
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
  /** The facts about the client. */
  readonly client: ClientOfRequest
  /**
   * The id of the task, when the call runs as a task; `undefined` for any other call, and before the task begins. Do not log the id: on a
   * server without users, anyone who knows the id can read the task, answer its questions and cancel it.
   */
  readonly taskId: string | undefined
  /**
   * The reason that the client gave when it cancelled the request. `None` when the client has not cancelled the request, or gave no reason.
   * Use this effect in finalizers of the handler, for example in `Effect.onInterrupt`.
   */
  readonly cancelReason: Effect.Effect<Option.Option<string>>
  /**
   * Sends the progress of the request, if the client requested progress. `progress` must be greater than in the previous call; otherwise
   * the server sends nothing. While the client reads too slowly, this effect waits. In a task, `message` also becomes the status message of
   * the task. Without `message`, the numbers become the status message.
   */
  readonly progress: (
    progress: number,
    options?: { readonly total?: number | undefined; readonly message?: string | undefined }
  ) => Effect.Effect<void>
  /**
   * Sends a log message, if the client wants messages of this level. `data` is any JSON value; it must not contain secrets.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
   * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
   */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Effect.Effect<void>
  /**
   * Sends a notification that belongs to this request. The server drops the notification in two cases: after the response, and when the
   * notification belongs to an extension that the client has not declared.
   */
  readonly notify: {
    <Params>(notification: Extension.Notification<"server", Params>, params: NoInfer<Params>): Effect.Effect<void>
    (method: string, params?: JsonObject): Effect.Effect<void>
  }
  /**
   * Sends a notification outside of any request. The server drops the notification when the client has disconnected. With revision
   * 2026-07-28 or later, the server always drops the notification.
   */
  readonly standalone: Pick<Outbound, "notify">
  /**
   * Effects that notify this client that a list has changed, if the server advertised `listChanged` for the list. Use these effects when a
   * list has changed only for this client, as with `Feature.visible`. When a feature is added or removed, the server itself notifies all
   * clients. With revision 2026-07-28 or later, the notification goes to the client's open subscriptions. On a pipe these are the
   * subscriptions of the same pipe, and over HTTP the subscriptions of the same user. An anonymous client over HTTP gets no notification.
   * `Registry.changed` notifies all clients.
   */
  readonly changed: {
    readonly tools: Effect.Effect<void>
    readonly resources: Effect.Effect<void>
    readonly prompts: Effect.Effect<void>
    /**
     * Notifies this client that the content of a resource has changed, if the client has subscribed to the resource. Does nothing with
     * revision 2026-07-28 or later. `McpServer.resourceUpdated` notifies all clients that have subscribed.
     */
    readonly resource: (uri: string) => Effect.Effect<void>
  }
  /**
   * Notifies the client that a person has finished at a page (`Ask.url`). The handler that calls this function can be another handler than
   * the one that asked. Does nothing with revision 2026-07-28 or later, which does not have this notification.
   */
  readonly elicitationComplete: (elicitationId: string) => Effect.Effect<void>
  /**
   * Ends the HTTP stream of this request. The handler goes on. The client resumes the stream later, and then gets the response. Does
   * nothing on other transports, and when the client cannot resume the stream.
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
