/**
 * A client of one server. The client is connected when its effect or layer is built, and is closed when its scope closes. `make` and
 * `layer` take any `Connector`: for a subprocess, for a URL, for a server in the same process, or for a transport that the application has
 * made. `of` makes a function for each tool, prompt and resource of a definition. `negotiation/Negotiation` opens the session, and
 * `session/Verbs` makes the functions of the session.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type * as Definition from "../definition/Definition.js"
import type * as Prompt from "../definition/Prompt.js"
import type * as Resource from "../definition/Resource.js"
import type * as ResourceTemplate from "../definition/ResourceTemplate.js"
import type * as Tool from "../definition/Tool.js"
import type { Connector } from "../jsonrpc/Connector.js"
import * as EffectInternals from "../kit/EffectInternals.js"
import * as Release from "../kit/Release.js"
import * as ScopeEnd from "../kit/ScopeEnd.js"
import * as ExtensionTable from "../protocol/extension/ExtensionTable.js"
import type { Implementation } from "../protocol/Implementation.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import type * as Tools from "../protocol/Tools.js"
import * as Version from "../protocol/Version.js"
import type { ClientError, ConnectError, ToolError } from "./ClientError.js"
import * as ClientFeatures from "./ClientFeatures.js"
import type * as ClientSession from "./ClientSession.js"
import { GivenExtensions } from "./negotiation/GivenExtensions.js"
import * as Negotiation from "./negotiation/Negotiation.js"
import * as FeatureFibers from "./session/FeatureFibers.js"
import * as ServerTools from "./session/ServerTools.js"
import * as TaskWatch from "./session/TaskWatch.js"
import { Tracing } from "./session/Tracing.js"
import * as TypedTool from "./session/TypedTool.js"
import * as Verbs from "./session/Verbs.js"

/**
 * The session with the server, as a service. An application with several servers uses `ClientSessionGroup`, or one `Tag` for each server.
 *
 * @category tags
 */
export class Client extends Context.Tag("@effect-mcp/core/Client")<Client, ClientSession.ClientSessionService>() {}

/** @category models */
export interface Options<E = never, R = ClientFeatures.ClientFeatures> extends ClientSession.Options {
  /** The features that the client offers to the server, such as sampling and elicitation; see `ClientFeatures`. Default: no features. */
  readonly features?: Layer.Layer<never, E, R> | undefined
}

/**
 * Connects to a server, in a protocol era that both sides support. In the modern era (revision 2026-07-28) there is no session. In the
 * legacy era (revisions up to 2025-11-25) a handshake opens a session. The effect fails when the server cannot be reached, does not answer
 * in time, or has no revision in common with the client. Before the effect fails, it closes everything that it has opened.
 *
 * The client remembers the era of the server for all later connections of the same connector.
 *
 * The client builds the features before it connects. Each client has its own memo map, so two clients with the same layer build that layer
 * twice.
 *
 * @category constructors
 */
export const make = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Effect.Effect<
  ClientSession.ClientSessionService,
  ConnectError | E,
  Exclude<R, ClientFeatures.ClientFeatures> | RC | Scope.Scope
> =>
  Effect.gen(function*() {
    const scope = yield* EffectInternals.childOf(yield* Effect.scope)
    return yield* Effect.gen(function*() {
      const features = yield* ClientFeatures.make
      if (options?.features !== undefined) {
        yield* Layer.buildWithMemoMap(
          Layer.provide(
            options.features as Layer.Layer<never, E, ClientFeatures.ClientFeatures>,
            Layer.succeed(ClientFeatures.ClientFeatures, features)
          ),
          yield* Layer.makeMemoMap,
          yield* Release.scope("The features of a client", options.closeTimeout)
        )
      }
      return yield* connect(connector, options ?? {}, features)
    }).pipe(
      Scope.extend(scope),
      Effect.onError((cause) => ScopeEnd.close(scope, Exit.failCause(cause)))
    )
  })

const TIMEOUT = "60 seconds"

const self: Implementation = { name: "effect-mcp", version: "0.1.0" }

/**
 * Opens a session with the server that a connector reaches. If the first connection cannot start a session after a probe, the client
 * connects a second time. Some legacy servers work only when `initialize` is their first request.
 */
const connect = <R>(
  connector: Connector<R>,
  options: ClientSession.Options,
  features: ClientFeatures.FeaturesService
): Effect.Effect<ClientSession.ClientSessionService, ConnectError, R | Scope.Scope> =>
  Effect.gen(function*() {
    const extensions = yield* Effect.sync(() => ExtensionTable.make(options.extensions ?? [], "client"))
    yield* ExtensionTable.warnOfMissing(extensions, "client", [
      ...Array.from(features.custom.values(), ({ request }) => request?.extension),
      ...Array.from(features.results.keys(), ({ extension }) => extension)
    ])
    const tools = new ServerTools.ServerToolsService()
    const tracing = Option.map(yield* Effect.serviceOption(Tracing), (of) => of(connector))
    const watch = TaskWatch.make()
    const negotiated = yield* Negotiation.connect(connector, {
      ...options,
      clientInfo: options.clientInfo ?? self,
      versions: options.versions ?? Version.all,
      features,
      extensions,
      tools,
      tracing: Option.getOrUndefined(tracing),
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
    // Revisions before 2025-06-18 have no output schemas.
    const checkOutputs = options.checkOutputs !== false && Version.isAtLeast(negotiated.facts.version, "2025-06-18")
    const timeout = options.timeouts?.["tools/call"] ?? options.timeout ?? TIMEOUT
    const session = Verbs.make(negotiated, { checkOutputs, timeout, tools, watch })
    yield* FeatureFibers.announceRootChanges(
      features,
      Effect.ignore(session.rootsListChanged),
      options.closeTimeout
    )
    return session
  })

/**
 * Makes a layer that connects as `make` does. The client is closed when the layer is released.
 *
 * @category layers
 */
export const layer = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Layer.Layer<Client, ConnectError | E, Exclude<Exclude<R, ClientFeatures.ClientFeatures> | RC, Scope.Scope>> =>
  Layer.scoped(Client, make(connector, options))

/**
 * The value with which a call to a tool succeeds: the decoded success value of the tool, or the whole result if the tool declares no
 * success.
 *
 * @category models
 */
export type Success<T> = [Tool.Tool.Success<T>] extends [void] ? Tools.CallToolResult : Tool.Tool.Success<T>

/** The arguments of a tool. For a tool without parameters they are an empty object, so the compiler refuses call options in their place. */
type NamedOnly<Arguments> = [keyof Arguments] extends [never] ? Readonly<Record<string, never>> : Arguments

/**
 * A tool as a function. The function fails with the failure that the tool declares. It fails with `ToolError` when the tool failed in
 * another way, and with a `ClientError` when the call itself failed.
 *
 * @category models
 */
export type Call<T> = {} extends Tool.Tool.Arguments<T> ? (
    args?: NamedOnly<Tool.Tool.Arguments<T>>,
    options?: ClientSession.CallOptions
  ) => Effect.Effect<Success<T>, Tool.Tool.Failure<T> | ToolError | ClientError>
  : (
    args: Tool.Tool.Arguments<T>,
    options?: ClientSession.CallOptions
  ) => Effect.Effect<Success<T>, Tool.Tool.Failure<T> | ToolError | ClientError>

type Unless<Empty, A> = [Empty] extends [never] ? {} : A

/**
 * A definition as functions. The tools are under their names. `resources`, `templates` and `prompts` are present if the definition has any.
 *
 * @category models
 */
export type Typed<D extends Definition.Definition.Any> = Schema.Simplify<
  & { readonly [T in Definition.Definition.Tools<D> as T["name"]]: Call<T> }
  & Unless<Definition.Definition.Resources<D>, {
    readonly resources: {
      readonly [R in Definition.Definition.Resources<D> as R["name"]]: (
        options?: ClientSession.CallOptions
      ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
    }
  }>
  & Unless<Definition.Definition.Templates<D>, {
    readonly templates: {
      readonly [T in Definition.Definition.Templates<D> as T["name"]]: (
        parameters: ResourceTemplate.ResourceTemplate.Parameters<T>,
        options?: ClientSession.CallOptions
      ) => Effect.Effect<Resources.ReadResourceResult, ClientError>
    }
  }>
  & Unless<Definition.Definition.Prompts<D>, {
    readonly prompts: { readonly [P in Definition.Definition.Prompts<D> as P["name"]]: GetPrompt<P> }
  }>
>

/**
 * A prompt as a function of its arguments.
 *
 * @category models
 */
export type GetPrompt<P> = {} extends Prompt.Prompt.Arguments<P> ? (
    args?: NamedOnly<Prompt.Prompt.Arguments<P>>,
    options?: ClientSession.CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError>
  : (
    args: Prompt.Prompt.Arguments<P>,
    options?: ClientSession.CallOptions
  ) => Effect.Effect<Prompts.GetPromptResult, ClientError>

/**
 * The tools, resources and prompts of a definition, as functions that call the server of a client. The schemas of the definition, which
 * client and server share, encode the arguments and decode the results and the declared failures. `of` sends nothing to the server: when
 * the server does not have a tool, the call of that tool fails. A tool without `success` gives the whole `CallToolResult`.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Definition from "@effect-mcp/core/Definition"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect, Schema } from "effect"
 *
 * const Shop = Definition.make(Tool.make("buy", { parameters: { item: Schema.String } }))
 *
 * export const bought = Effect.gen(function*() {
 *   const shop = Client.of(yield* Client.Client, Shop)
 *   return yield* shop.buy({ item: "apple" })
 * })
 * ```
 * @category constructors
 */
export const of: {
  <D extends Definition.Definition.Any>(definition: D): (client: ClientSession.ClientSessionService) => Typed<D>
  <D extends Definition.Definition.Any>(client: ClientSession.ClientSessionService, definition: D): Typed<D>
} = dual(2, (session: ClientSession.ClientSessionService, definition: Definition.Definition.Any) => {
  const each = <A, F>(definitions: ReadonlyMap<string, A>, f: (definition: A) => F): Readonly<Record<string, F>> =>
    Object.fromEntries([...definitions].map(([name, definition]) => [name, f(definition)]))
  const { prompts, resources, templates, tools } = definition
  return {
    ...(resources.size === 0 ? undefined : { resources: each(resources, (resource) => read(session, resource)) }),
    ...(templates.size === 0
      ? undefined
      : { templates: each(templates, (template) => readTemplate(session, template)) }),
    ...(prompts.size === 0 ? undefined : { prompts: each(prompts, (prompt) => get(session, prompt)) }),
    ...each(tools, (tool) => call(session, tool))
  }
})

const read =
  (session: ClientSession.ClientSessionService, { uri }: Resource.Resource.Any) =>
  (options?: ClientSession.CallOptions) => session.readResource(uri, options)

const readTemplate =
  (session: ClientSession.ClientSessionService, { codec, name }: ResourceTemplate.ResourceTemplate.Any) =>
  (parameters: unknown, options?: ClientSession.CallOptions) =>
    Effect.flatMap(
      Effect.mapError(codec.encode(parameters), TypedTool.invalidArguments(`resource template "${name}"`)),
      (uri) => session.readResource(uri, options)
    )

const get =
  (session: ClientSession.ClientSessionService, { codec, name }: Prompt.Prompt.Any) =>
  (args: unknown, options?: ClientSession.CallOptions) =>
    Effect.flatMap(
      Effect.mapError(codec.encode(args ?? {}), TypedTool.invalidArguments(`prompt "${name}"`)),
      (encoded) => session.getPrompt(name, Object.keys(encoded).length === 0 ? undefined : encoded, options)
    )

const call =
  (session: ClientSession.ClientSessionService, tool: Tool.Tool.Any) =>
  (args: unknown, options?: ClientSession.CallOptions) =>
    Effect.flatMap(
      TypedTool.encode(tool, args),
      // The output schema of the server is not needed, because the schema of the definition checks the result.
      (encoded) =>
        Effect.flatMap(
          session.callTool(tool.name, encoded, { ...options, checkOutput: false }),
          TypedTool.reader(tool)
        )
    )

/**
 * A service for the client of one server, in an application with several servers.
 *
 * @category models
 */
export interface TagClass<Self, Id extends string>
  extends Context.TagClass<Self, Id, ClientSession.ClientSessionService>
{
  /** A layer of this service. It connects as `Client.layer` does. */
  readonly layer: <RC, E = never, R = never>(
    connector: Connector<RC>,
    options?: Options<E, R>
  ) => Layer.Layer<Self, ConnectError | E, Exclude<Exclude<R, ClientFeatures.ClientFeatures> | RC, Scope.Scope>>
}

/**
 * Makes a service for the client of one server, in an application with several servers.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Remote from "@effect-mcp/core/Remote"
 * import { Effect, Layer } from "effect"
 *
 * class Search extends Client.Tag("Search")<Search>() {}
 * class Mail extends Client.Tag("Mail")<Mail>() {}
 *
 * export const Servers = Layer.merge(
 *   Search.layer(Remote.connector("https://search.example.com/mcp")),
 *   Mail.layer(Remote.connector("https://mail.example.com/mcp"))
 * )
 *
 * export const found = Effect.flatMap(Search, (search) => search.callTool("find", { text: "effect" }))
 * ```
 * @category utils
 */
export const Tag = <const Id extends string>(id: Id) => <Self>(): TagClass<Self, Id> => {
  const tag = Context.Tag(id)<Self, ClientSession.ClientSessionService>()
  return Object.assign(tag, {
    layer: <RC, E = never, R = never>(connector: Connector<RC>, options?: Options<E, R>) =>
      Layer.scoped(tag, make(connector, options))
  })
}
