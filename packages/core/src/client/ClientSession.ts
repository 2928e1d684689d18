/**
 * A session with one server: its type, with one verb for each method that a client calls, and the options of the session and of its calls.
 * `Client` opens a session, in the era that both sides speak, over any transport. `session/Verbs` makes the verbs.
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
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  /** How to use the server, for the model. */
  readonly instructions: string | undefined
  /** The revision that both sides speak. */
  readonly version: Version.Version
  /** The era of `version`: "legacy" when the session began with a handshake, else "modern". */
  readonly era: Version.Era
  readonly ping: (options?: CallOptions) => Effect.Effect<void, ClientError>
  /** One page of the tools. */
  readonly listTools: (options?: ListOptions) => Effect.Effect<Tools.ListToolsResult, ClientError>
  /**
   * All tools, page after page. Fails with reason `Decode` after 64 pages, when all of them together have more than 500,000 values or
   * 16 Mi characters, and when a cursor comes a second time.
   */
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /**
   * Calls a tool. When the tool itself fails, the result has `isError`. The effect fails when there is no result, and with
   * reason `Decode` when the result does not match the tool's output schema.
   *
   * Interrupting the effect cancels the call at the server.
   *
   * Where the call becomes a task, this waits for its result, answers its questions, and cancels it when interrupted: From 2026-07-28 on
   * the server decides whether a call becomes a task, if the client has `TasksClient.extension` among its `extensions`; at 2025-11-25 the
   * calls of tools that the server lists as tasks only become tasks. Where the server has tasks, the client first looks in the list for a
   * tool that it does not know. `timeout` then limits each request about the task, and `maxTotalTimeout` everything. Fails with `TaskEnded`
   * when the task was cancelled or has expired. `TasksClient.start` gives the task itself.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError>
  /** The tasks of the server. `TasksClient` has the same with the types of a definition. */
  readonly tasks: TaskCalls
  /** One page of the resources. */
  readonly listResources: (options?: ListOptions) => Effect.Effect<Resources.ListResourcesResult, ClientError>
  /** All resources, page after page, like `tools`. */
  readonly resources: Stream.Stream<Resources.Resource, ClientError>
  /** One page of the resource templates. */
  readonly listResourceTemplates: (
    options?: ListOptions
  ) => Effect.Effect<Resources.ListResourceTemplatesResult, ClientError>
  /** All resource templates, page after page, like `tools`. */
  readonly resourceTemplates: Stream.Stream<Resources.ResourceTemplate, ClientError>
  readonly readResource: (
    uri: string,
    options?: CallOptions
  ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
  /** Subscribes to a resource: `resourceUpdates` then has its URI whenever its content changes. */
  readonly subscribeResource: (uri: string, options?: CallOptions) => Effect.Effect<void, ClientError>
  readonly unsubscribeResource: (uri: string, options?: CallOptions) => Effect.Effect<void, ClientError>
  /** One page of the prompts. */
  readonly listPrompts: (options?: ListOptions) => Effect.Effect<Prompts.ListPromptsResult, ClientError>
  /** All prompts, page after page, like `tools`. */
  readonly prompts: Stream.Stream<Prompts.Prompt, ClientError>
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError>
  /**
   * Suggests values for an argument of a prompt or a resource template. `others` are the arguments that have a value.
   */
  readonly complete: (
    ref: Completion.CompleteParams["ref"],
    argument: Completion.CompleteParams["argument"],
    options?: CallOptions & { readonly others?: Readonly<Record<string, string>> | undefined }
  ) => Effect.Effect<Completion.Suggestions, ClientError>
  /**
   * Sets the lowest level of the log messages that the server sends.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly setLoggingLevel: (level: LoggingLevel, options?: CallOptions) => Effect.Effect<void, ClientError>
  /**
   * Sends any notification. It is dropped when the session has ended. A notification of an extension fails with `NotNegotiated` when the
   * session does not allow it.
   */
  readonly notify: {
    <Params>(
      notification: Extension.Notification<"client", Params>,
      params: NoInfer<Params>
    ): Effect.Effect<void, NotNegotiated>
    (method: string, params?: JsonObject): Effect.Effect<void>
  }
  /**
   * Notifies the server that the roots have changed. `ClientFeatures.roots` does so by itself when it has `changes`; without them
   * the client does not declare that it notifies, and this fails with `NotNegotiated`.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly rootsListChanged: Effect.Effect<void, NotNegotiated>
  /**
   * Waits until the server notifies this client of changes of its lists, or has refused to: a list that is read after this misses no
   * change. It waits for the first subscription only. When a subscription ended and is open again, the client counts everything that the
   * server may have reported meanwhile as changed. Up to 2025-11-25, and where the server reports no changes, there is nothing to wait for.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
   */
  readonly awaitSubscription: Effect.Effect<void>
  /** Waits until the session has ended. Fails when the transport failed. */
  readonly ended: Effect.Effect<void, ClientError>
}

/**
 * The limits of a session. What one connection may hold is limited by the options of its connector.
 *
 * @category models
 */
export interface Limits {
  /** How many calls may be in flight; more wait to be sent, and their timeouts run. Default: 1,024. */
  readonly maxCalls?: number | undefined
  /**
   * How many times a server may ask for input in order to serve one call, from 2026-07-28 on. Then the call fails with
   * `TooManyRounds`. Default: 10.
   */
  readonly maxRounds?: number | undefined
  /** How many of the server's requests are served at the same time; more wait. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How many of the server's requests may wait to be served; more get the error -32000. Default: 1,024. */
  readonly maxWaiting?: number | undefined
  /** How many characters the server's waiting requests may have; more get the error -32000. Default: 16 Mi. */
  readonly maxWaitingText?: number | undefined
}

/**
 * What a session has found out about its server.
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
   * How long a call waits when it has no `timeout` of its own. The time during which this client answers a question of the
   * server does not count; `maxTotalTimeout` of a call counts it. Default: 60 seconds.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * The `timeout` of single methods, by name: `{ "tools/call": "10 minutes" }`. Default: `timeout`, and 5 seconds for `server/discover`:
   * after that the client tries the handshake.
   */
  readonly timeouts?: Readonly<Record<string, Duration.DurationInput>> | undefined
  /** The `maxRetries` of calls without a `maxRetries` of their own. Default: 0, no call is sent again. */
  readonly maxRetries?: number | undefined
  /**
   * Whether lists and resources are cached for as long as the server allows, from 2026-07-28 on. What the server allows for one
   * user only is used again while the requests of the connection have the same credentials. Default: true.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  readonly cache?: boolean | undefined
  /**
   * Whether the client refuses, with `NotNegotiated`, to send what needs a capability that was not declared. Set it to false
   * for servers that forget to declare what they have. Default: true.
   */
  readonly enforceCapabilities?: boolean | undefined
  /**
   * Whether sampling, elicitation and roots are refused while no call of the client waits for its answer. Newer servers ask
   * only within a call; many older ones request the roots as soon as the session begins. Default: false.
   */
  readonly refuseUnassociated?: boolean | undefined
  /**
   * The revisions that the client may speak; it requests the latest. With revisions of one era only, it does not look for
   * the server's era. Default: all that this library knows, of both eras.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /**
   * What an earlier session with the same server found out: that session, or the same members of it, stored as JSON. The
   * client then does not look for the server's era: a modern session opens without a message, and a legacy one with the
   * handshake, after which the client looks for the era only if the server refuses it.
   */
  readonly prior?: Prior | undefined
  /**
   * The extensions that the client uses, with the settings that it declares. The client dies when two extensions add the same name. Over
   * HTTP, the headers of their requests need a transport that this client opens. Default: none.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /** How much the client does for its server at a time. */
  readonly limits?: Limits | undefined
  /**
   * Sends a ping to a server that was silent for `interval`, and ends the session when two pings in a row get no answer within `interval`;
   * a ping that cannot be delivered counts as unanswered. The heartbeat is off at 2026-07-28, which has no ping: there each call has its
   * `timeout`. Default: no pings.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  readonly heartbeat?: { readonly interval: Duration.DurationInput } | undefined
  /**
   * How long closing waits: first for handlers of features that cannot be interrupted, then for the handlers of log messages and for the
   * changes of roots, and then for features to be released. What takes longer is reported, and goes on. Default: 5 seconds.
   */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Whether structured content is checked against the output schema that the server lists for the tool. When the client does not have the
   * list yet, it requests it after the first call, in the time that is left for the call. A result that cannot be checked is accepted, and
   * reported in `diagnostics`: because the tools could not be listed (the client tries again after a minute), because the schema is not
   * valid, or because the check would cost too much. Default: true.
   */
  readonly checkOutputs?: boolean | undefined
  /**
   * Called with each notification when it arrives, and before the end of a call that the server has answered after it. The function must
   * return at once, and must not throw; the streams of the session are for slower listeners.
   */
  readonly onNotification?: ((notification: Notification) => void) | undefined
  /**
   * Called with the caching hints of each list and each content that the server sends, for a program that passes results on, as a proxy
   * does. `method` is the method of the request. It is not called for results of the client's cache. The function must return at once, and
   * must not throw. Servers up to 2025-11-25 send no hints.
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
  /** `_meta` of the request. */
  readonly meta?: JsonObject | undefined
  /**
   * How many times the call is sent again, with a new id, when its answer was lost: the stream of an HTTP response broke
   * before the answer, and the server may have run the call. It is sent again only when it may run twice: it lists, reads,
   * gets a prompt or completes, or it calls a tool that the server lists as read-only or idempotent. The client waits before
   * each attempt; each has the `timeout` of the call anew, and all together its `maxTotalTimeout`. When no attempt is answered, the call
   * fails with the first loss.
   *
   * Only from 2026-07-28 on: before, a broken stream is resumed. A call that needs input counts anew in each round.
   * Default: the `maxRetries` of the client.
   */
  readonly maxRetries?: number | undefined
  /**
   * Whether this call may use the result of an earlier call, and may leave its own result for later calls, from 2026-07-28 on. Default: the
   * `cache` of the client.
   */
  readonly cache?: boolean | undefined
  /**
   * The capabilities that this call declares, in place of the capabilities of the client's features. Only from 2026-07-28 on, and for
   * `request` with a name, whose caller answers an `input_required` result itself.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * The lowest level of the log messages that this call wants, from 2026-07-28 on. Default: the level of `setLoggingLevel`.
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
  /** Where the page begins: the `nextCursor` of the page before it. */
  readonly cursor?: string | undefined
}

/**
 * The options of a call to a tool.
 *
 * @category models
 */
export interface CallToolOptions extends CallOptions {
  /**
   * Whether the result is checked against the tool's output schema. Default: the `checkOutputs` option of the client.
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
 * Every `ClientSession` has these streams.
 *
 * @category models
 */
export interface Notifications {
  /** Every notification that belongs to no call of the client, in the order of arrival. */
  readonly notifications: Stream.Stream<Notification>
  /**
   * The server's log messages. Invalid ones are left out.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly logs: Stream.Stream<LoggingMessage>
  /** Which of the server's lists have changed. */
  readonly listChanges: Stream.Stream<Change>
  /** The URIs of subscribed resources whose content has changed. */
  readonly resourceUpdates: Stream.Stream<string>
  /** The ids of URL elicitations that the user has completed. */
  readonly elicitationsCompleted: Stream.Stream<string>
  /**
   * Events that ended nothing but that an operator may want to know: late answers, errors without an id. They are logged
   * while there is no listener.
   */
  readonly diagnostics: Stream.Stream<Diagnostic>
}

/** @category models */
export interface ListenOptions<out Params> {
  /**
   * Reads the present state, as notifications tell it: when the subscription is open, and again after each interruption,
   * because notifications may have been missed. The stream gives what it reads.
   */
  readonly current?: Effect.Effect<Iterable<Params>, ClientError> | undefined
}

/** @category models */
export interface ExtensionCalls {
  /**
   * The settings that client and server have declared for an extension; `None` when one of them has not declared it, or the
   * revision does not have it. Fails with reason `Decode` when the settings of the server do not conform to their schema.
   */
  readonly extension: <E extends Extension.Extension.Any>(
    extension: E
  ) => Effect.Effect<Option.Option<Extension.Extension.SettingsOf<E>>, TransportError>
  /**
   * Calls a method of an extension, checked by its schemas. Fails with `NotNegotiated` when the client was not given the
   * extension, the server has not declared it, or the revision does not have the method.
   *
   * With a name it calls any method. Neither parameters nor result are checked then; a method of the specification or of a
   * given extension that the session does not allow fails with `NotNegotiated`.
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
   * Calls the method that an extension adds this type of results to, and gives its result as the server chose it: `Right` with the result
   * of the core, `Left` with the result of the extension.
   */
  readonly callEither: <Method extends keyof Extension.Answerable, Value>(
    resultType: Extension.ResultType<Method, Value>,
    params: Extension.Answerable[Method]["params"],
    options?: CallOptions
  ) => Effect.Effect<Either.Either<Extension.Answerable[Method]["result"], Value>, ClientError>
  /**
   * The notifications of an extension, for as long as the stream runs. The client subscribes to a notification that has a filter, by a flag
   * or by keys; it receives a notification without a filter in both eras. Fails with `NotNegotiated` where the extension is not declared,
   * and up to 2025-11-25 for a notification that has a filter. Fails with reason `Decode` when the server does not accept every key. A
   * reader that is slower than the server loses the oldest notifications.
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
 * A task that a server has, or a call that the server has answered at once. It needs no scope, and interrupting one of its
 * effects does not cancel it. All that waits for it shares the requests for its status.
 *
 * @category models
 */
export interface Task<out A, out E> {
  /** The id to `attach` to the task with, after a restart too. `None` when the server answered the call at once. */
  readonly taskId: Option.Option<string>
  /**
   * The task as it is, and after each change, until it has ended. The client requests the task at the pace of the server, and at once after
   * a notification: at least once a minute, and no more than 20 times a second. Empty when the server answered the call at once.
   *
   * From 2026-07-28 on, the stream subscribes to the task while it runs. It fails with `TaskEnded` when the server no longer has the task,
   * and with the error of the request when six requests in a row were lost. It answers no questions.
   */
  readonly status: Stream.Stream<Tasks.Task, ClientError>
  /**
   * Waits for the end of the task, and answers its questions with the features of the client meanwhile, each once. It can be run
   * again. Fails with `TaskEnded` when the task was cancelled or has expired, and otherwise as the call would.
   */
  readonly result: Effect.Effect<A, E>
  /** Has the server cancel the task. Succeeds also when the task has ended before. */
  readonly cancel: Effect.Effect<void, ClientError>
  /** The progress of the task from now on, until it has ended. Only servers of 2025-11-25 send it, and not to a client that attached. */
  readonly progress: Stream.Stream<Progress, ClientError>
}

/**
 * The options of a call that may become a task. `timeout` also limits each request about the task; no option limits the task itself.
 *
 * @category models
 */
export interface StartOptions extends CallToolOptions {
  /** For how long the server should keep the task after it was created. Only 2025-11-25 lets a client choose. */
  readonly ttl?: Duration.DurationInput | undefined
}

/**
 * The options of a task that exists.
 *
 * @category models
 */
export interface AttachOptions extends Pick<CallOptions, "timeout"> {
  /** The tool of the task: its result is checked against the output schema that the server lists. Default: no check. */
  readonly tool?: string | undefined
}

/** @category models */
export interface TaskCalls {
  /**
   * Calls a tool as a task where both sides support it. Otherwise it waits for the result of the call. Interrupting this effect
   * cancels the call.
   */
  readonly start: (
    name: string,
    args?: JsonObject,
    options?: StartOptions
  ) => Effect.Effect<Task<Tools.CallToolResult, ClientError>, ClientError>
  /** The task of this id. Nothing is sent: the first request fails when the server does not know the id. */
  readonly attach: (taskId: string, options?: AttachOptions) => Effect.Effect<Task<Tools.CallToolResult, ClientError>>
  /**
   * The tasks that the server has for this user, page after page. Only at 2025-11-25, and of servers that declare `tasks.list`;
   * otherwise it fails with `NotNegotiated`.
   */
  readonly list: (options?: Omit<ListOptions, "cursor">) => Stream.Stream<Tasks.Task, ClientError>
}
