/**
 * Builds a server for `McpServer.layer`, from the options: the registry, the features, and the dispatcher (`Dispatch`). `McpServer`
 * contains the public types of the options, and makes the features.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Release from "../../kit/Release.js"
import type { ServerCapabilities } from "../../protocol/Capabilities.js"
import type * as Extension from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { Implementation } from "../../protocol/Implementation.js"
import * as ParamHeaders from "../../protocol/modern/ParamHeaders.js"
import type { Tool } from "../../protocol/Tools.js"
import * as Version from "../../protocol/Version.js"
import type * as Authenticator from "../Authenticator.js"
import type { ServerCacheOptions } from "../CacheHints.js"
import type * as Dispatcher from "../Dispatcher.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import * as Completion from "../features/Completion.js"
import * as NamingRules from "../features/NamingRules.js"
import * as Prompts from "../features/Prompts.js"
import * as RequiredScopes from "../features/RequiredScopes.js"
import * as Resources from "../features/Resources.js"
import * as SurroundedRegistry from "../features/SurroundedRegistry.js"
import type * as ToolArguments from "../features/ToolArguments.js"
import * as Tools from "../features/Tools.js"
import type * as Middleware from "../Middleware.js"
import * as Registry from "../Registry.js"
import * as Authentication from "../runtime/Authentication.js"
import * as ResolvedLimits from "../runtime/ResolvedLimits.js"
import type { Route } from "../runtime/Route.js"
import type { ServerMiddleware } from "../runtime/Server.js"
import * as SessionLayer from "../runtime/SessionLayer.js"
import * as SealKeys from "../SealKeys.js"
import * as Defects from "../telemetry/Defects.js"
import * as Dispatch from "./Dispatch.js"
import * as ServerTasks from "./ServerTasks.js"
import { Tracing } from "./Tracing.js"

/** The options of `McpServer.layer`. `McpServer.Options` describes each option. */
export interface Given extends Dispatcher.Options, Omit<ToolArguments.Options, "report"> {
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  readonly instructions?: string | undefined
  readonly logging?: boolean | undefined
  readonly subscriptions?: boolean | undefined
  readonly cache?: ServerCacheOptions | undefined
  readonly stateSecrets?: Parameters<typeof SealKeys.fixed>[0] | undefined
  readonly capabilities?: ServerCapabilities | undefined
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  readonly session?: Layer.Layer.Any | undefined
  readonly lifetime?: "user" | undefined
  readonly middleware?: Middleware.Middleware.Any | undefined
  readonly sessionMiddleware?: Middleware.Middleware.Any | undefined
  readonly authenticator?: Authenticator.Authenticator.Any | undefined
}

/**
 * Builds the server. The effect requires the services that the features and the options require. Only the type of `McpServer.layer`
 * contains these requirements.
 */
export const make = <E>(
  info: Implementation,
  features: Layer.Layer<never, E, any>,
  options: Given
): Effect.Effect<Context.Context<Dispatcher.Dispatcher | Registry.Running>, E, Scope.Scope> =>
  Effect.gen(function*() {
    yield* NamingRules.warn("server", info)
    const extensions = yield* Effect.sync(() => ExtensionTable.make(options.extensions ?? [], "server"))
    const registry = yield* Effect.acquireRelease(Registry.make, ({ close }) => close)
    const place = new ServerTasks.TasksPlace(info)
    const logging = options.logging !== false
    const subscriptions = options.subscriptions !== false
    // The whole context. At run time nothing says which services the session layer and the middleware require.
    const outside = (yield* Effect.context<any>()) as Context.Context<never>
    const application: Context.Context<never> = Context.add(outside, Registry.Running, registry)
    yield* Layer.buildWithMemoMap(
      Layer.provide(
        features as Layer.Layer<never, E, Registry.Registry>,
        Layer.succeedContext(Context.add(SurroundedRegistry.contextOf(registry), ServerTasks.Place, place))
      ),
      yield* Layer.makeMemoMap,
      yield* Release.scope("The features of the server", options.closeTimeout)
    )
    const versions = options.versions ?? Version.all
    yield* ExtensionTable.warnOfMissing(extensions, "server", usedExtensions(registry, versions))
    const { tasks } = place
    if (tasks === undefined) yield* warnOfTasks(registry, versions)
    const limits = ResolvedLimits.ofServer(options.limits)
    // The server makes these keys only when a request first needs them, because making keys loads Node's cryptography. Most servers never
    // encrypt a state.
    const random = yield* SealKeys.memory({ every: Infinity })
    const sealKeys = options.stateSecrets === undefined
      ? Option.getOrElse(yield* Effect.serviceOption(SealKeys.SealKeys), () => random)
      : SealKeys.fixed(options.stateSecrets)
    const authentication = options.authenticator === undefined ? undefined : yield* Effect.mapInputContext(
      Authentication.make(options.authenticator),
      (own: Context.Context<any>) => Context.merge(application, own)
    )
    const session = options.session === undefined ? undefined : yield* SessionLayer.make(
      options.session as unknown as Layer.Layer<never, unknown, any>,
      application,
      { ...options, limits }
    )
    const tracing = Option.getOrUndefined(yield* Effect.serviceOption(Tracing))
    const dispatcher = yield* Dispatch.make(
      {
        info,
        versions,
        instructions: AdvertisedCapabilities.instructions(options.instructions, registry),
        logging,
        limits,
        capabilities: AdvertisedCapabilities.make(registry, {
          logging,
          subscriptions,
          tasks: tasks !== undefined,
          also: options.capabilities
        }),
        features: routes(registry, {
          pageSize: limits.pageSize,
          cache: options.cache,
          tasks,
          mendArguments: options.mendArguments,
          unknownArguments: options.unknownArguments,
          report: Defects.report(options)
        }),
        registry,
        extensions,
        session,
        tracing,
        middleware: withContext(
          tracing === undefined ? options.middleware : tracing.around(options.middleware),
          application
        ),
        sessionMiddleware: withContext(options.sessionMiddleware, application),
        authenticate: authentication?.authenticate,
        documents: authentication?.documents,
        requiredScopes: RequiredScopes.make(registry),
        taskScopes: tasks === undefined ? () => undefined : RequiredScopes.ofTask(tasks.runner.tasks),
        subscriptions: subscriptions
          ? {
            max: limits.maxSubscribedResources,
            isKnown: (uri) => Resources.isKnown(registry, uri),
            hidden: (uris) => Resources.hidden(registry, uris),
            begin: (uri, session) => Resources.subscribable(registry, uri)?.subscribe?.(uri, session)
          }
          : undefined,
        observers: registry.observers,
        tasks: tasks?.runner,
        cache: options.cache,
        sealKeys,
        inputSchema: Tools.inputSchema(registry),
        unseenTool: (tool) => Tools.unseen(registry, tool)
      },
      registry,
      tasks,
      options
    )
    return Context.make(Dispatch.Entrances, dispatcher).pipe(Context.add(Registry.Running, registry))
  })

const withContext = (
  around: Middleware.Middleware<unknown, any> | undefined,
  application: Context.Context<never>
): ServerMiddleware | undefined =>
  around === undefined
    ? undefined
    : { around, context: Context.omit(Scope.Scope)(application as Context.Context<any>) as Context.Context<never> }

/** Gives the extensions that features use, without the extensions that exist in none of the server's revisions. */
const usedExtensions = (
  { descriptions, handlers }: Registry.RegistryService,
  versions: ReadonlyArray<Version.Version>
): ReadonlyArray<string | undefined> => [
  ...Array.from(handlers.values()).flatMap(({ extension, method: { since, until } }) =>
    versions.some((version) => ExtensionTable.isIn({ since, until }, version)) ? [extension] : []
  ),
  ...Array.from(descriptions, ({ extension }) => extension)
]

/**
 * Logs a warning when some tools of a server run only as tasks, but the server runs no tasks. The server then serves the calls of these
 * tools like other calls. Logs nothing when no revision of the server has tasks.
 */
const warnOfTasks = (
  registry: Registry.RegistryService,
  versions: ReadonlyArray<Version.Version>
): Effect.Effect<void> => {
  if (!versions.some((version) => Version.isAtLeast(version, "2025-11-25"))) return Effect.void
  const names = Array.from(registry.tools.values())
    .flatMap(({ advertised, task }) => task?.support === "required" ? [`"${advertised.name}"`] : [])
  return names.length === 0 ? Effect.void : Effect.logWarning(
    `This server runs no tasks, so these tools, which require a task, are served without a task: ${
      names.join(", ")
    }. Add ` +
      "`TasksServer.layer` to its features"
  )
}

/**
 * Makes the routes of all methods of features. A client can use only the routes whose capability the server has advertised to the client.
 */
export const routes = (
  registry: Registry.RegistryService,
  options: ToolArguments.Options & {
    readonly pageSize: number
    readonly cache?: ServerCacheOptions | undefined
    readonly tasks: ServerTasks.ServerTasks | undefined
  }
): ReadonlyArray<Route> => [
  ...Tools.routes(registry, options),
  ...Resources.routes(registry, options),
  ...Prompts.routes(registry, options),
  ...Completion.routes(registry)
]

/**
 * Registers a tool. Logs a warning where the name of the tool breaks a rule. Dies when a keyword `x-mcp-header` in the tool's schema is not
 * valid.
 */
export const registerTool = (
  registry: Registry.RegistryService,
  entry: Registry.RegisteredTool
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.zipRight(
    Effect.zipRight(checkHeaderMarks(entry.advertised), NamingRules.warn("tool", entry.advertised)),
    registry.tools.register(entry)
  )

/**
 * Dies when a keyword `x-mcp-header` in the schema of a tool is not valid. This keyword says in which HTTP header clients repeat an
 * argument. Over HTTP, clients of revision 2026-07-28 or later would ignore such a tool.
 */
export const checkHeaderMarks = ({ inputSchema, name }: Tool): Effect.Effect<void> =>
  Either.match(ParamHeaders.of(inputSchema), {
    onLeft: (why) => Effect.dieMessage(`The tool "${name}" cannot be registered: ${why} (x-mcp-header)`),
    onRight: () => Effect.void
  })
