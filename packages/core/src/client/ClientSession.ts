/**
 * The type of a session with one server, and the options of the session and of its calls. The session has a function for each method that a
 * client calls. `Client` opens a session over any transport. `session/Verbs` makes the functions of the session.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Diagnostic } from "../jsonrpc/Diagnostic.js"
import type { TransportError } from "../jsonrpc/LocalError.js"
import type { Notification } from "../jsonrpc/Message.js"
import type { RequestOptions } from "../jsonrpc/Outbound.js"
import type { Progress } from "../jsonrpc/Progress.js"
import type { ClientCapabilities, ServerCapabilities } from "../protocol/Capabilities.js"
import type * as Completion from "../protocol/Completion.js"
import type * as Extension from "../protocol/Extension.js"
import type { Implementation } from "../protocol/Implementation.js"
import type { JsonObject } from "../protocol/Json.js"
import type { LoggingLevel, LoggingMessage } from "../protocol/Logging.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import type * as Tasks from "../protocol/Tasks.js"
import type * as Tools from "../protocol/Tools.js"
import type * as Version from "../protocol/Version.js"
import type { ClientError, NotNegotiated } from "./ClientError.js"

/** @category models */
export interface ClientSessionService extends Notifications, ExtensionCalls {
  /** The name and version of the server. */
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  /** A text of the server for the model about how to use the server; `undefined` when the server sent none. */
  readonly instructions: string | undefined
  /** The protocol revision on which the client and the server have agreed. */
  readonly version: Version.Version
  /**
   * The era of `version`: "legacy" for revisions up to 2025-11-25, whose sessions begin with a handshake; "modern" for revision 2026-07-28.
   */
  readonly era: Version.Era
  /** Checks that the server answers: sends `ping`, or with revision 2026-07-28 `server/discover`. */
  readonly ping: (options?: CallOptions) => Effect.Effect<void, ClientError>
  /** Lists one page of the tools. */
  readonly listTools: (options?: ListOptions) => Effect.Effect<Tools.ListToolsResult, ClientError>
  /**
   * Lists all tools, page after page. Fails with reason `Decode` after 64 pages, or when all pages together have more than 500,000 values
   * or more than 16 Mi characters. When the server sends the same cursor a second time, the list ends there, and `diagnostics` reports
   * this.
   */
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /**
   * Calls a tool. When the tool itself fails, the effect succeeds with a result that has `isError`. The effect fails when there is no
   * result. It fails with reason `Decode` when the result does not conform to the output schema of the tool. An interruption of the effect
   * cancels the call at the server.
   *
   * The call may become a task. Then the effect waits for the result of the task, and answers the questions of the task. An interruption of
   * the effect cancels the task. With revision 2026-07-28, the server decides whether a call becomes a task, if `TasksClient.extension` is
   * among the `extensions` of the client. With revision 2025-11-25, a call becomes a task only if the server's list says that the tool
   * requires a task. If the client does not know the tool and the server supports tasks, the client first reads the server's list of tools.
   *
   * For a task, `timeout` limits each request about the task, and `maxTotalTimeout` limits all these requests together. The effect fails
   * with `TaskEnded` when the task was cancelled or has expired. `TasksClient.start` gives the task itself.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError>
  /** The tasks of the server. `TasksClient` has the same functions with the types of a definition. */
  readonly tasks: TaskCalls
  /** Lists one page of the resources. */
  readonly listResources: (options?: ListOptions) => Effect.Effect<Resources.ListResourcesResult, ClientError>
  /** Lists all resources, page after page, with the limits of `tools`. */
  readonly resources: Stream.Stream<Resources.Resource, ClientError>
  /** Lists one page of the resource templates. */
  readonly listResourceTemplates: (
    options?: ListOptions
  ) => Effect.Effect<Resources.ListResourceTemplatesResult, ClientError>
  /** Lists all resource templates, page after page, with the limits of `tools`. */
  readonly resourceTemplates: Stream.Stream<Resources.ResourceTemplate, ClientError>
  /** Reads a resource by its URI. */
  readonly readResource: (
    uri: string,
    options?: CallOptions
  ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
  /** Subscribes to a resource. Then `resourceUpdates` has the URI of the resource each time that its content changes. */
  readonly subscribeResource: (uri: string, options?: CallOptions) => Effect.Effect<void, ClientError>
  /** Ends the subscription to a resource. */
  readonly unsubscribeResource: (uri: string, options?: CallOptions) => Effect.Effect<void, ClientError>
  /** Lists one page of the prompts. */
  readonly listPrompts: (options?: ListOptions) => Effect.Effect<Prompts.ListPromptsResult, ClientError>
  /** Lists all prompts, page after page, with the limits of `tools`. */
  readonly prompts: Stream.Stream<Prompts.Prompt, ClientError>
  /** Gets a prompt by its name, with its arguments filled in. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError>
  /**
   * Suggests values for an argument of a prompt, or for a variable of a resource template. `others` are the other arguments, which have a
   * value already.
   */
  readonly complete: (
    ref: Completion.CompleteParams["ref"],
    argument: Completion.CompleteParams["argument"],
    options?: CallOptions & { readonly others?: Readonly<Record<string, string>> | undefined }
  ) => Effect.Effect<Completion.Suggestions, ClientError>
  /**
   * Sets the least severe level of the log messages that the server sends.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly setLoggingLevel: (level: LoggingLevel, options?: CallOptions) => Effect.Effect<void, ClientError>
  /**
   * Sends any notification. When the session has ended, the notification is dropped. For a notification of an extension, the effect fails
   * with `NotNegotiated` when the session does not allow it.
   */
  readonly notify: {
    <Params>(
      notification: Extension.Notification<"client", Params>,
      params: NoInfer<Params>
    ): Effect.Effect<void, NotNegotiated>
    (method: string, params?: JsonObject): Effect.Effect<void>
  }
  /**
   * Notifies the server that the roots have changed. `ClientFeatures.roots` sends this notification itself when it has the option
   * `changes`. Without `changes`, the client does not declare that it sends the notification, so this effect fails with `NotNegotiated`.
   * With revision 2026-07-28 this effect does nothing, because that revision does not have the notification.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly rootsListChanged: Effect.Effect<void, NotNegotiated>
  /**
   * Waits until the server has accepted or refused the subscription to changes of its lists. When your program reads a list afterwards, it
   * misses no later change. The effect waits only for the first subscription. When a subscription breaks and opens again, the client treats
   * everything that the server may have reported meanwhile as changed. With revision 2025-11-25 or earlier, or when the server reports no
   * changes, the effect ends at once.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
   */
  readonly awaitSubscription: Effect.Effect<void>
  /** Waits until the session has ended. Fails if the transport has failed. */
  readonly ended: Effect.Effect<void, ClientError>
}

/**
 * The limits of a session. The connector has its own limits for a connection, such as the size of a message.
 *
 * @category models
 */
export interface Limits {
  /** How many calls may be in flight. Further calls wait before they are sent; their timeouts run meanwhile. Default: 1,024. */
  readonly maxCalls?: number | undefined
  /**
   * How many times a server may ask for input to serve one call, with revision 2026-07-28. After that, the call fails with `TooManyRounds`.
   * Default: 10.
   */
  readonly maxRounds?: number | undefined
  /** How many requests of the server the client serves at the same time. Further requests wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How many requests of the server may wait to be served. Further requests get the error -32000. Default: 1,024. */
  readonly maxWaiting?: number | undefined
  /** How many characters the waiting requests of the server may have together. Further requests get the error -32000. Default: 16 Mi. */
  readonly maxWaitingText?: number | undefined
}

/**
 * The facts about a server that a session has received.
 *
 * @category models
 */
export interface Prior {
  readonly version: Version.Version
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/** @category models */
export interface Options {
  /** The name and version that the client sends. Default: the name and version of this library. */
  readonly clientInfo?: Implementation | undefined
  /**
   * How long a call waits for its answer when the call has no `timeout` of its own. The client pauses this timeout while it answers a
   * question of the server; it does not pause `maxTotalTimeout` of a call. Default: 60 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * The `timeout` of single methods, by name: `{ "tools/call": "10 minutes" }`. Default: the option `timeout`, which is 60 seconds by
   * default. For `server/discover`, a client that supports both eras waits at most 5 seconds by default; then it tries the handshake.
   */
  readonly timeouts?: Readonly<Record<string, Duration.DurationInput>> | undefined
  /**
   * How many times the client sends a call again when its answer was lost. `maxRetries` of `CallOptions` says which calls, and replaces
   * this number for one call. Default: 0, the client sends no call again.
   */
  readonly maxRetries?: number | undefined
  /**
   * Whether the client caches lists and resources for the time that the server allows. This option works only with revision 2026-07-28.
   * When the server allows a result only for one user, the client uses the result again only while the requests of the connection have the
   * same credentials. Default: `true`.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  readonly cache?: boolean | undefined
  /**
   * Whether the client refuses, with `NotNegotiated`, to send a message that needs a capability that was not declared. Set `false` for
   * servers that do not declare all their capabilities. Default: `true`.
   */
  readonly enforceCapabilities?: boolean | undefined
  /**
   * Whether the client refuses requests for sampling, elicitation and roots while no call of the client waits for its answer. Newer servers
   * send these requests only during a call, but many older servers request the roots as soon as the session begins. Default: `false`.
   */
  readonly refuseUnassociated?: boolean | undefined
  /**
   * The revisions that the client may use. The client requests the latest of them. If all revisions belong to one era, the client does not
   * find out the era of the server. Default: all revisions of both eras that this library supports.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /**
   * The facts about the server from an earlier session. Give the earlier session itself, or an object with the members of `Prior`, for
   * example from stored JSON. With this option, the client does not first find out the era of the server. If `prior` has revision
   * 2026-07-28, the client opens the session without a message. If `prior` has an earlier revision, the client sends the handshake, and
   * finds out the era only if the server refuses the handshake. The client sends no handshake when the connector also continues a session
   * over HTTP (option `session` of `Remote`).
   */
  readonly prior?: Prior | undefined
  /**
   * The extensions that the client uses, with the settings that it declares. Connecting dies when two extensions add the same name. Over
   * HTTP, requests of extensions get the headers that their extensions define. A transport that your program has opened before, without
   * this client, does not set these headers. Default: no extensions.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /** The limits of the session; see `Limits` for their defaults. */
  readonly limits?: Limits | undefined
  /**
   * Sends a ping to a server that was silent for `interval`. Ends the session when two pings in a row get no answer within `interval` each.
   * A ping that cannot be delivered counts as a ping without an answer. Revision 2026-07-28 has no ping, so the client sends none; there,
   * each call has its `timeout`. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * How long each step of closing may wait: first for handlers of features that cannot be interrupted, then for the handlers of log
   * messages and of changed roots, and then for the release of the features. When a step takes longer, the client reports this, and the
   * step goes on in the background. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Whether the client checks structured content against the output schema that the server lists for the tool. When the client does not
   * have the list yet, it requests the list after the first call, within the time that is left for the call. The client accepts a result
   * that it cannot check, and reports it in `diagnostics`. There are three reasons: the tools could not be listed (the client tries again
   * after a minute), the schema is not valid, or the check would cost too much. Default: `true`.
   */
  readonly checkOutputs?: boolean | undefined
  /**
   * Called with each notification when it arrives. If the notification arrives before the answer to a call, the function is called before
   * the call ends. The function must return at once, and must not throw. For slower listeners the session has streams.
   */
  readonly onNotification?: ((notification: Notification) => void) | undefined
  /**
   * Called with the cache hints of each list and each content that the server sends. This function is for a program that passes results on,
   * such as a proxy. `method` is the method of the request. The client does not call the function for results from its own cache. The
   * function must return at once, and must not throw. Servers of revision 2025-11-25 or earlier send no hints.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  readonly onCacheHints?:
    | ((method: string, hints: { readonly ttlMs: number; readonly cacheScope: "public" | "private" }) => void)
    | undefined
}

/**
 * The options of every call.
 *
 * @category models
 */
export interface CallOptions extends RequestOptions {
  /** More members for `_meta` of the request. */
  readonly meta?: JsonObject | undefined
  /**
   * How many times the client sends the call again, with a new id, when the answer was lost because the stream of an HTTP response broke.
   * The server may already have run the call. Therefore the client repeats only calls that may run twice: calls that list, read, get a
   * prompt or complete, and calls of a tool that the server lists as read-only or idempotent. The client waits before each attempt. Each
   * attempt has the `timeout` of the call, and `maxTotalTimeout` limits all attempts together. When no attempt is answered, the call fails
   * with the error of the first loss.
   *
   * This option works only with revision 2026-07-28; with earlier revisions, the client resumes a broken stream. When the server asks for
   * input, the client sends the call again with the input, and `maxRetries` applies to that request separately. Default: the option
   * `maxRetries` of the client, which is 0 by default.
   */
  readonly maxRetries?: number | undefined
  /**
   * Whether this call may use the result of an earlier call, and whether later calls may use the result of this call. This option works
   * only with revision 2026-07-28. Default: the option `cache` of the client, which is `true` by default.
   */
  readonly cache?: boolean | undefined
  /**
   * The capabilities that this call declares, in place of the capabilities of the client's features. The option works only with revision
   * 2026-07-28. Use it only for `request` with the name of a method, such as `client.request("tools/call", …)`, and not for functions such
   * as `callTool`. The code that calls `request` must itself answer a result of the type `input_required`; for functions such as
   * `callTool`, the client's features would answer.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * The least severe level of the log messages that this call wants, with revision 2026-07-28. Default: the level of `setLoggingLevel`.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logLevel?: LoggingLevel | undefined
}

/**
 * The options of a call that lists one page.
 *
 * @category models
 */
export interface ListOptions extends CallOptions {
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined
}

/**
 * The options of a call to a tool.
 *
 * @category models
 */
export interface CallToolOptions extends CallOptions {
  /**
   * Whether the result is checked against the output schema of the tool. Default: the option `checkOutputs` of the client, which is `true`
   * by default.
   */
  readonly checkOutput?: boolean | undefined
}

/**
 * A list of the server that can change.
 *
 * @category models
 */
export type Change = "tools" | "resources" | "prompts"

/**
 * The streams of notifications that every session has.
 *
 * @category models
 */
export interface Notifications {
  /** Every notification that belongs to no call of the client, in the order of arrival. */
  readonly notifications: Stream.Stream<Notification>
  /**
   * The log messages of the server. Messages that are not valid are left out.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logs: Stream.Stream<LoggingMessage>
  /** The lists of the server that have changed. */
  readonly listChanges: Stream.Stream<Change>
  /** The URIs of subscribed resources whose content has changed. */
  readonly resourceUpdates: Stream.Stream<string>
  /** The ids of URL elicitations that the user has completed. */
  readonly elicitationsCompleted: Stream.Stream<string>
  /**
   * Irregular events that did not end the session, such as late answers and errors without an id. The client logs these events while nobody
   * reads this stream.
   */
  readonly diagnostics: Stream.Stream<Diagnostic>
}

/** @category models */
export interface ListenOptions<out Params> {
  /**
   * Reads the present state in the form of notifications. The stream emits these notifications, too. The effect runs when the subscription
   * has opened. It runs again each time that a broken subscription has opened again, because the client may have missed notifications.
   * Default: the stream gives only the notifications of the server.
   */
  readonly current?: Effect.Effect<Iterable<Params>, ClientError> | undefined
}

/** @category models */
export interface ExtensionCalls {
  /**
   * The settings that the client and the server have declared for an extension. `None` when one side has not declared the extension, or
   * when the revision does not have the extension. Fails with reason `Decode` when the settings of the server do not conform to their
   * schema.
   */
  readonly extension: <E extends Extension.Extension.Any>(
    extension: E
  ) => Effect.Effect<Option.Option<Extension.Extension.SettingsOf<E>>, TransportError>
  /**
   * Calls a request of an extension, and checks parameters and result by its schemas. Fails with `NotNegotiated` when the client was not
   * given the extension, when the server has not declared it, or when the revision does not have the method.
   *
   * With the name of a method, `request` calls any method, and does not check parameters or result. It fails with `NotNegotiated` for a
   * method of the specification or of a given extension that the session does not allow.
   */
  readonly request: {
    <Params, Result>(
      request: Extension.Request<"client", Params, Result>,
      params: NoInfer<Params>,
      options?: CallOptions
    ): Effect.Effect<Result, ClientError>
    (method: string, params?: JsonObject, options?: CallOptions): Effect.Effect<JsonObject, ClientError>
  }
  /**
   * Calls the method of the specification to which an extension adds this type of results. The server chooses how it answers: `Right` has
   * the ordinary result of the method, `Left` has the result of the extension.
   */
  readonly callEither: <Method extends keyof Extension.Answerable, Value>(
    resultType: Extension.ResultType<Method, Value>,
    params: Extension.Answerable[Method]["params"],
    options?: CallOptions
  ) => Effect.Effect<Either.Either<Extension.Answerable[Method]["result"], Value>, ClientError>
  /**
   * The notifications of an extension, while the stream runs. For a notification that has a filter, the client subscribes with a flag or
   * with keys. A notification without a filter arrives in both eras without a subscription. Fails with `NotNegotiated` when the extension
   * is not declared, and with revision 2025-11-25 or earlier for a notification that has a filter. Fails with reason `Decode` when the
   * server does not accept every key. A reader that is slower than the server loses the oldest notifications.
   */
  readonly listen: {
    <Params>(
      notification: Extension.Notification<"server", Params, "keys">,
      keys: ReadonlyArray<string>,
      options?: ListenOptions<NoInfer<Params>>
    ): Stream.Stream<Params, ClientError>
    <Params>(
      notification: Extension.Notification<"server", Params, "flag" | "none">,
      options?: ListenOptions<NoInfer<Params>>
    ): Stream.Stream<Params, ClientError>
  }
}

/**
 * A task of a server, or the answer to a call that did not become a task. A task needs no scope. An interruption of one of its effects does
 * not cancel the task. All effects and streams that wait for the task share the requests for its status.
 *
 * @category models
 */
export interface Task<out A, out E> {
  /** The id with which `attach` finds the task again, also after a restart of the program. `None` when the call did not become a task. */
  readonly taskId: Option.Option<string>
  /**
   * The task as it is now, and after each change, until it has ended. The client requests the task as often as the server wants, and also
   * soon after a notification about the task. It requests the task at least once a minute, and at most 20 times a second. The stream is
   * empty when the call did not become a task.
   *
   * With revision 2026-07-28, the stream subscribes to the task while it runs. The stream fails with `TaskEnded` when the server no longer
   * has the task. It fails with the error of the request when six requests in a row were lost. The stream answers no questions of the task.
   */
  readonly status: Stream.Stream<Tasks.Task, ClientError>
  /**
   * Waits for the end of the task. Meanwhile the features of the client answer the questions of the task, each question once. The effect
   * may be run several times. It fails with `TaskEnded` when the task was cancelled or has expired, and otherwise with the errors of the
   * call.
   */
  readonly result: Effect.Effect<A, E>
  /** Asks the server to cancel the task. It succeeds also when the task has ended before. */
  readonly cancel: Effect.Effect<void, ClientError>
  /**
   * The progress of the task from now on, until the task has ended. Only servers of revision 2025-11-25 send progress of a task. A client
   * that found the task with `attach` gets no progress.
   */
  readonly progress: Stream.Stream<Progress, ClientError>
}

/**
 * The options of a call that may become a task. `timeout` also limits each request about the task. No option limits the task itself.
 *
 * @category models
 */
export interface StartOptions extends CallToolOptions {
  /**
   * How long the server should keep the task after its creation. This option works only with revision 2025-11-25. Default: the server
   * chooses.
   */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * The options of `attach`, for a task that exists already.
 *
 * @category models
 */
export interface AttachOptions extends Pick<CallOptions, "timeout"> {
  /**
   * The tool that the task runs. The result is checked against the output schema that the server lists for this tool. Default: no check.
   */
  readonly tool?: string | undefined
}

/** @category models */
export interface TaskCalls {
  /**
   * Calls a tool as a task if both sides support tasks for the tool. Otherwise the effect waits for the result of the call. An interruption
   * of this effect cancels the call.
   */
  readonly start: (
    name: string,
    args?: JsonObject,
    options?: StartOptions
  ) => Effect.Effect<Task<Tools.CallToolResult, ClientError>, ClientError>
  /** Returns the task with this id, and sends nothing. The first request about the task fails when the server does not know the id. */
  readonly attach: (taskId: string, options?: AttachOptions) => Effect.Effect<Task<Tools.CallToolResult, ClientError>>
  /**
   * Lists the tasks that the server has for this user, page after page. Works only with revision 2025-11-25 and with servers that declare
   * `tasks.list`. Otherwise the stream fails with `NotNegotiated`.
   */
  readonly list: (options?: Omit<ListOptions, "cursor">) => Stream.Stream<Tasks.Task, ClientError>
}
