/**
 * Makes servers and features. `layer` makes a server from its name and its features. `tool`, `resource`, `resourceTemplate`, `prompt` and
 * `implement` make features from definitions and their handlers.
 *
 * The features are an argument of the server's layer, so the server registers all features before it answers the first request.
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
 * The options of a server, for example its session layer, its middleware, its authenticator, its capabilities and its limits.
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
   * 2026-07-28 or later there is no handshake, and each request contains all facts about its client. Clients of different revisions may use
   * the server at the same time. Default: all revisions that this library supports.
   */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /** Instructions that say how to use the server. Clients give this text to their model. Default: none. */
  readonly instructions?: string | undefined
  /** Whether the server advertises the capability `logging`, and sends the log messages of handlers to clients. Default: `true`. */
  readonly logging?: boolean | undefined
  /** Whether clients may subscribe to resources. The function `resourceUpdated` notifies the subscribers. Default: `true`. */
  readonly subscriptions?: boolean | undefined
  /**
   * Whether the server repairs arguments that a tool does not accept. There are two repairs. When the tool's JSON Schema requires an array,
   * an object, a number or a boolean, and the argument is a string, the server parses the string. When an optional member is null, the
   * server removes the member. The server repairs arguments only if the schema leaves one way to do so: it does not repair arguments that
   * two branches of a union would accept. It also does not repair arguments in a proxy. Handlers and middleware get the repaired arguments,
   * and the server logs each repair. The option `mendArguments` of a tool turns this off for the tool. Default: `true`.
   */
  readonly mendArguments?: boolean | undefined
  /**
   * How the server treats unknown arguments: arguments that the schema of a tool does not name, and does not allow by
   * `additionalProperties` or `patternProperties`. `report`: the server logs each unknown name, together with the most similar name that
   * the tool has. When the server refuses the call for another reason, the result also tells the model the unknown names. `refuse`: the
   * server does the same, and always refuses the call. `accept`: the server does not report unknown arguments. Default: `report`.
   */
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  /** For how long clients of revision 2026-07-28 or later may cache results. Default: clients must not cache results. */
  readonly cache?: CacheHints.ServerCacheOptions | undefined
  /**
   * The secrets that encrypt the state of a request that waits for answers of the client, with revision 2026-07-28 or later. Each secret
   * has at least 32 bytes. The server encrypts with the first secret, and decrypts with every secret. To replace a secret, put the new
   * secret before the old secret. Nodes that share the requests of a client need the same secrets. Default: the keys of the service
   * `SealKeys`, if the application provides this service to the layer of the server; otherwise a random secret, which is lost when the
   * server ends.
   *
   * The state is for handlers that ask the client. When a handler asks a question, the server answers the request with the question and
   * with the encrypted state. The client sends the request again with the answers and the state. Then the handler runs again from its
   * beginning. The server itself stores nothing between these two requests.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests
   */
  readonly stateSecrets?:
    | readonly [Redacted.Redacted<string | Uint8Array>, ...Array<Redacted.Redacted<string | Uint8Array>>]
    | undefined
  /**
   * Capabilities that the server advertises in addition to the capabilities of its features. Examples are `experimental`, and `tools` of a
   * server that adds its first tool later. A client can use only the capabilities that the server has advertised to this client.
   */
  readonly capabilities?: ServerCapabilities | undefined
  /**
   * The extensions that the server supports, with the settings that the server declares. The layer dies when two extensions add the same
   * name. The server never calls a handler of an extension that is not in this list. Default: none.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /**
   * The session layer, which the server builds for each client. Handlers may use the services of this layer. Two clients never share these
   * services. With revision 2025-11-25 or earlier, the handshake builds the layer, and the end of the session releases it. With revision
   * 2026-07-28 or later on a pipe, the first request builds the layer, and the end of the pipe releases it. With revision 2026-07-28 or
   * later over HTTP, each request builds and releases the layer (see `lifetime`). The layer may require `RequestContext`, which describes
   * the client. When the layer fails, the handshake or the request fails, too. If the failure is an `McpError`, the client receives this
   * error.
   */
  readonly session?: Session | undefined
  /**
   * How long the server keeps the session layer over HTTP with revision 2026-07-28 or later. `"user"`: the server keeps one session layer
   * for each combination of user, client (`clientInfo`) and declared capabilities, and releases the layer when no request has used it for
   * `limits.userSessionIdleTimeout`. The server keeps at most 10,000 such layers, and at most 64 for one user. At the limit, a new layer
   * replaces the layer that was idle longest. `"user"` needs an `authenticator`. It also needs a server that runs on only one node: with a
   * `SessionDirectory` or a `ChangeBus`, the layer of the server dies. Default: for one request.
   */
  readonly lifetime?: "user" | undefined
  /**
   * The middleware around every message, also around the handshake. The middleware may require the user. It cannot require services of the
   * session layer, because it runs before the server builds the session layer. Handlers may use the services that the middleware provides.
   */
  readonly middleware?: Around | undefined
  /**
   * The middleware around every message after the handshake. With revision 2026-07-28 or later, which has no handshake, this is every
   * message. This middleware runs inside of `middleware`. It may require the user, and the services of the session layer and of
   * `middleware`. Handlers may use the services that it provides. For middleware around single features, see `FeatureMiddleware`.
   */
  readonly sessionMiddleware?: InSession | undefined
  /**
   * Identifies the user who has sent a message. Features, the session layer and the middleware may require this user as a service. Default:
   * the server serves every client, and has no users.
   */
  readonly authenticator?: Users | undefined
}

/**
 * The services that a server with these options provides to its handlers: the services of the session layer and of the middleware, and the
 * user.
 *
 * @category models
 */
export type Provides<Session, Around, InSession, Users> =
  | (Session extends Layer.Layer<infer S, any, any> ? S : never)
  | Middleware.Provides<Around>
  | Middleware.Provides<InSession>
  | Authenticator.Provides<Users>

/**
 * The services that a server with these options requires from the application.
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
 * Makes a server with these features. The application provides this layer to one or several transports, and the server serves the clients
 * of all of them.
 *
 * Each server builds its features separately (with its own memo map), so the application can pass one feature layer to two servers. This
 * layer requires the services that the features require. Provide them with `Layer.provide`. Three kinds of services are exceptions: the
 * user, the services of the session layer, and the services of the middleware. The server itself provides these services when a handler
 * runs.
 *
 * Several sources may provide the same service. A handler then gets the service from the first of these sources: the request, the
 * middleware, the user, the session layer, the services of the HTTP request, the context of the feature's layer.
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
 * Makes a server as `layer` does, with options that Effect reads from the configuration of the program.
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
 * A server to which the application can add features later. Its type contains the services of the session layer and the middleware, and the
 * user. So the compiler can check the features that the application adds.
 *
 * @category models
 */
export interface Defined<out Provides, out Requires> {
  /** Makes the layer of the server with its first features, in the same way as `McpServer.layer`. */
  readonly layer: <E, R>(
    features: Layer.Layer<never, E, R>
  ) => Layer.Layer<
    Dispatcher.Dispatcher | Registry.Running,
    E,
    Exclude<R, Registry.Registry | Registry.Running | Provides> | Requires
  >
  /**
   * Adds features while the server runs, until the scope closes, as `Registry.add` does. With this function, the features may also require
   * the user, and the services of the session layer and the middleware.
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
 * Defines a server to which the application can add features later. `layer` makes the server with its first features. `add` adds further
 * features, from any fiber that has the server in its context.
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
 * Makes a feature: a tool, from its definition and a handler.
 *
 * The server runs the handler of each call on a separate fiber. When the client cancels the call, the server interrupts this fiber. Before
 * the server sends the response, it releases the resources that the handler has acquired in its scope. The handler returns the tool's
 * success, or richer content made with `ToolResult`. The handler may fail with the tool's declared failure. The model reads this failure.
 * The handler may also fail with an `McpError`, which the client receives as a JSON-RPC error. The layer of the tool requires the services
 * that the handler requires.
 *
 * The layer dies when the server already has a tool with this name, or when a keyword `x-mcp-header` in the tool's schema is not valid.
 * When the layer's scope closes, the server removes the tool and notifies clients.
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
     * `true`: when a call runs as a task, the handler begins the task, with `startTask` of `ServerSession`. The handler can then ask the
     * client before the task begins. `false`: the task begins before the handler runs. Default: `false`.
     */
    readonly startsTask?: boolean | undefined
  } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make((registry, context) =>
    Build.registerTool(registry, Tools.entry(definition, handler, context, registry, options.startsTask === true))
  )

/**
 * Makes a feature: a resource, from its definition and an effect that reads the resource. The effect gives a text, bytes, or several
 * contents with a URI each.
 *
 * The layer dies when the server already has a resource with this URI. When the layer's scope closes, the server removes the resource and
 * notifies clients. When the content changes, call `resourceUpdated`, which notifies the clients that have subscribed to the resource.
 *
 * @category constructors
 */
export const resource = <const Name extends string, E = never, R = never>(
  definition: Resource.Resource<Name>,
  read: Effect.Effect<Resource.Contents, E, R> & Feature.Declared<E>,
  options: {
    /** For how long clients may cache the content, and whether caches may share it between users. Default: the server's option `cache`. */
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
 * Makes a feature: all resources of a resource template. `read` gets the decoded parameters, and the URI that contains them. When the
 * parameters of a URI do not decode, the template does not serve the URI. When several templates match a URI, the server first tries the
 * template with the most literal text.
 *
 * `complete` contains functions that complete parameters. The effect `list` gives the resources of this template for `resources/list`. The
 * server runs `list` for each of these requests.
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
    /**
     * For how long clients may cache the contents, and whether caches may share them between users. Default: the server's option `cache`.
     */
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
 * Makes a feature: a prompt, from its definition and a handler. The handler gets the decoded arguments and returns the messages. `complete`
 * contains functions that complete arguments.
 *
 * The layer dies when the server already has a prompt with this name. When the layer's scope closes, the server removes the prompt and
 * notifies clients.
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
 * Tells the clients that have subscribed to a resource that the content has changed. Call this function in a handler, or in any fiber that
 * has the server in its context.
 *
 * @category constructors
 */
export const resourceUpdated = (uri: string): Effect.Effect<void, never, Registry.Running> =>
  Effect.flatMap(Registry.Running, (registry) => registry.updated(uri))

/**
 * Sends a notification of an extension to the clients that have subscribed to it, with revision 2026-07-28 or later. The extension defines
 * whether a client subscribes to all notifications of this kind, or to notifications with certain keys. Does nothing when the extension is
 * not in the option `extensions` of the server. When a client reads slowly, the server keeps only the newest notification of each key for
 * the client. Call this function in a handler, or in any fiber that has the server in its context.
 *
 * @category utils
 */
export const notifySubscribers = <Params>(
  notification: Extension.Notification<"server", Params, "flag" | "keys">,
  params: NoInfer<Params>
): Effect.Effect<void, never, Registry.Running> =>
  Effect.flatMap(Registry.Running, (registry) => registry.notify(notification, params))

/**
 * Makes all features of a definition at once. `handlers` contains the handler of each tool under the tool's name. Its members `resources`,
 * `templates` and `prompts` contain the handlers of these kinds, also by name. The compiler refuses a missing handler, and a handler that
 * has no entry in the definition. For a template with completers or a list, give `{ read, complete, list }` in place of a function. For a
 * prompt with completers, give `{ get, complete }`.
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
