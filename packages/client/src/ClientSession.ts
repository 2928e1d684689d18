/**
 * A session with one server: one verb for each method that a client calls, with checked results and typed errors. It works
 * over any transport; `Negotiation` opens it in the era that both sides speak.
 *
 * @since 0.1.0
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Connectors from "@effect-mcp/jsonrpc/Connector"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Completion from "@effect-mcp/protocol/Completion"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Version from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { CallOptions, CallToolOptions, ListOptions } from "./CallOptions.js"
import type { ClientError, ConnectError, NotNegotiated } from "./ClientError.js"
import type { Options } from "./ClientOptions.js"
import type { ExtensionCalls } from "./ExtensionCalls.js"
import * as Features from "./Features.js"
import { GivenExtensions } from "./negotiation/GivenExtensions.js"
import * as Negotiation from "./negotiation/Negotiation.js"
import type { Notifications } from "./Notifications.js"
import * as Pages from "./Pages.js"
import * as FeatureFibers from "./session/FeatureFibers.js"
import type { NegotiatedSession } from "./session/NegotiatedSession.js"
import * as OutputCheck from "./session/OutputCheck.js"
import * as RemoteTasks from "./session/RemoteTasks.js"
import * as ServerTools from "./session/ServerTools.js"
import * as TaskWatch from "./session/TaskWatch.js"
import * as TimeLeft from "./session/TimeLeft.js"
import type { TaskCalls } from "./TaskCalls.js"

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
   * Where the call becomes a task, this waits for its result, answers its questions, and cancels it when interrupted: from
   * 2026-07-28 on with `Tasks.extension` among the client's `extensions`, where the server decides it, and at 2025-11-25 for
   * tools that the server lists as tasks only; where the server has tasks, a tool that the client does not know is looked for in
   * the list first. `timeout` then limits each request about the task, and `maxTotalTimeout`
   * everything. Fails with `TaskEnded` when the task was cancelled or has expired. `Tasks.start` gives the task itself.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError>
  /** The tasks of the server. `Tasks` has the same with the types of a definition. */
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
   * Sends any notification. It is dropped when the session has ended. One of an extension fails with `NotNegotiated` when the
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
   * Notifies the server that the roots have changed. `Features.roots` does so by itself when it has `changes`; without them
   * the client does not declare that it notifies, and this fails with `NotNegotiated`.
   *
   * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
   */
  readonly rootsListChanged: Effect.Effect<void, NotNegotiated>
  /**
   * Waits until the server notifies this client of changes of its lists, or has refused to: a list that is read after this
   * misses no change. It waits for the first subscription only. When a subscription ended and is open again, the client counts
   * everything as changed that the server may have reported meanwhile. Up to 2025-11-25, and where the server reports no changes, there is nothing to wait for.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
   */
  readonly awaitSubscription: Effect.Effect<void>
  /** Waits until the session has ended. Fails when the transport failed. */
  readonly ended: Effect.Effect<void, ClientError>
}

const TIMEOUT = "60 seconds"

const self: Implementation = { name: "effect-mcp", version: "0.1.0" }

/**
 * Opens a session over a transport. It ends when the scope closes.
 *
 * @category constructors
 */
export const make = (
  transport: Transport,
  options?: Options,
  features?: Features.FeaturesService
): Effect.Effect<ClientSessionService, ConnectError, Scope.Scope> =>
  connect(Connectors.fromTransport(transport), options, features)

/**
 * Opens a session with the server that a connector reaches. It connects a second time when the first connection makes no session
 * after a probe, as with legacy servers that only a first request of `initialize` leaves in order.
 *
 * @category combinators
 */
export const connect = <R>(
  connector: Connector<R>,
  options: Options = {},
  features?: Features.FeaturesService
): Effect.Effect<ClientSessionService, ConnectError, R | Scope.Scope> =>
  Effect.gen(function*() {
    const registered = features ?? (yield* Features.make)
    const extensions = yield* Effect.sync(() => ExtensionTable.make(options.extensions ?? [], "client"))
    yield* ExtensionTable.warnOfMissing(extensions, "client", [
      ...Array.from(registered.custom.values(), ({ request }) => request?.extension),
      ...Array.from(registered.results.keys(), ({ extension }) => extension)
    ])
    const tools = new ServerTools.ServerToolsService()
    const watch = TaskWatch.make()
    const negotiated = yield* Negotiation.connect(connector, {
      ...options,
      clientInfo: options.clientInfo ?? self,
      versions: options.versions ?? Version.all,
      features: registered,
      extensions,
      tools,
      onNotification: (notification) => {
        if (notification.method === "notifications/tools/list_changed") tools.forget()
        watch.onNotification(notification)
        options.onNotification?.(notification)
      },
      timeout: options.timeout ?? TIMEOUT,
      timeouts: new Map(Object.entries(options.timeouts ?? {})),
      maxRetries: options.maxRetries ?? 0,
      cache: options.cache ?? true,
      enforceCapabilities: options.enforceCapabilities ?? true
    }).pipe(
      Effect.provideService(GivenExtensions, options.extensions ?? [])
    )
    // Earlier revisions know no output schemas.
    const checkOutputs = options.checkOutputs !== false && Version.isAtLeast(negotiated.facts.version, "2025-06-18")
    const timeout = options.timeouts?.["tools/call"] ?? options.timeout ?? TIMEOUT
    const session = verbs(negotiated, { checkOutputs, timeout, tools, watch })
    yield* FeatureFibers.announceRootChanges(registered, Effect.ignore(session.rootsListChanged))
    return session
  })

/** What calls to tools need beside the session. */
interface ToolCalls {
  readonly checkOutputs: boolean
  readonly timeout: Duration.DurationInput
  readonly tools: ServerTools.ServerToolsService
  readonly watch: TaskWatch.TaskWatch
}

const verbs = (negotiated: NegotiatedSession, toolCalls: ToolCalls): ClientSessionService => {
  const { awaitSubscription, call, ended, extended, facts, notifications, notify, refusal } = negotiated
  const listResources = (options?: ListOptions) => call("resources/list", page(options), options)
  const listResourceTemplates = (options?: ListOptions) => call("resources/templates/list", page(options), options)
  const listPrompts = (options?: ListOptions) => call("prompts/list", page(options), options)
  return {
    ...facts,
    era: Version.eraOf(facts.version)!,
    ...notifications,
    ...extended,
    awaitSubscription,
    ended,
    ping: (options) => Effect.asVoid(call("ping", undefined, options)),
    ...toolVerbs(negotiated, toolCalls),
    listResources,
    resources: Pages.stream("resources/list", (cursor) => listResources({ cursor }), ({ resources }) => resources),
    listResourceTemplates,
    resourceTemplates: Pages.stream(
      "resources/templates/list",
      (cursor) => listResourceTemplates({ cursor }),
      ({ resourceTemplates }) => resourceTemplates
    ),
    readResource: (uri, options) => call("resources/read", { uri }, options),
    subscribeResource: (uri, options) => Effect.asVoid(call("resources/subscribe", { uri }, options)),
    unsubscribeResource: (uri, options) => Effect.asVoid(call("resources/unsubscribe", { uri }, options)),
    listPrompts,
    prompts: Pages.stream("prompts/list", (cursor) => listPrompts({ cursor }), ({ prompts }) => prompts),
    getPrompt: (name, args, options) =>
      call("prompts/get", args === undefined ? { name } : { name, arguments: args }, options),
    complete: (ref, argument, options) =>
      Effect.map(
        call(
          "completion/complete",
          options?.others === undefined ? { ref, argument } : { ref, argument, context: { arguments: options.others } },
          options
        ),
        ({ completion }) => completion
      ),
    setLoggingLevel: (level, options) => Effect.asVoid(call("logging/setLevel", { level }, options)),
    // A function cannot have the overloads of the type: a name does not fail.
    notify:
      ((method: string | Extension.Notification<"client">, params?: JsonObject) =>
        typeof method === "string" ? notify(method, params) : extended.notify(method, params)) as ClientSessionService[
          "notify"
        ],
    rootsListChanged: Effect.suspend(() => refusal(ROOTS_CHANGED) ?? notify(ROOTS_CHANGED))
  }
}

const toolVerbs = (
  { call, report, tasks: era }: NegotiatedSession,
  { checkOutputs, timeout, tools, watch }: ToolCalls
): Pick<ClientSessionService, "listTools" | "tools" | "callTool" | "tasks"> => {
  const list = tools.list(call)
  const timeLeft = (began: number, options?: CallToolOptions) => TimeLeft.since(began, "tools/call", options, timeout)
  const check: RemoteTasks.Options["check"] = (name, options, left) => (result) => {
    if (!(options?.checkOutput ?? checkOutputs)) return Effect.succeed(result)
    const found = tools.find(name, list, left?.after ?? (() => Duration.toMillis(options?.timeout ?? timeout)))
    return OutputCheck.check(name, result, found, tools.unchecked, report)
  }
  const { call: callTask, ...tasks } = RemoteTasks.make({ era, watch, timeLeft, tools, list, check })
  return {
    listTools: (options) => tools.page(call, options),
    tools: list,
    callTool: (name, args, options) => {
      const params = RemoteTasks.toParams(name, args)
      const result = era.decides === undefined ? call("tools/call", params, options) : callTask(params, options)
      return options?.checkOutput ?? checkOutputs
        ? Effect.flatMap(
          Effect.clock,
          (clock) => Effect.flatMap(result, check(name, options, timeLeft(Edition.millis(clock), options)))
        )
        : result
    },
    tasks
  }
}

const ROOTS_CHANGED = "notifications/roots/list_changed"

const page = (options: ListOptions | undefined) =>
  options?.cursor === undefined ? undefined : { cursor: options.cursor }
