/**
 * Makes a server from its name and its features, and features from definitions and their handlers.
 *
 * The features are an argument of the server's layer, so the server answers no request before all of them are registered.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type * as Prompt from "@effect-mcp/definition/Prompt"
import type * as Resource from "@effect-mcp/definition/Resource"
import type * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import type * as Tool from "@effect-mcp/definition/Tool"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Version from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { CacheOptions, ServerCacheOptions } from "./CacheOptions.js"
import * as Cache from "./CacheOptions.js"
import type * as Completer from "./Completer.js"
import * as Dispatch from "./dispatch/Dispatch.js"
import * as HeaderMarks from "./dispatch/HeaderMarks.js"
import * as KnownMethods from "./dispatch/KnownMethods.js"
import * as Dispatcher from "./Dispatcher.js"
import * as Feature from "./Feature.js"
import * as AdvertisedCapabilities from "./features/AdvertisedCapabilities.js"
import * as FeatureRoutes from "./features/FeatureRoutes.js"
import * as NamingRules from "./features/NamingRules.js"
import * as Page from "./features/Page.js"
import * as Prompts from "./features/Prompts.js"
import * as Resources from "./features/Resources.js"
import * as Tools from "./features/Tools.js"
import type * as Implement from "./Implement.js"
import type { ListenOptions } from "./ListenOptions.js"
import type * as Middleware from "./Middleware.js"
import * as Registry from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import type { RoundOptions } from "./RoundOptions.js"
import * as Release from "./runtime/Release.js"
import * as Router from "./runtime/Router.js"
import * as SessionLayer from "./runtime/SessionLayer.js"

export interface Options<S = never, SE = never, SR = never, P = never, PR = never> extends Dispatcher.Options {
  /**
   * The revisions that the server supports. Those up to 2025-11-25 begin with a handshake; from 2026-07-28 on, each request is
   * served by itself. Clients of both kinds may use the server at the same time. Default: all.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined
  /** Whether the messages that handlers `log` are sent to clients, and `logging` is advertised. Default: true. */
  readonly logging?: boolean | undefined
  /**
   * How long a question to a person (`elicit`, `elicitUrl`, and in `ask`) waits for its answer, unless it has a timeout. It
   * ends at once with the session. Default: 10 minutes.
   */
  readonly elicitationTimeout?: Duration.DurationInput | undefined
  /** The number of entries on a page of a list. Default: 1000. */
  readonly pageSize?: number | undefined
  /** Whether clients may subscribe to resources. See `resourceUpdated`. Default: true. */
  readonly subscriptions?: boolean | undefined
  /** The limit of the resources that one client may subscribe to. Default: 1024. */
  readonly maxSubscriptions?: number | undefined
  /** The limits of the subscriptions of clients from 2026-07-28 on. */
  readonly listen?: ListenOptions | undefined
  /** For how long clients may cache results, from 2026-07-28 on. Default: not at all. */
  readonly cache?: ServerCacheOptions | undefined
  /** How requests are served whose handlers ask the client, from 2026-07-28 on. */
  readonly rounds?: RoundOptions | undefined
  /**
   * Capabilities to advertise beside those of the features, for example `experimental`, or `tools` of a server that adds its
   * first tool later: clients are served only what was advertised to them.
   */
  readonly capabilities?: ServerCapabilities | undefined
  /**
   * The extensions that the server supports, with the settings that it declares. The layer dies when two of them add the
   * same. Default: none; handlers of extensions that are not here serve nothing.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /**
   * A layer that is built for each client during the handshake, and released with its session; from 2026-07-28 on, for each
   * request. Handlers may use its
   * services; two clients never share them. It may require `RequestContext`, which describes the client. When the layer
   * fails, the handshake fails; the client receives an `McpError` as it is.
   */
  readonly session?: Layer.Layer<S, SE, SR> | undefined
  /** The middleware around every message. Handlers may use the services that it provides. */
  readonly middleware?: Middleware.Middleware<P, PR> | undefined
}

/**
 * A server that offers these features over every transport that is provided with it.
 *
 * The features are built with a memo map of their own, so one feature layer that is given to two servers serves both. Their
 * requirements stay in the requirements of the layer, for `Layer.provide`, except the services of the session layer and of
 * the middleware: those exist when a handler runs, not when its layer is built.
 *
 * Where several sources provide the same service, a handler gets that of the request, else of the middleware, else of the
 * session layer, else the one that its own layer was built with.
 *
 * @example
 * ```ts
 * import * as Tool from "@effect-mcp/definition/Tool"
 * import * as McpServer from "@effect-mcp/server/McpServer"
 * import { Effect, Schema } from "effect"
 *
 * const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
 * const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))
 *
 * export const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, GreetLive)
 * ```
 */
export const layer = <E = never, R = never, S = never, SE = never, SR = never, P = never, PR = never>(
  info: Implementation,
  features: Layer.Layer<never, E, R>,
  options: Options<S, SE, SR, P, PR> = {}
): Layer.Layer<
  Dispatcher.Dispatcher,
  E,
  Exclude<R, Registry.Registry | S | P> | Exclude<SR, RequestContext | Scope.Scope> | PR
> =>
  Layer.scoped(
    Dispatcher.Dispatcher,
    Effect.gen(function*() {
      yield* NamingRules.warn("server", info)
      const extensions = yield* Effect.sync(() =>
        ExtensionTable.make(options.extensions ?? [], "server", KnownMethods.core)
      )
      const registry = yield* Registry.make
      const logging = options.logging !== false
      const subscriptions = options.subscriptions !== false
      // The whole context: only the type checker knows what the session layer and the middleware require of it.
      const application = (yield* Effect.context<any>()) as Context.Context<never>
      yield* Layer.buildWithMemoMap(
        Layer.provide(features as Layer.Layer<never, E, Registry.Registry>, Layer.succeed(Registry.Registry, registry)),
        yield* Layer.makeMemoMap,
        yield* Release.scope("The features of the server", options.closeTimeout)
      )
      return yield* Dispatch.make(
        {
          info,
          versions: options.versions ?? Version.all,
          instructions: options.instructions,
          logging,
          requestTimeout: options.requestTimeout ?? Dispatcher.REQUEST_TIMEOUT,
          elicitationTimeout: options.elicitationTimeout ?? "10 minutes",
          capabilities: AdvertisedCapabilities.make(registry, { logging, subscriptions, also: options.capabilities }),
          router: Router.make(
            registry,
            FeatureRoutes.make(registry, { pageSize: options.pageSize ?? Page.SIZE }),
            extensions
          ),
          extensions,
          session: options.session === undefined ? undefined : SessionLayer.make(
            options.session as unknown as Layer.Layer<never, unknown, any>,
            application
          ),
          middleware: options.middleware === undefined ? undefined : {
            around: options.middleware,
            context: Context.omit(Scope.Scope)(application as Context.Context<any>) as Context.Context<never>
          },
          subscriptions: subscriptions
            ? { isKnown: (uri) => Resources.isKnown(registry, uri), max: options.maxSubscriptions }
            : undefined,
          listen: options.listen ?? {},
          cache: options.cache,
          rounds: options.rounds,
          inputSchema: (tool) => registry.tools.get(tool)?.advertised.inputSchema
        },
        registry,
        options
      )
    })
  ) as Layer.Layer<Dispatcher.Dispatcher, E, any>

/**
 * A tool, from its definition and a handler.
 *
 * Each call runs the handler on a fiber of its own, which a cancellation by the client interrupts; what the handler
 * acquires in its scope is released before the response leaves. The handler returns the tool's success, or richer content
 * made with `ToolResult`. It fails with the tool's declared failure, which the model reads, or with an `McpError`, which the
 * calling program receives. Its requirements stay in the requirements of the layer and are captured when the layer is
 * built.
 *
 * The layer dies when the server has a tool of this name already, and when a mark `x-mcp-header` in its schema is not valid. When the layer's scope closes, the tool is removed and
 * clients are notified.
 */
export const tool = <const Name extends string, Parameters, Arguments, Success, Failure, E = never, R = never>(
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  handler: (
    parameters: NoInfer<Parameters>
  ) => Effect.Effect<Tool.Returns<NoInfer<Success>>, E, R> & Feature.Declared<E, NoInfer<Failure>>
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make((registry, context) =>
    Effect.zipRight(
      Effect.zipRight(HeaderMarks.check(definition.advertised), NamingRules.warn("tool", definition.advertised)),
      registry.tools.register(Tools.entry(definition, handler, context, registry))
    )
  )

/**
 * A resource, from its definition and an effect that reads it: text, bytes, or contents with URIs of their own.
 *
 * The layer dies when the server has a resource of this URI already. When the layer's scope closes, the resource is removed
 * and clients are notified. `resourceUpdated` notifies the clients that have subscribed to it of new content.
 */
export const resource = <const Name extends string, E = never, R = never>(
  definition: Resource.Resource<Name>,
  read: Effect.Effect<Resource.Contents, E, R> & Feature.Declared<E>,
  options: {
    /** For how long clients may cache the content. Default: as the server's `cache` says. */
    readonly cache?: CacheOptions | undefined
  } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make(({ resources }, context) =>
    Effect.zipRight(
      NamingRules.warn("resource", definition.advertised),
      resources.register(Resources.entry(definition, read, context, Cache.toHints(options.cache)))
    )
  )

/**
 * All resources of a template. `read` gets the decoded parameters and the URI that they were found in. A template does not
 * serve a URI whose parameters do not decode. Where several templates match a URI, the one with the most literal text reads
 * first.
 *
 * `complete` completes parameters. `list` gives the resources that `resources/list` includes; it runs for each request.
 */
export const resourceTemplate = <
  const Name extends string,
  Parameters,
  E = never,
  R = never,
  C extends Completer.Completers<keyof Parameters> = {},
  LR = never
>(
  definition: ResourceTemplate.ResourceTemplate<Name, Parameters>,
  read: (parameters: NoInfer<Parameters>, uri: string) => Effect.Effect<Resource.Contents, E, R> & Feature.Declared<E>,
  options: {
    readonly complete?: (C & Completer.Completers<keyof NoInfer<Parameters>>) | undefined
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, Feature.Fails, LR> | undefined
    /** For how long clients may cache the contents. Default: as the server's `cache` says. */
    readonly cache?: CacheOptions | undefined
  } = {}
): Feature.Feature<
  Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C> | LR, RequestContext | Scope.Scope>
> =>
  Feature.make(({ templates }, context) =>
    Effect.zipRight(
      NamingRules.warn("resource template", definition.advertised),
      templates.register(
        Resources.templateEntry(definition, read, { ...options, hints: Cache.toHints(options.cache) }, context)
      )
    )
  )

/**
 * A prompt, from its definition and a handler, which gets the decoded arguments and returns the messages. `complete`
 * completes arguments.
 *
 * The layer dies when the server has a prompt of this name already. When the layer's scope closes, the prompt is removed
 * and clients are notified.
 */
export const prompt = <
  const Name extends string,
  Parameters,
  Arguments,
  E = never,
  R = never,
  C extends Completer.Completers<keyof Parameters> = {}
>(
  definition: Prompt.Prompt<Name, Parameters, Arguments>,
  handler: (parameters: NoInfer<Parameters>) => Effect.Effect<Prompt.Messages, E, R> & Feature.Declared<E>,
  options: { readonly complete?: (C & Completer.Completers<keyof NoInfer<Parameters>>) | undefined } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C>, RequestContext | Scope.Scope>> =>
  Feature.make(({ prompts }, context) =>
    Effect.zipRight(
      NamingRules.warn("prompt", definition.advertised),
      prompts.register(Prompts.entry(definition, handler, options.complete, context))
    )
  )

/**
 * Notifies the clients that have subscribed to a resource that its content has changed. For a handler, or for a fiber of a
 * feature's layer.
 */
export const resourceUpdated = (uri: string): Effect.Effect<void, never, Registry.Registry> =>
  Effect.flatMap(Registry.Registry, (registry) => registry.updated(uri))

/**
 * Sends a notification of an extension to the clients that have subscribed to it, from 2026-07-28 on: by its flag, or by the
 * key of these parameters. Does nothing on a server that was not given the extension. While a client reads slowly, it gets
 * the newest notification of each key.
 */
export const notifySubscribers = <Params>(
  notification: Extension.Notification<"server", Params, "flag" | "keys">,
  params: NoInfer<Params>
): Effect.Effect<void, never, Registry.Registry> =>
  Effect.flatMap(Registry.Registry, (registry) => registry.notify(notification, params))

/**
 * All features of a definition at once: the handlers of the tools by their names, and beside them `resources`, `templates`
 * and `prompts`, each by their names. A missing handler does not compile, nor does one that the definition does not have. A
 * template with completers or a list is `{ read, complete, list }`, a prompt with completers `{ get, complete }`.
 */
export const implement = <D extends Definition.Definition.Any, const H extends Implement.Handlers<D>>(
  definition: D,
  handlers: H & { readonly [K in Exclude<keyof H, keyof Implement.Handlers<D>>]: never }
): Feature.Feature<Exclude<Implement.Context<H>, Feature.RequestServices>> => {
  const byName = handlers as unknown as Readonly<Record<string, any>>
  const features: ReadonlyArray<Feature.Feature<any>> = [
    ...[...definition.tools].map(([name, one]) => tool(one, byName[name])),
    ...[...definition.resources].map(([name, one]) => resource(one, byName.resources[name])),
    ...[...definition.templates].map(([name, one]) => {
      const given = byName.templates[name]
      return typeof given === "function" ? resourceTemplate(one, given) : resourceTemplate(one, given.read, given)
    }),
    ...[...definition.prompts].map(([name, one]) => {
      const given = byName.prompts[name]
      return typeof given === "function" ? prompt(one, given) : prompt(one, given.get, given)
    })
  ]
  return features.reduce((all, one) => Layer.merge(all, one), Layer.empty as Feature.Feature<any>)
}
