/**
 * The front desk: a server out of who it is and what it offers, and features out of definitions and handlers.
 *
 * A server is furnished before its door opens: features are an argument of its layer, and nothing is answered before all
 * of them are there.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import type * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import type * as Tool from "@effect-mcp/definition/Tool"
import type * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import { ofIssue } from "@effect-mcp/protocol/McpError"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Completer from "./Completer.js"
import * as Dispatcher from "./Dispatcher.js"
import * as Feature from "./Feature.js"
import * as AdvertisedCapabilities from "./features/AdvertisedCapabilities.js"
import * as Page from "./features/Page.js"
import * as ResourcesFeature from "./features/Resources.js"
import * as ToolsFeature from "./features/Tools.js"
import type * as Middleware from "./Middleware.js"
import * as Registry from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import * as Router from "./runtime/Router.js"
import * as SessionLayer from "./runtime/SessionLayer.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<S = never, SE = never, SR = never, P = never, PR = never> extends Dispatcher.Options {
  /** The revisions that the server speaks. Default: all that begin with `initialize`. */
  readonly versions?: readonly [LegacyVersion, ...Array<LegacyVersion>] | undefined
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined
  /** Whether what handlers `log` reaches clients, and `logging` is advertised. Default: true. */
  readonly logging?: boolean | undefined
  /** How many entries a page of a list holds. Default: 1000. */
  readonly pageSize?: number | undefined
  /** Whether clients may subscribe to resources. See `resourceUpdated`. Default: true. */
  readonly subscriptions?: boolean | undefined
  /** How many resources a client may subscribe to; more are refused. Default: 1024. */
  readonly maxSubscriptions?: number | undefined
  /** What the server says that it offers, beside what its features say for it: extensions, what is experimental. */
  readonly capabilities?: ServerCapabilities | undefined
  /**
   * Built anew for each client when it shakes hands, and gone with its session: handlers may use what it provides, and
   * come to no other client's. It may use `RequestContext`, which tells of the client. When it fails, so does the
   * handshake; an `McpError` tells the client why.
   */
  readonly session?: Layer.Layer<S, SE, SR> | undefined
  /** What stands around every message. Handlers may use what it provides. */
  readonly middleware?: Middleware.Middleware<P, PR> | undefined
}

/**
 * A server that offers these features to every transport that is put on top of it.
 *
 * The features are built with a memo map of their own, so one feature layer given to two servers serves both. What they
 * need and do not provide themselves stays in the requirements of the layer, for ordinary `Layer.provide`; what the
 * session layer and the middleware provide is there when a handler runs, not when its layer is built.
 *
 * Of a service that several provide, a handler gets the request's own, else the middleware's, else the session's, else
 * what its layer was built with.
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
 *
 * @since 0.1.0
 * @category layers
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
      const registry = yield* Registry.make
      const logging = options.logging !== false
      const subscriptions = options.subscriptions !== false
      // Whole, because what a session and a middleware need is known to the type checker only.
      const application = (yield* Effect.context<any>()) as Context.Context<never>
      yield* Layer.buildWithMemoMap(
        Layer.provide(features as Layer.Layer<never, E, Registry.Registry>, Layer.succeed(Registry.Registry, registry)),
        yield* Layer.makeMemoMap,
        yield* Effect.scope
      )
      return yield* Dispatcher.make(
        {
          info,
          versions: options.versions ?? Version.legacy,
          instructions: options.instructions,
          logging,
          capabilities: () =>
            AdvertisedCapabilities.capabilities(registry, { logging, subscriptions, also: options.capabilities }),
          router: Router.make(registry, { pageSize: options.pageSize ?? Page.SIZE }),
          session: options.session === undefined ? undefined : SessionLayer.make(
            options.session as unknown as Layer.Layer<never, unknown, any>,
            application
          ),
          middleware: options.middleware === undefined ? undefined : {
            around: options.middleware,
            context: Context.omit(Scope.Scope)(application as Context.Context<any>) as Context.Context<never>
          },
          subscriptions: subscriptions
            ? { isKnown: (uri) => ResourcesFeature.isKnown(registry, uri), max: options.maxSubscriptions }
            : undefined
        },
        registry,
        options
      )
    })
  ) as Layer.Layer<Dispatcher.Dispatcher, E, any>

/**
 * Keeps a tool: the feature that a definition and a handler make.
 *
 * The handler runs on a fiber of its own for each call, which a cancel interrupts; what it acquires in its scope is
 * released before the answer leaves. It gives the tool's success, richer content with `ToolResult`, or fails: with the
 * tool's declared failure, which the model reads, or with an `McpError`, which the calling program gets. What it needs
 * stays in the requirements of the layer and is captured when the layer is built.
 *
 * Building the layer dies when the server has a tool of this name already. When the layer's scope closes, the tool is gone
 * and clients are told.
 *
 * @since 0.1.0
 * @category features
 */
export const tool = <const Name extends string, Parameters, Arguments, Success, Failure, R = never>(
  definition: Tool.Tool<Name, Parameters, Arguments, Success, Failure>,
  handler: (
    parameters: NoInfer<Parameters>
  ) => Effect.Effect<Tool.Returns<NoInfer<Success>>, NoInfer<Failure> | Feature.Fails, R>
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make(({ tools }, context) =>
    tools.register({
      advertised: definition.advertised,
      context,
      call: ToolsFeature.call(definition, handler)
    })
  )

/**
 * Keeps a resource: `read` gives its text, its bytes, or contents with addresses of their own.
 *
 * Building the layer dies when the server has a resource at this address already. When the layer's scope closes, the
 * resource is gone and clients are told. That its content is new is told with `resourceUpdated`.
 *
 * @since 0.1.0
 * @category features
 */
export const resource = <const Name extends string, R = never>(
  definition: Resource.Resource<Name>,
  read: Effect.Effect<Resource.Contents, Feature.Fails, R>
): Feature.Feature<Exclude<R, Feature.RequestServices>> =>
  Feature.make(({ resources }, context) =>
    resources.register({
      advertised: definition.advertised,
      context,
      read: Effect.map(read, (contents) => Resource.toResult(contents, definition.uri, definition.advertised.mimeType))
    })
  )

/**
 * Keeps all resources of a template: `read` is given the parameters, decoded, and the address they were found in. An
 * address whose parameters do not decode is none of this template's; of several templates that fit, the one with the most
 * text of its own is asked first.
 *
 * `complete` completes parameters; `list` names those of the resources that are worth listing, anew for each
 * `resources/list`.
 *
 * @since 0.1.0
 * @category features
 */
export const resourceTemplate = <
  const Name extends string,
  Parameters,
  R = never,
  C extends Completer.Completers<keyof Parameters> = {},
  LR = never
>(
  definition: ResourceTemplate.ResourceTemplate<Name, Parameters>,
  read: (parameters: NoInfer<Parameters>, uri: string) => Effect.Effect<Resource.Contents, Feature.Fails, R>,
  options: {
    readonly complete?: (C & Completer.Completers<keyof NoInfer<Parameters>>) | undefined
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, Feature.Fails, LR> | undefined
  } = {}
): Feature.Feature<
  Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C> | LR, RequestContext | Scope.Scope>
> =>
  Feature.make(({ templates }, context) => {
    const { advertised, codec, template } = definition
    return templates.register({
      advertised,
      template,
      context,
      read: (found, uri) =>
        Effect.matchEffect(codec.decode(found as UriTemplate.Match), {
          onFailure: () => Effect.succeed(undefined),
          onSuccess: (parameters) =>
            Effect.map(read(parameters, uri), (contents) => Resource.toResult(contents, uri, advertised.mimeType))
        }),
      list: options.list === undefined
        ? undefined
        : Effect.map(options.list, (resources) => resources.map((resource) => resource.advertised)),
      completers: Completer.toRegistered(options.complete ?? {}, definition.enumValues)
    })
  })

/**
 * Keeps a prompt: the handler is given the arguments, decoded, and gives its messages. `complete` completes arguments.
 *
 * Building the layer dies when the server has a prompt of this name already. When the layer's scope closes, the prompt is
 * gone and clients are told.
 *
 * @since 0.1.0
 * @category features
 */
export const prompt = <
  const Name extends string,
  Parameters,
  Arguments,
  R = never,
  C extends Completer.Completers<keyof Parameters> = {}
>(
  definition: Prompt.Prompt<Name, Parameters, Arguments>,
  handler: (parameters: NoInfer<Parameters>) => Effect.Effect<Prompt.Messages, Feature.Fails, R>,
  options: { readonly complete?: (C & Completer.Completers<keyof NoInfer<Parameters>>) | undefined } = {}
): Feature.Feature<Exclude<R, Feature.RequestServices> | Exclude<Completer.Context<C>, RequestContext | Scope.Scope>> =>
  Feature.make(({ prompts }, context) => {
    const { advertised, codec, name } = definition
    return prompts.register({
      advertised,
      context,
      get: (args) =>
        Effect.matchEffect(codec.decode(args), {
          onFailure: (issue) => Effect.fail(ofIssue(issue, `arguments for prompt "${name}"`)),
          onSuccess: (parameters) =>
            Effect.map(handler(parameters), (messages) => Prompt.toResult(messages, advertised.description))
        }),
      completers: Completer.toRegistered(options.complete ?? {}, definition.enumValues)
    })
  })

/**
 * Says that the content of a resource is new: clients that have subscribed to it are told. For a handler, or a fiber, of a
 * feature's layer.
 *
 * @since 0.1.0
 * @category telling
 */
export const resourceUpdated = (uri: string): Effect.Effect<void, never, Registry.Registry> =>
  Effect.flatMap(Registry.Registry, (registry) => registry.updated(uri))

type Tools<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Tools<D> as T["name"]]: (
    parameters: Tool.Tool.Parameters<T>
  ) => Effect.Effect<Tool.Returns<Tool.Tool.Success<T>>, Tool.Tool.Failure<T> | Feature.Fails, any>
}

type Resources<D extends Definition.Definition.Any> = {
  readonly [R in Definition.Definition.Resources<D> as R["name"]]: Effect.Effect<Resource.Contents, Feature.Fails, any>
}

type Read<T> = (
  parameters: ResourceTemplate.ResourceTemplate.Parameters<T>,
  uri: string
) => Effect.Effect<Resource.Contents, Feature.Fails, any>

type Templates<D extends Definition.Definition.Any> = {
  readonly [T in Definition.Definition.Templates<D> as T["name"]]: Read<T> | {
    readonly read: Read<T>
    readonly complete?: Completer.Completers<keyof ResourceTemplate.ResourceTemplate.Parameters<T>>
    readonly list?: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, Feature.Fails, any>
  }
}

type Get<P> = (parameters: Prompt.Prompt.Parameters<P>) => Effect.Effect<Prompt.Messages, Feature.Fails, any>

type Prompts<D extends Definition.Definition.Any> = {
  readonly [P in Definition.Definition.Prompts<D> as P["name"]]: Get<P> | {
    readonly get: Get<P>
    readonly complete?: Completer.Completers<keyof Prompt.Prompt.Parameters<P>>
  }
}

type Unless<Empty, A> = [Empty] extends [never] ? {} : A

type Handlers<D extends Definition.Definition.Any> =
  & Tools<D>
  & Unless<Definition.Definition.Resources<D>, { readonly resources: Resources<D> }>
  & Unless<Definition.Definition.Templates<D>, { readonly templates: Templates<D> }>
  & Unless<Definition.Definition.Prompts<D>, { readonly prompts: Prompts<D> }>

type ContextOf<H> = H extends Effect.Effect<any, any, infer R> ? R
  : H extends (...args: any) => never ? never
  : H extends (...args: any) => Effect.Effect<any, any, infer R> ? R
  : { readonly [K in keyof H]: ContextOf<H[K]> }[keyof H]

/**
 * Keeps a whole definition at once: tools by their names, and beside them `resources`, `templates` and `prompts` by
 * theirs. A missing one does not compile, nor does one that was not promised. A template that completes or lists is
 * `{ read, complete, list }`, a prompt that completes `{ get, complete }`.
 *
 * @since 0.1.0
 * @category features
 */
export const implement = <D extends Definition.Definition.Any, const H extends Handlers<D>>(
  definition: D,
  handlers: H & { readonly [K in Exclude<keyof H, keyof Handlers<D>>]: never }
): Feature.Feature<Exclude<ContextOf<H>, Feature.RequestServices>> => {
  const by = handlers as unknown as Readonly<Record<string, any>>
  const kept: ReadonlyArray<Feature.Feature<any>> = [
    ...[...definition.tools].map(([name, promised]) => tool(promised, by[name])),
    ...[...definition.resources].map(([name, promised]) => resource(promised, by.resources[name])),
    ...[...definition.templates].map(([name, promised]) => {
      const given = by.templates[name]
      return typeof given === "function"
        ? resourceTemplate(promised, given)
        : resourceTemplate(promised, given.read, given)
    }),
    ...[...definition.prompts].map(([name, promised]) => {
      const given = by.prompts[name]
      return typeof given === "function" ? prompt(promised, given) : prompt(promised, given.get, given)
    })
  ]
  return kept.reduce((all, one) => Layer.merge(all, one), Layer.empty as Feature.Feature<any>)
}
