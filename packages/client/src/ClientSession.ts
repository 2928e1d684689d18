/**
 * The typed half of one conversation: one verb for each method that a server knows, results checked, errors named. It
 * knows the methods and nothing of how the server is reached.
 *
 * @since 0.1.0
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Completion from "@effect-mcp/protocol/Completion"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LoggingLevel, LoggingMessage } from "@effect-mcp/protocol/Logging"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import type { LegacyVersion, Version } from "@effect-mcp/protocol/Version"
import * as Versions from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ClientError, ConnectError } from "./ClientError.js"
import { fromCall } from "./ClientError.js"
import * as Features from "./Features.js"
import * as InboundHandlers from "./legacy/InboundHandlers.js"
import * as Initialize from "./legacy/Initialize.js"
import type { Change } from "./Notifications.js"
import * as Notifications from "./Notifications.js"
import type { CallOptions } from "./session/Calls.js"
import * as Calls from "./session/Calls.js"
import * as OutputCheck from "./session/OutputCheck.js"
import * as Telemetry from "./Telemetry.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Who we say we are. Default: the name and version of this library. */
  readonly clientInfo?: Implementation | undefined
  /** How long a request waits, unless it says so itself. Default: 60 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /** The revisions we speak; the latest is asked for. Default: all that begin with `initialize`. */
  readonly versions?: readonly [LegacyVersion, ...Array<LegacyVersion>] | undefined
  /** How many of the server's requests may be in flight. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How long closing waits for answers of ours that cannot be interrupted. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /**
   * Whether structured content is put to the output schema that the server lists for the tool. The list is asked for when
   * it is not known. Default: true.
   */
  readonly checkOutputs?: boolean | undefined
  /** Whether calls have spans and metrics, and the server is told of the spans. See `Telemetry`. Default: false. */
  readonly telemetry?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ListOptions extends CallOptions {
  /** Where the page begins, as the page before it said. */
  readonly cursor?: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface CallToolOptions extends CallOptions {
  /** Whether the result is put to the tool's output schema. Default: what the client was told. */
  readonly checkOutput?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ClientSessionService {
  readonly serverInfo: Implementation
  readonly serverCapabilities: ServerCapabilities
  /** How to use the server, for the model. */
  readonly instructions: string | undefined
  readonly version: Version
  readonly ping: (options?: CallOptions) => Effect.Effect<void, ClientError>
  /** One page of the tools. */
  readonly listTools: (options?: ListOptions) => Effect.Effect<Tools.ListToolsResult, ClientError>
  /** All tools, page after page; fails with reason `Decode` after 64 pages, and when a page would come twice. */
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /**
   * Calls a tool. That the tool failed is a result with `isError`; this fails when there is no result, and with reason
   * `Decode` when it is not what the tool's output schema promises.
   *
   * Interrupting it stops the tool.
   */
  readonly callTool: (
    name: string,
    args?: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError>
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
  /** Asks to be told when the content of a resource is new, on `resourceUpdates`. */
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
  /** What an argument of a prompt, or of a resource template, may become; `others` are the arguments that are known. */
  readonly complete: (
    ref: Completion.CompleteParams["ref"],
    argument: Completion.CompleteParams["argument"],
    options?: CallOptions & { readonly others?: Readonly<Record<string, string>> | undefined }
  ) => Effect.Effect<Completion.Suggestions, ClientError>
  /** Asks the server to log from this level on. */
  readonly setLoggingLevel: (level: LoggingLevel, options?: CallOptions) => Effect.Effect<void, ClientError>
  /** Any method, unchecked. */
  readonly request: (
    method: string,
    params?: JsonObject,
    options?: CallOptions
  ) => Effect.Effect<JsonObject, ClientError>
  /** Any notification; dropped when nobody is left to hear it. */
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void>
  /** Tells the server that the roots are others. The feature `Features.roots` does so by itself. */
  readonly rootsListChanged: Effect.Effect<void>
  /**
   * What the server tells unasked, from the moment this is run to the end of the conversation; a slow listener loses the
   * oldest.
   */
  readonly notifications: Stream.Stream<Notification>
  readonly logs: Stream.Stream<LoggingMessage>
  /** Which of the server's lists have changed. */
  readonly listChanges: Stream.Stream<Change>
  /** The addresses of subscribed resources whose content is new. */
  readonly resourceUpdates: Stream.Stream<string>
  /** The ids of pages that people were asked to open, and are done with. */
  readonly elicitationsCompleted: Stream.Stream<string>
  /** What was odd and ended nothing: late answers, errors without an id. Logged, while nobody listens. */
  readonly diagnostics: Stream.Stream<Diagnostic>
  /** Waits until the conversation has ended; fails if the transport did. */
  readonly ended: Effect.Effect<void, ClientError>
}

const self: Implementation = { name: "effect-mcp", version: "0.1.0" }

/**
 * Opens a conversation over a transport. It ends when the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  transport: Transport,
  options: Options = {},
  features?: Features.FeaturesService
): Effect.Effect<ClientSessionService, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const heard = yield* Notifications.make
    const can = features ?? (yield* Features.make)
    let version: LegacyVersion = Versions.latestLegacy
    const outputs = OutputCheck.make()
    const conversation = yield* Conversation.make(transport, {
      onRequest: InboundHandlers.make(can, () => version),
      onNotification: (notification) => {
        if (notification.method === Methods.toolListChanged.name) outputs.forget()
        heard.publish(notification)
        return undefined
      }
    }, {
      timeout: options.timeout ?? "60 seconds",
      maxInFlight: options.maxInFlight,
      closeTimeout: options.closeTimeout,
      report: heard.report
    })
    yield* Effect.forkScoped(Effect.interruptible(Effect.ensuring(Effect.ignore(conversation.ended), heard.end)))
    yield* hearing(can, heard)
    if (options.telemetry === true) yield* Telemetry.session
    const outbound = options.telemetry === true ? Telemetry.traced(conversation, () => version) : conversation
    const facts = yield* Initialize.run(outbound, {
      clientInfo: options.clientInfo ?? self,
      capabilities: Features.capabilities(can),
      versions: options.versions ?? Versions.legacy
    })
    version = facts.version
    const session: ClientSessionService = { ...verbs(outbound, facts, heard), ended: conversation.ended }
    yield* telling(can, session)
    return checked(session, outputs, options.checkOutputs !== false)
  })

/** One verb for each method. */
const verbs = (
  outbound: Outbound,
  facts: Initialize.Facts,
  heard: Notifications.Notifications
): Omit<ClientSessionService, "ended"> => {
  const call = Calls.make(outbound, facts.version)
  const from = (options: ListOptions | undefined) =>
    options?.cursor === undefined ? undefined : { cursor: options.cursor }
  const listTools: ClientSessionService["listTools"] = (options) => call(Methods.listTools, from(options), options)
  const listResources: ClientSessionService["listResources"] = (options) =>
    call(Methods.listResources, from(options), options)
  const listResourceTemplates: ClientSessionService["listResourceTemplates"] = (options) =>
    call(Methods.listResourceTemplates, from(options), options)
  const listPrompts: ClientSessionService["listPrompts"] = (options) =>
    call(Methods.listPrompts, from(options), options)
  return {
    ...facts,
    ping: (options) => Effect.asVoid(call(Methods.ping, undefined, options)),
    listTools,
    tools: Calls.pages(Methods.listTools, (cursor) => listTools({ cursor }), ({ tools }) => tools),
    callTool: (name, args, options) =>
      call(Methods.callTool, args === undefined ? { name } : { name, arguments: args }, options),
    listResources,
    resources: Calls.pages(Methods.listResources, (cursor) => listResources({ cursor }), ({ resources }) => resources),
    listResourceTemplates,
    resourceTemplates: Calls.pages(
      Methods.listResourceTemplates,
      (cursor) => listResourceTemplates({ cursor }),
      ({ resourceTemplates }) => resourceTemplates
    ),
    readResource: (uri, options) => call(Methods.readResource, { uri }, options),
    subscribeResource: (uri, options) => Effect.asVoid(call(Methods.subscribe, { uri }, options)),
    unsubscribeResource: (uri, options) => Effect.asVoid(call(Methods.unsubscribe, { uri }, options)),
    listPrompts,
    prompts: Calls.pages(Methods.listPrompts, (cursor) => listPrompts({ cursor }), ({ prompts }) => prompts),
    getPrompt: (name, args, options) =>
      call(Methods.getPrompt, args === undefined ? { name } : { name, arguments: args }, options),
    complete: (ref, argument, options) =>
      Effect.map(
        call(
          Methods.complete,
          options?.others === undefined ? { ref, argument } : { ref, argument, context: { arguments: options.others } },
          options
        ),
        ({ completion }) => completion
      ),
    setLoggingLevel: (level, options) => Effect.asVoid(call(Methods.setLevel, { level }, options)),
    request: (method, params, options) => Effect.mapError(Calls.send(outbound, method, params, options), fromCall),
    notify: outbound.notify,
    rootsListChanged: outbound.notify(Methods.rootsListChanged.name),
    notifications: heard.all,
    logs: heard.logs,
    listChanges: heard.listChanges,
    resourceUpdates: heard.resourceUpdates,
    elicitationsCompleted: heard.elicitationsCompleted,
    diagnostics: heard.diagnostics
  }
}

/** The same session, which does not give out what a tool has not promised. */
const checked = (
  session: ClientSessionService,
  outputs: OutputCheck.OutputCheck,
  always: boolean
): ClientSessionService => ({
  ...session,
  listTools: (options) =>
    Effect.map(session.listTools(options), (page) => {
      outputs.learn(page.tools)
      return page
    }),
  tools: Stream.map(session.tools, (tool) => {
    outputs.learn([tool])
    return tool
  }),
  callTool: (name, args, options) =>
    options?.checkOutput ?? always
      ? Effect.flatMap(session.callTool(name, args, options), (result) => outputs.check(name, result, session.tools))
      : session.callTool(name, args, options)
})

/** From before the handshake on, so that nothing is missed. */
const hearing = (
  { logging }: Features.FeaturesService,
  { logs }: Notifications.Notifications
): Effect.Effect<void, never, Scope.Scope> => {
  if (logging === undefined) return Effect.void
  const hear = Stream.runForEach(logs, (message) =>
    Effect.catchAllCause(
      Effect.scoped(Effect.mapInputContext(
        Effect.suspend(() => logging.handler(message) as Effect.Effect<void>),
        (own: Context.Context<never>) => Context.merge(own, logging.context)
      )),
      // It costs this message, and none of those to come.
      (cause) => Effect.logError("The handler of what the server logs died", cause)
    ))
  return Effect.zipRight(Effect.forkScoped(Effect.interruptible(hear)), Effect.yieldNow())
}

/** What the server is told as long as the client is connected. */
const telling = (
  { roots }: Features.FeaturesService,
  { rootsListChanged }: ClientSessionService
): Effect.Effect<unknown, never, Scope.Scope> =>
  roots?.changes === undefined
    ? Effect.void
    : Effect.forkScoped(Effect.interruptible(Stream.runForEach(roots.changes, () => rootsListChanged)))
