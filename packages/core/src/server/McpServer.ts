/**
 * Makes a server from its name and its features, and features from definitions and their handlers.
 *
 * The features are an argument of the server's layer, so the server answers no request before all features are registered.
 * `dispatch/Build` builds the server.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Definition from "../definition/Definition.js"
import type * as Prompt from "../definition/Prompt.js"
import type * as Resource from "../definition/Resource.js"
import type * as ResourceTemplate from "../definition/ResourceTemplate.js"
import type * as Tool from "../definition/Tool.js"
import type { ServerCapabilities } from "../protocol/Capabilities.js"
import type * as Extension from "../protocol/Extension.js"
import type { Implementation } from "../protocol/Implementation.js"
import type * as Version from "../protocol/Version.js"
import type { Authenticator } from "./Authenticator.js"
import * as CacheHints from "./CacheHints.js"
import type * as Completer from "./Completer.js"
import type * as DefinitionHandlers from "./DefinitionHandlers.js"
import * as Build from "./dispatch/Build.js"
import type * as Dispatcher from "./Dispatcher.js"
import * as Feature from "./Feature.js"
import type { FeatureError } from "./FeatureError.js"
import * as NamingRules from "./features/NamingRules.js"
import * as Prompts from "./features/Prompts.js"
import * as Resources from "./features/Resources.js"
import * as Tools from "./features/Tools.js"
import type { Middleware } from "./Middleware.js"
import * as Registry from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import type { ServerSession } from "./ServerSession.js"

/**
 * The options of a server: its session layer, its middleware and its users, what it advertises, and its limits.
 *
 * @category models
 */
export interface Options<
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Any | undefined = Authenticator<never>
> extends Dispatcher.Options {
  /**
   * The revisions that the server supports. With revision 2025-11-25 or earlier a conversation begins with a handshake. With revision
   * 2026-07-28 or later the server serves each request by itself. Clients of both kinds may use the server at the same time. Default: all.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /** How to use the server. Clients give this text to their model. Default: none. */
  readonly instructions?: string | undefined
  /** Whether the server sends the messages that handlers `log` to clients, and advertises `logging`. Default: `true`. */
  readonly logging?: boolean | undefined
  /** Whether clients may subscribe to resources. See `resourceUpdated`. Default: `true`. */
  readonly subscriptions?: boolean | undefined
  /**
   * Whether the server mends arguments that a tool does not accept, by the JSON Schema of the tool, where there is only one way to read
   * them. It reads a text that is JSON as an array or an object, and a text as a number or a boolean, and it leaves out null in an optional
   * member. It mends nothing where two branches of a union would accept the arguments, and nothing in a proxy. Handlers and middleware get
   * the mended arguments, and the log says what was mended. The option `mendArguments` of a tool turns this off for the tool. Default:
   * `true`.
   */
  readonly mendArguments?: boolean | undefined
  /**
   * What the server does with arguments that the schema of a tool neither names nor allows (`additionalProperties`, `patternProperties`).
   * `report` writes their names to the log, each with the most similar name that the tool has; when the server refuses the call for another
   * reason, it also names them to the model. `refuse` does the same, and refuses the call. `accept` does nothing. Default: `report`.
   */
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  /** For how long clients of revision 2026-07-28 or later may cache results. Default: not at all. */
  readonly cache?: CacheHints.ServerCacheOptions | undefined
  /**
   * The secrets that encrypt the state of a request between its rounds, with revision 2026-07-28 or later, at least 32 bytes each. The
   * first secret encrypts. Every secret decrypts, so that you can put a new secret before an old secret. Nodes that share the requests of a
   * client need the same secrets. Default: the keys of `SealKeys`, if the application provides `SealKeys` to the layer of the server;
   * otherwise a random secret, which ends with the server.
   *
   * When a handler asks a question, the round ends: the server answers the request with the question and with the encrypted state. The
   * client sends the request again with the answers and the state, and the handler runs again from its beginning. The server itself
   * remembers nothing between two rounds.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
   */
  readonly stateSecrets?:
    | readonly [Redacted.Redacted<string | Uint8Array>, ...Array<Redacted.Redacted<string | Uint8Array>>]
    | undefined
  /**
   * Capabilities that the server advertises beside the capabilities of its features, for example `experimental`, or `tools` of a server
   * that adds its first tool later. A client is served only what was advertised to it.
   */
  readonly capabilities?: ServerCapabilities | undefined
  /**
   * The extensions that the server supports, with the settings that it declares. The layer dies when two extensions add the same name.
   * Default: none. A handler of an extension that is not in this list is never called.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /**
   * A layer that is built for each client. With revision 2025-11-25 or earlier the handshake builds the layer, and the end of the session
   * releases it. With revision 2026-07-28 or later the first request of a pipe builds it, and the end of the pipe releases it; over HTTP
   * each request builds it, unless `lifetime` keeps it. Handlers may use its services. Two clients never share these services. The layer
   * may require `RequestContext`, which describes the client. When the layer fails, the handshake or the request fails; an `McpError`
   * reaches the client as it is.
   */
  readonly session?: Session | undefined
  /**
   * How long the session layer lives over HTTP where there are no sessions. `"user"` keeps it from one request to the next, for each user,
   * client (`clientInfo`) and declared capabilities, until no request has used it for `limits.userSessionIdleTimeout`. There are at most
   * 10,000 such sessions, and at most 64 of one user. A further session replaces the session that was idle longest. This option needs an
   * `authenticator`, and a server on one node: with a `SessionDirectory` or a `ChangeBus` the layer of the server dies. Default: the layer
   * lives for one request.
   */
  readonly lifetime?: "user" | undefined
  /**
   * The middleware around every message, the handshake included. It may require the user. It cannot require what the session layer
   * provides, because this does not exist yet. Handlers may use the services that the middleware provides.
   */
  readonly middleware?: Around | undefined
  /**
   * The middleware around every message of a session that exists: around every request and notification except the handshake, and except a
   * `ping` before the handshake. It runs inside of `middleware`. It may require the user, what the session layer provides, and what
   * `middleware` provides. Handlers may use the services that it provides. For single features there is `FeatureMiddleware`.
   */
  readonly sessionMiddleware?: InSession | undefined
  /**
   * Identifies the sender of each message. Features, the session layer and the middleware may use the user that it provides. Default: the
   * server serves every client, and has no users.
   */
  readonly authenticator?: Users | undefined
}

/**
 * What the options of a server provide to its handlers: the services of the session layer and of the middleware, and the user.
 *
 * @category models
 */
export type Provides<Session, Around, InSession, Users> =
  | (Session extends Layer.Layer<infer S, any, any> ? S : never)
  | Middleware.Provides<Around>
  | Middleware.Provides<InSession>
  | Authenticator.Provides<Users>

/**
 * What the options of a server require.
 *
 * @category models
 */
export type Requires<Session, Around, InSession, Users> =
  | Exclude<
    Session extends Layer.Layer<never, any, infer R> ? R : never,
    RequestContext | Scope.Scope | Authenticator.Provides<Users>
  >
  | Exclude<Middleware.Context<Around>, Authenticator.Provides<Users>>
  | Exclude<Middleware.Context<InSession>, Provides<Session, Around, never, Users> | ServerSession>
  | Authenticator.Context<Users>

/**
 * A server that offers these features over every transport that the application provides it to.
 *
 * The features are built with a memo map of their own, so one feature layer that is given to two servers serves both. What the features
 * require stays in the requirements of the layer, for `Layer.provide`. Not in the requirements are the user, and the services of the
 * session layer and of the middleware: these exist when a handler runs, not when its layer is built.
 *
 * Where several sources provide the same service, a handler gets it from the first source in this order: the request, the middleware, the
 * user, the session layer, the services of the HTTP request, the context that the layer of its feature was built with.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Schema } from "effect"
 *
 * const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
 * const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))
 *
 * export const Server = McpServer.layer({ name: "greeter", version: "1.0.0" }, GreetLive)
 * ```
 * @category layers
 */
export const layer = <
  E = never,
  R = never,
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Any | undefined = Authenticator<never>
>(
  info: Implementation,
  features: Layer.Layer<never, E, R>,
  options: Options<Session, Around, InSession, Users> = {}
): Layer.Layer<
  Dispatcher.Dispatcher | Registry.Running,
  E,
  | Exclude<R, Registry.Registry | Registry.Running | Provides<Session, Around, InSession, Users>>
  | Requires<Session, Around, InSession, Users>
> =>
  Layer.scopedContext(Build.make(info, features, options)) as Layer.Layer<
    Dispatcher.Dispatcher | Registry.Running,
    E,
    any
  >

/**
 * `layer`, with options from the configuration of the program.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import { Config, Layer } from "effect"
 *
 * const options = Config.all({ instructions: Config.string("MCP_INSTRUCTIONS") })
 *
 * export const Server = McpServer.layerConfig({ name: "greeter", version: "1.0.0" }, Layer.empty, options)
 * ```
 * @category layers
 */
export const layerConfig = <
  E = never,
  R = never,
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Any | undefined = Authenticator<never>
>(
  info: Implementation,
  features: Layer.Layer<never, E, R>,
  options: Config.Config<Options<Session, Around, InSession, Users>>
): Layer.Layer<
  Dispatcher.Dispatcher | Registry.Running,
  E | ConfigError,
  | Exclude<R, Registry.Registry | Registry.Running | Provides<Session, Around, InSession, Users>>
  | Requires<Session, Around, InSession, Users>
> => Layer.unwrapEffect(Effect.map(options, (options) => layer(info, features, options)))

/**
 * A server whose session layer, middleware and user are known, so that the compiler can check features that are added to the server later.
 *
 * @category models
 */
export interface Defined<out Provides, out Requires> {
  /** The server with these features, as `McpServer.layer` makes it. */
  readonly layer: <E, R>(
    features: Layer.Layer<never, E, R>
  ) => Layer.Layer<
    Dispatcher.Dispatcher | Registry.Running,
    E,
    Exclude<R, Registry.Registry | Registry.Running | Provides> | Requires
  >
  /**
   * Adds features while the server runs, until the scope closes, as `Registry.add` does. These features may also require the user, and what
   * the session layer and the middleware provide.
   */
  readonly add: <E, R>(
    features: Layer.Layer<never, E, R>
  ) => Effect.Effect<
    void,
    E | FeatureError,
    Exclude<R, Registry.Registry | Provides | Scope.Scope> | Registry.Running | Scope.Scope
  >
}

/**
 * A server that gets its features later: `layer` makes the server with its first features, and `add` adds further features, from any fiber
 * that has the server in its context.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Context, Effect, Layer } from "effect"
 *
 * class Cart extends Context.Tag("Cart")<Cart, Array<string>>() {}
 *
 * const Shop = McpServer.define({ name: "shop", version: "1.0.0" }, {
 *   session: Layer.sync(Cart, () => []),
 *   capabilities: { tools: { listChanged: true } }
 * })
 *
 * const sell = (item: string) =>
 *   McpServer.tool(Tool.make(`buy-${item}`), () => Effect.map(Cart, (cart) => void cart.push(item)))
 *
 * // For one hour there are apples.
 * const season = Effect.scoped(Effect.zipRight(Shop.add(sell("apple")), Effect.sleep("1 hour")))
 *
 * export const Live = Layer.scopedDiscard(Effect.forkScoped(season)).pipe(
 *   Layer.provideMerge(Shop.layer(sell("bread")))
 * )
 * ```
 * @category constructors
 */
export const define = <
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Any | undefined = Authenticator<never>
>(
  info: Implementation,
  options: Options<Session, Around, InSession, Users> = {}
): Defined<Provides<Session, Around, InSession, Users>, Requires<Session, Around, InSession, Users>> => ({
  layer: (features) => layer(info, features, options),
  add: Registry.add as Defined<any, any>["add"]
})

/**
 * A tool, from its definition and a handler.
 *
 * Each call runs the handler on a fiber of its own. When the client cancels the call, this fiber is interrupted. What the handler acquires
 * in its scope is released before the response leaves. The handler returns the tool's success, or richer content made with `ToolResult`. It
 * fails with the tool's declared failure, which the model reads, or with an `McpError`, which the calling program receives. The services
 * that the handler requires stay in the requirements of the layer; it gets the services that the layer was built with.
 *
 * The layer dies when the server has a tool of this name already, or when a mark `x-mcp-header` in its schema is not valid. When the
 * layer's scope closes, the tool is removed and clients are notified.
 *
 * @category constructors
 */
export const tool = <const Name extends string, Parameters, Arguments, Success, Failure, E = never, R = never>(
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  handler: (
    parameters: NoInfer<Parameters>
  ) => Effect.Effect<Tool.Returns<NoInfer<Success>>, E, R> & Feature.Declared<E, NoInfer<Failure>>,
  options: {
    /**
     * Whether the handler of a tool that runs as a task begins the task itself, with `startTask` of `ServerSession`. Such a handler can ask
     * the client before the task begins. Default: `false`; the task begins before the handler runs.
     */
    readonly startsTask?: boolean | undefined
  } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make((registry, context) =>
    Build.registerTool(registry, Tools.entry(definition, handler, context, registry, options.startsTask === true))
  )

/**
 * A resource, from its definition and an effect that reads it: text, bytes, or contents with URIs of their own.
 *
 * The layer dies when the server has a resource of this URI already. When the layer's scope closes, the resource is removed and clients are
 * notified. When the content changes, call `resourceUpdated`, which notifies the clients that have subscribed to the resource.
 *
 * @category constructors
 */
export const resource = <const Name extends string, E = never, R = never>(
  definition: Resource.Resource<Name>,
  read: Effect.Effect<Resource.Contents, E, R> & Feature.Declared<E>,
  options: {
    /** For how long clients may cache the content, and whether for other users, too. Default: what the server's option `cache` says. */
    readonly cache?: CacheHints.CacheOptions | undefined
  } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make(({ resources }, context) =>
    Effect.zipRight(
      NamingRules.warn("resource", definition.advertised),
      resources.register(Resources.entry(definition, read, context, CacheHints.toHints(options.cache)))
    )
  )

/**
 * All resources of a template. `read` gets the decoded parameters and the URI that they come from. A template does not serve a URI whose
 * parameters do not decode. Where several templates match a URI, the template with the most literal text reads first.
 *
 * `complete` completes parameters. `list` gives the resources of this template for `resources/list`; it runs for each request.
 *
 * @category constructors
 */
export const resourceTemplate = <
  const Name extends string,
  Parameters,
  E = never,
  R = never,
  C extends Completer.Completers<keyof Parameters> = {},
  LE = never,
  LR = never
>(
  definition: ResourceTemplate.ResourceTemplate<Name, Parameters>,
  read: (parameters: NoInfer<Parameters>, uri: string) => Effect.Effect<Resource.Contents, E, R> & Feature.Declared<E>,
  options: {
    readonly complete?:
      | (C & Completer.Completers<keyof NoInfer<Parameters>> & Completer.Checked<NoInfer<C>>)
      | undefined
    readonly list?:
      | (Effect.Effect<ReadonlyArray<Resource.Resource.Any>, LE, LR> & Feature.Allowed<LE>)
      | undefined
    /** For how long clients may cache the contents, and whether for other users, too. Default: what the server's option `cache` says. */
    readonly cache?: CacheHints.CacheOptions | undefined
  } = {}
): Feature.Feature<
  Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C> | LR, RequestContext | Scope.Scope>
> =>
  Feature.make(({ templates }, context) =>
    Effect.zipRight(
      NamingRules.warn("resource template", definition.advertised),
      templates.register(
        Resources.templateEntry(definition, read, { ...options, hints: CacheHints.toHints(options.cache) }, context)
      )
    )
  )

/**
 * A prompt, from its definition and a handler, which gets the decoded arguments and returns the messages. `complete`
 * completes arguments.
 *
 * The layer dies when the server has a prompt of this name already. When the layer's scope closes, the prompt is removed
 * and clients are notified.
 *
 * @category constructors
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
  options: {
    readonly complete?:
      | (C & Completer.Completers<keyof NoInfer<Parameters>> & Completer.Checked<NoInfer<C>>)
      | undefined
  } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C>, RequestContext | Scope.Scope>> =>
  Feature.make(({ prompts }, context) =>
    Effect.zipRight(
      NamingRules.warn("prompt", definition.advertised),
      prompts.register(Prompts.entry(definition, handler, options.complete, context))
    )
  )

/**
 * Notifies the clients that have subscribed to a resource that its content has changed. For handlers, and for any fiber that
 * has the server in its context.
 *
 * @category constructors
 */
export const resourceUpdated = (uri: string): Effect.Effect<void, never, Registry.Running> =>
  Effect.flatMap(Registry.Running, (registry) => registry.updated(uri))

/**
 * Sends a notification of an extension to the clients that have subscribed to it, with revision 2026-07-28 or later. A client subscribes
 * with the flag of the notification, or with the key that these parameters have. Does nothing on a server that does not have the extension
 * among its `extensions`. While a client reads slowly, only the newest notification of each key waits for the client. For handlers, and for
 * any fiber that has the server in its context.
 *
 * @category utils
 */
export const notifySubscribers = <Params>(
  notification: Extension.Notification<"server", Params, "flag" | "keys">,
  params: NoInfer<Params>
): Effect.Effect<void, never, Registry.Running> =>
  Effect.flatMap(Registry.Running, (registry) => registry.notify(notification, params))

/**
 * All features of a definition at once. `handlers` has the handler of each tool under the tool's name. Its members `resources`, `templates`
 * and `prompts` have the handlers of these kinds, again by name. The compiler refuses a missing handler, and a handler of something that
 * the definition does not have. A template with completers or a list is `{ read, complete, list }`. A prompt with completers is `{ get,
 * complete }`.
 *
 * @category utils
 */
export const implement = <D extends Definition.Definition.Any, const H extends DefinitionHandlers.Handlers<D>>(
  definition: D,
  handlers: H & DefinitionHandlers.Checked<D, NoInfer<H>>
): Feature.Feature<Exclude<DefinitionHandlers.Context<H>, Feature.RequestServices>> => {
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
