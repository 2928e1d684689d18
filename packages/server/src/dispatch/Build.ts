/**
 * Builds a server: its registry, its features, and the dispatcher of everything that the options say. `McpServer` has the
 * types, and the constructors of features.
 */
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Version from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Dispatcher from "../Dispatcher.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import * as ExtensionNotice from "../features/ExtensionNotice.js"
import * as FeatureRoutes from "../features/FeatureRoutes.js"
import * as NamingRules from "../features/NamingRules.js"
import * as Page from "../features/Page.js"
import * as RequiredScopes from "../features/RequiredScopes.js"
import * as Resources from "../features/Resources.js"
import * as TaskNotice from "../features/TaskNotice.js"
import * as Tools from "../features/Tools.js"
import type * as Middleware from "../Middleware.js"
import * as Registry from "../Registry.js"
import * as Authentication from "../runtime/Authentication.js"
import * as Release from "../runtime/Release.js"
import type { ServerMiddleware } from "../runtime/Server.js"
import * as SessionLayer from "../runtime/SessionLayer.js"
import { SealKeys } from "../SealKeys.js"
import type { ServerOptions } from "../ServerOptions.js"
import * as TaskRunner from "../tasks/TaskRunner.js"
import * as Dispatch from "./Dispatch.js"
import * as KnownMethods from "./KnownMethods.js"

type Options = ServerOptions<any, any, any, any, any, any, any, any, any>

/** Requires what the features and the options require, which only the type of `McpServer.layer` tells. */
export const make = <E>(
  info: Implementation,
  features: Layer.Layer<never, E, any>,
  options: Options
): Effect.Effect<Context.Context<Dispatcher.Dispatcher | Registry.Running>, E, Scope.Scope> =>
  Effect.gen(function*() {
    yield* NamingRules.warn("server", info)
    const extensions = yield* Effect.sync(() =>
      ExtensionTable.make(options.extensions ?? [], "server", KnownMethods.core)
    )
    const registry = yield* Effect.acquireRelease(Registry.make, ({ close }) => close)
    const logging = options.logging !== false
    const subscriptions = options.subscriptions !== false
    // The whole context: only the type checker knows what the session layer and the middleware require of it.
    const outside = (yield* Effect.context<any>()) as Context.Context<never>
    const application: Context.Context<never> = Context.add(outside, Registry.Running, registry)
    yield* Layer.buildWithMemoMap(
      Layer.provide(
        features as Layer.Layer<never, E, Registry.Registry>,
        Layer.succeedContext(Registry.context(registry))
      ),
      yield* Layer.makeMemoMap,
      yield* Release.scope("The features of the server", options.closeTimeout)
    )
    const versions = options.versions ?? Version.all
    yield* ExtensionNotice.warn(registry, extensions.byId, versions)
    yield* TaskNotice.warn(registry, versions)
    const tasks = TaskRunner.of(registry)
    const sealKeys = yield* Effect.serviceOption(SealKeys)
    const pageSize = options.pageSize ?? Page.SIZE
    const authentication = options.authenticator === undefined ? undefined : yield* Effect.mapInputContext(
      Authentication.make(options.authenticator),
      (own: Context.Context<any>) => Context.merge(application, own)
    )
    const dispatcher = yield* Dispatch.make(
      {
        info,
        versions,
        instructions: AdvertisedCapabilities.instructions(options.instructions, registry),
        logging,
        requestTimeout: options.requestTimeout ?? Dispatcher.REQUEST_TIMEOUT,
        elicitationTimeout: options.elicitationTimeout ?? "10 minutes",
        capabilities: AdvertisedCapabilities.make(registry, {
          logging,
          subscriptions,
          tasks: tasks !== undefined,
          also: options.capabilities
        }),
        features: FeatureRoutes.make(registry, { pageSize, tasks }),
        registry,
        extensions,
        session: options.session === undefined ? undefined : SessionLayer.make(
          options.session as unknown as Layer.Layer<never, unknown, any>,
          application
        ),
        middleware: withContext(options.middleware, application),
        sessionMiddleware: withContext(options.sessionMiddleware, application),
        authenticate: authentication?.authenticate,
        documents: authentication?.documents,
        requiredScopes: RequiredScopes.make(registry),
        subscriptions: subscriptions
          ? {
            isKnown: (uri) => Resources.isKnown(registry, uri),
            hidden: (uris) => Resources.hidden(registry, uris),
            max: options.maxSubscriptions,
            begin: (uri, session) => Resources.subscribable(registry, uri)?.subscribe?.(uri, session)
          }
          : undefined,
        observers: registry.observers,
        tasks,
        pageSize,
        listen: options.listen ?? {},
        cache: options.cache,
        rounds: options.rounds,
        sealKeys: options.rounds?.secrets === undefined ? Option.getOrUndefined(sealKeys) : undefined,
        inputSchema: Tools.inputSchema(registry),
        unseenTool: (tool) => Tools.unseen(registry, tool)
      },
      registry,
      options
    )
    return Context.make(Dispatcher.Dispatcher, dispatcher).pipe(Context.add(Registry.Running, registry))
  })

const withContext = (
  around: Middleware.Middleware<unknown, any> | undefined,
  application: Context.Context<never>
): ServerMiddleware | undefined =>
  around === undefined
    ? undefined
    : { around, context: Context.omit(Scope.Scope)(application as Context.Context<any>) as Context.Context<never> }
