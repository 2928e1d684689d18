/**
 * The registry of a server: tables of the tools, resources, resource templates, prompts and method handlers that the server has at the
 * moment. Feature layers add entries to these tables. The server reads the entries when it handles requests.
 *
 * Each server has its own registry. Feature layers get the registry from their context. The registry contains nothing about transports or
 * clients. It tells the server about changes, through listeners that the server adds.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as SchemaParser from "../definition/schema/SchemaParser.js"
import type { UriTemplate } from "../definition/UriTemplate.js"
import type { ClientCapabilities } from "../protocol/Capabilities.js"
import type * as Completion from "../protocol/Completion.js"
import type * as Extension from "../protocol/Extension.js"
import * as Issue from "../protocol/Issue.js"
import type { JsonObject } from "../protocol/Json.js"
import type { ParseIssue } from "../protocol/McpError.js"
import type * as Method from "../protocol/Method.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import * as UriKey from "../protocol/rules/UriKey.js"
import type * as Tools from "../protocol/Tools.js"
import type { Hints } from "./CacheHints.js"
import { FeatureError } from "./FeatureError.js"
import * as ChangeBatch from "./features/ChangeBatch.js"
import { EntryTable } from "./features/EntryTable.js"
import type { ServerSessionService } from "./ServerSession.js"

/**
 * A registered entry. The effects of the entry run with the context of the feature's layer, and with the services of the request.
 *
 * @category models
 */
export interface Registered {
  readonly context: Context.Context<never>
  /**
   * The services, checks, scopes and middleware that `Feature` and `FeatureMiddleware` have put around the effects of the entry. The
   * outermost comes first. `undefined` when there are none.
   */
  readonly around?: ReadonlyArray<Surrounding> | undefined
  /** Whether lists include the entry. If `false`, a client can still use the entry by its name. Default: `true`. */
  readonly isListed?: boolean | undefined
  /**
   * Gives the cache hints of the entry. The server calls this function for each request of a list that includes the entry. The server then
   * combines the hints of all entries and of the server's option `cache`: the shortest time and the narrowest scope are the hints of the
   * list. When this function is missing or returns `undefined`, the entry does not change the hints of the list.
   */
  readonly listHints?: (() => Hints | undefined) | undefined
}

/**
 * A registered entry that clients may subscribe to.
 *
 * @category models
 */
export interface Subscribable extends Registered {
  /**
   * Runs for each client that subscribes to the entry, in the scope of the subscription. `uri` is the URI to which the client subscribes.
   * `session` is the `ServerSession` of the request that subscribes. With revision 2025-11-25 or earlier, the effect `changed.resource` of
   * this session notifies the client. When the effect fails, the server refuses the subscription to this resource. With revision 2026-07-28
   * or later, the other subscriptions of the same `subscriptions/listen` go on. Default: nothing runs.
   */
  readonly subscribe?:
    | ((uri: string, session: ServerSessionService) => Effect.Effect<void, unknown, Scope.Scope>)
    | undefined
}

/**
 * One element of the list `around` of an entry. There are four kinds: services for the entry's effects, a check whether the entry is
 * visible to a request, authorization scopes that the user must have, and middleware around each use. The effects of these elements run
 * with the services of the request.
 *
 * @category models
 */
export type Surrounding =
  | {
    readonly _tag: "Services"
    readonly run: (next: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
  }
  | { readonly _tag: "Visibility"; readonly check: (entry: Registered) => Effect.Effect<boolean> }
  | { readonly _tag: "Requirement"; readonly scopes: ReadonlyArray<string> }
  | { readonly _tag: "Use"; readonly run: (use: Use) => Effect.Effect<unknown, unknown> }

/**
 * The description of an entry of one kind that visibility checks and middleware get.
 *
 * @category models
 */
export interface EntryOf<Kind extends string, Advertised> {
  readonly kind: Kind
  /**
   * The name of a tool, of a prompt, of a method, or of the filter of a subscription. For a resource this is the URI, and for a resource
   * template this is the URI template.
   */
  readonly name: string
  /**
   * The entry as lists describe it, with its title, its annotations and its `_meta`. `undefined` for methods and filters, because no list
   * contains them.
   */
  readonly advertised: Advertised
  /** All scopes that a use of the entry requires. */
  readonly scopes: ReadonlyArray<string>
}

/**
 * The description of an entry of any kind that visibility checks and middleware get.
 *
 * @category models
 */
export type FeatureEntry =
  | EntryOf<"tool", Tools.Tool>
  | EntryOf<"resource", Resources.Resource>
  | EntryOf<"resourceTemplate", Resources.ResourceTemplate>
  | EntryOf<"prompt", Prompts.Prompt>
  | EntryOf<"method", undefined>
  | EntryOf<"filter", undefined>

/**
 * One use of an entry of one kind: the entry, the arguments of its handler, and the effect that gives the result of the use.
 *
 * @category models
 */
export interface UseOf<Entry, Arguments, Result> {
  readonly entry: Entry
  /** The decoded arguments of the handler. In a proxy, the arguments as the client sent them. */
  readonly arguments: Arguments
  /**
   * Runs the handler. Gives the result in the form in which the server sends it. When a tool fails with a failure that it declares, `next`
   * gives a result with `isError: true`.
   */
  readonly next: Effect.Effect<Result, unknown>
}

/**
 * One use of an entry. The client calls a tool, reads a resource (directly or through a template), gets a prompt, completes an argument of
 * a prompt or of a resource template, or calls a method of the application.
 *
 * @category models
 */
export type Use =
  | { readonly kind: "tool" } & UseOf<EntryOf<"tool", Tools.Tool>, unknown, Tools.CallToolResult>
  | { readonly kind: "resource"; readonly uri: string }
    & UseOf<
      EntryOf<"resource", Resources.Resource> | EntryOf<"resourceTemplate", Resources.ResourceTemplate>,
      unknown,
      Resources.ReadResourceResult
    >
  | { readonly kind: "prompt" } & UseOf<EntryOf<"prompt", Prompts.Prompt>, unknown, Prompts.GetPromptResult>
  | { readonly kind: "completion" }
    & UseOf<
      | EntryOf<"prompt", Prompts.Prompt>
      | EntryOf<"resource", Resources.Resource>
      | EntryOf<"resourceTemplate", Resources.ResourceTemplate>,
      Completion.CompleteParams,
      Completion.CompleteResult
    >
  | { readonly kind: "method"; readonly isNotification: boolean }
    & UseOf<EntryOf<"method", undefined>, unknown, unknown>

/** @category models */
export interface RegisteredTool extends Registered {
  /** The tool as `tools/list` describes it. */
  readonly advertised: Tools.Tool
  /**
   * Decodes the arguments. When they do not decode, the server repairs them, if the option `mendArguments` allows this. `undefined`: `call`
   * gets the arguments as the client sent them, as in a proxy.
   */
  readonly decode?: ((args: unknown) => Effect.Effect<unknown, ParseIssue>) | undefined
  /** Whether the server may repair arguments that do not decode. Default: `true`. */
  readonly mendArguments?: boolean | undefined
  /**
   * Runs the handler. `args` are the decoded arguments. Without `decode`, `args` are the arguments as the client sent them. `name` is the
   * name of the tool in the client's request.
   */
  readonly call: (args: unknown, name: string) => Effect.Effect<Tools.CallToolResult, unknown, any>
  /** The task options of the tool; `undefined` for a tool that never runs as a task. */
  readonly task?: {
    readonly support: "optional" | "required"
    /** Whether the handler itself begins the task, with `startTask`. */
    readonly startsInHandler: boolean
    /** The name of the engine that runs the tasks outside of the nodes (`DetachedTask`); `undefined` when the handler does the work. */
    readonly detached?: string | undefined
  } | undefined
  /**
   * Makes the tool's result when middleware around the tool, or the effect of a `Feature.provide` around the tool, has failed. Default: the
   * request fails with an error.
   */
  readonly failed?: ((cause: Cause.Cause<unknown>) => Effect.Effect<Tools.CallToolResult, unknown>) | undefined
}

/** @category models */
export interface RegisteredResource extends Subscribable {
  /** The resource as `resources/list` describes it. */
  readonly advertised: Resources.Resource
  readonly read: Effect.Effect<Resources.ReadResourceResult, unknown, any>
  /** The cache hints of the content. `undefined`: the hints come from the server's option `cache`. */
  readonly hints?: Hints | undefined
}

/** @category models */
export interface RegisteredTemplate extends Subscribable {
  /** The template as `resources/templates/list` describes it. */
  readonly advertised: Resources.ResourceTemplate
  readonly template: UriTemplate
  /** Decodes the variables. When decoding fails, the template does not serve the URI. `undefined`: `read` gets the variables undecoded. */
  readonly decode?: ((variables: Readonly<Record<string, unknown>>) => Effect.Effect<unknown, ParseIssue>) | undefined
  /**
   * Runs the handler. `variables` are the decoded variables. Without `decode`, `variables` are the texts in the URI. Gives `undefined` when
   * the template does not serve the URI.
   */
  readonly read: (
    variables: any,
    uri: string
  ) => Effect.Effect<Resources.ReadResourceResult | undefined, unknown, any>
  /**
   * Gives the resources of this template for `resources/list`, again for each request; `undefined` when the template lists no resources.
   */
  readonly list: Effect.Effect<ReadonlyArray<Resources.Resource>, unknown, any> | undefined
  /** The cache hints of the contents. `undefined`: the hints come from the server's option `cache`. */
  readonly hints?: Hints | undefined
  readonly completers: Completers
}

/** @category models */
export interface RegisteredPrompt extends Registered {
  /** The prompt as `prompts/list` describes it. */
  readonly advertised: Prompts.Prompt
  /** Decodes the arguments. `undefined`: the function `get` receives the arguments as the client sent them, as in a proxy. */
  readonly decode?: ((args: unknown) => Effect.Effect<unknown, ParseIssue>) | undefined
  /** Runs the handler. `args` are the decoded arguments. Without `decode`, `args` are the arguments as the client sent them. */
  readonly get: (args: unknown) => Effect.Effect<Prompts.GetPromptResult, unknown, any>
  readonly completers: Completers
}

/**
 * Completers by the names of their arguments. A completer gets the text that the user has typed, and the other arguments.
 *
 * @category models
 */
export type Completers = ReadonlyMap<
  string,
  (value: string, others: Readonly<Record<string, string>>) => Effect.Effect<Completion.Suggestions, unknown, any>
>

/**
 * The application's handler of the requests or notifications of one method. The handler replaces the server's own behaviour for this
 * method.
 *
 * @category models
 */
export interface RegisteredHandler extends Registered {
  readonly method: Method.Method
  /** The identifier of the extension that defines the method; `undefined` for any other method. */
  readonly extension?: string | undefined
  /** The capabilities that a client must have declared; `undefined` when a client needs no capability. */
  readonly requires?: ClientCapabilities | undefined
  /**
   * Whether several features register this handler. If `true`, the checks and the middleware around these features do not apply to the
   * handler. Default: `false`.
   */
  readonly isShared?: boolean | undefined
  /** Runs the handler. `params` are the decoded parameters; `raw` are the same parameters as the client sent them. */
  readonly run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, any>
  /** The handler without the elements of `around`; `run` of this entry includes them. `undefined` when `around` is empty. */
  readonly inner?: Pick<RegisteredHandler, "context" | "run"> | undefined
}

/**
 * The application's function that decides to which keys of a notification a client may subscribe. The function belongs to one member
 * ("filter") that an extension adds to `subscriptions/listen`.
 *
 * @category models
 */
export interface RegisteredFilter extends Registered {
  readonly name: string
  readonly accept: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, unknown, any>
  /** The filter without the elements of `around`; `accept` of this entry includes them. `undefined` when `around` is empty. */
  readonly inner?: Pick<RegisteredFilter, "accept" | "context"> | undefined
}

/**
 * A notification of an extension for the clients that have subscribed to it.
 *
 * @category models
 */
export interface ExtensionNotification {
  readonly method: string
  readonly filter: string
  /**
   * The key of this notification. Only clients that have subscribed to this key get the notification. `undefined` for a filter without
   * keys, to which a client subscribes with a flag.
   */
  readonly key: string | undefined
  readonly params: JsonObject
}

/**
 * Facts about a feature that the server tells clients, together with its own name, capabilities and instructions.
 *
 * @category models
 */
export interface Description {
  /** The kinds of entries for which the server advertises the capability, also when it has no entry of the kind yet. */
  readonly offers: ReadonlyArray<Kind | "completions">
  /** Instructions that say how to use the feature. Clients give this text to their model, after the instructions of the server. */
  readonly instructions?: string | undefined
  /**
   * The identifier of the extension that the feature needs. When the option `extensions` of the server does not contain this extension, the
   * server logs a warning.
   */
  readonly extension?: string | undefined
}

/**
 * Functions that run when the state of a client changes. The functions with a parameter `session` run only for clients of revision
 * 2025-11-25 or earlier. With `session`, a function can ask, log and notify outside of any request, until the client disconnects.
 *
 * @category models
 */
export interface ClientObserver {
  /** Runs when a client has completed the handshake. */
  readonly onInitialized?: ((session: ServerSessionService) => Effect.Effect<void>) | undefined
  /** Runs when the roots of a client have changed. */
  readonly onRootsChanged?: ((session: ServerSessionService) => Effect.Effect<void>) | undefined
  /** Runs when a client has set its log level. `session` already has the new level. */
  readonly onLogLevel?: ((session: ServerSessionService) => Effect.Effect<void>) | undefined
  /**
   * Runs when an HTTP endpoint begins to serve clients without a session and without a user that may be on other machines. The server
   * cannot distinguish the requests of such clients.
   */
  readonly onAnonymous?: Effect.Effect<void> | undefined
}

/**
 * The kinds of lists. Clients can read a list of each kind, and the server can notify clients when a list changes.
 *
 * @category models
 */
export type Kind = "tools" | "resources" | "prompts"

/**
 * A table of entries of one kind, by key.
 *
 * @category models
 */
export interface Entries<in out A> extends Iterable<[key: string, entry: A]> {
  readonly size: number
  /** Incremented whenever an entry is added or removed. */
  readonly revision: number
  /** Whether the table has an entry, or has had an entry before. */
  readonly wasUsed: boolean
  readonly get: (key: string) => A | undefined
  readonly has: (key: string) => boolean
  readonly keys: () => IterableIterator<string>
  readonly values: () => IterableIterator<A>
  /**
   * Adds an entry until the scope closes. Two entries without `yields` cannot have the same key: this effect dies when the table already
   * has such an entry. With `yields`, several entries may have the same key. The table then uses the entry without `yields`. If there is
   * none, the table uses the entry that was registered first. When the used entry is removed, the table uses the next entry.
   */
  readonly register: (
    entry: A,
    options?: { readonly yields?: boolean }
  ) => Effect.Effect<void, never, Scope.Scope>
  /** Calls the listener after every change of the table, until the scope closes. */
  readonly onChange: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

/** @category models */
export interface RegistryService {
  /**
   * The tools, by their names. A tool with the name `*` gets the calls of all names that no other tool has. Register this tool with
   * `isListed: false`.
   */
  readonly tools: Entries<RegisteredTool>
  /** The resources, by their URIs. `get` also finds a resource by an equivalent URI (RFC 3986). */
  readonly resources: Entries<RegisteredResource>
  /** The resource templates, by their URI templates. */
  readonly templates: Entries<RegisteredTemplate>
  /** The prompts, by their names. */
  readonly prompts: Entries<RegisteredPrompt>
  /** The handlers of methods, by the names of the methods. */
  readonly handlers: Entries<RegisteredHandler>
  /** The functions that choose keys of subscriptions, by the names of their filters. */
  readonly filters: Entries<RegisteredFilter>
  /** The descriptions that features have added with `describe`. */
  readonly descriptions: ReadonlySet<Description>
  /** Adds a description until the scope closes. A client gets the description only if its handshake comes after this effect. */
  readonly describe: (description: Description) => Effect.Effect<void, never, Scope.Scope>
  readonly observers: ReadonlySet<ClientObserver>
  /** Adds an observer of clients until the scope closes. */
  readonly observe: (observer: ClientObserver) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Whether the server offers this kind: the server has an entry of this kind, had an entry of this kind before, or has a description that
   * offers the kind.
   */
  readonly offers: (kind: Kind) => boolean
  /** Calls the listener after every change of an entry, until the scope closes. */
  readonly onChange: (listener: (kind: Kind) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Notifies all clients that lists of this kind have changed, as `Registry.changed` does. */
  readonly changed: (kind: Kind) => Effect.Effect<void>
  /** Tells the registry that the server shuts down. From now on the registry refuses every new entry. */
  readonly close: Effect.Effect<void>
  /** Reports that the content of a resource has changed. This effect ends when the listeners of `onUpdate` have run. */
  readonly updated: (uri: string) => Effect.Effect<void>
  /** Runs the listener for each resource that `updated` reports, until the scope closes. */
  readonly onUpdate: (listener: (uri: string) => Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Sends a notification of an extension to the clients that have subscribed to it. Dies when the parameters do not conform to the schema
   * of the notification.
   */
  readonly notify: <Params>(
    notification: Extension.Notification<"server", Params>,
    params: Params
  ) => Effect.Effect<void>
  /** Runs the listener for each notification of an extension, until the scope closes. */
  readonly onNotify: (
    listener: (notification: ExtensionNotification) => Effect.Effect<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

/** @category tags */
export class Registry extends Context.Tag("@effect-mcp/core/Registry")<Registry, RegistryService>() {}

/**
 * The registry of a running server, for fibers of the application. The layer of a server provides this service, together with the
 * `Dispatcher`. The handlers of features can use this service, too.
 *
 * @category tags
 */
export class Running extends Context.Tag("@effect-mcp/core/server/Registry/Running")<Running, RegistryService>() {}

/**
 * Adds features to the server in the context while the server runs, from any fiber, until the scope closes. The effect adds all features,
 * or adds none and fails. The server sends clients one notification for each kind of list when it has added the features, and another when
 * the scope has closed. When the server removes a feature, running requests of the feature go on. In a handler, the scope is the scope of
 * the request. To add features for a longer time, a handler must use the scope of its layer, with `Scope.extend`.
 *
 * For features that require the user, or services of the session layer or the middleware, use `add` of `McpServer.define`. `Registry.add`
 * itself would require these services from its caller.
 *
 * Fails with a `FeatureError` when a name is taken, and when the server has shut down. A client may have completed its handshake before the
 * server had the first feature of a kind, such as tools. Such a client can use this kind only if the option `capabilities` of the server
 * advertised the kind.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Registry from "@effect-mcp/core/Registry"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import { Effect } from "effect"
 *
 * const Night = McpServer.tool(Tool.make("owl"), () => Effect.succeed("hoo"))
 *
 * export const night = Effect.scoped(Effect.zipRight(Registry.add(Night), Effect.sleep("8 hours")))
 * ```
 * @category combinators
 */
export const add = <E, R>(
  features: Layer.Layer<never, E, R>
): Effect.Effect<void, E | FeatureError, Exclude<R, Registry | Scope.Scope> | Running | Scope.Scope> =>
  Effect.flatMap(
    Running,
    (running) =>
      addAll(Layer.provide(
        features,
        Layer.succeedContext(Context.add(Context.make(Registry, running), Running, running))
      ))
  ) as Effect.Effect<void, E | FeatureError, any>

/**
 * Runs an effect that adds and removes features, as one change. The server sends clients one notification for each kind of list when the
 * effect has ended, also when the effect has failed. The lists themselves change immediately.
 *
 * @category combinators
 */
export const batch: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = ChangeBatch.run

/**
 * Notifies all clients that lists have changed, for example because the checks of `Feature.visible` now give other results. Without an
 * argument, the notifications are for all kinds of lists. `changed` of `ServerSession` notifies one client.
 *
 * @category utils
 */
export const changed = (...kinds: ReadonlyArray<Kind>): Effect.Effect<void, never, Running> =>
  Effect.flatMap(Running, ({ changed, offers }) =>
    ChangeBatch.run(Effect.forEach(
      kinds.length === 0 ? all.filter(offers) : kinds,
      changed,
      { discard: true }
    )))

const all: ReadonlyArray<Kind> = ["tools", "resources", "prompts"]

/**
 * Makes an empty registry.
 *
 * @category constructors
 */
export const make: Effect.Effect<RegistryService> = Effect.sync(() => {
  const tools = new EntryTable<RegisteredTool>("tools named", ({ advertised }) => advertised.name)
  const resources = new EntryTable<RegisteredResource>("resources at", ({ advertised }) => advertised.uri, UriKey.of)
  const templates = new EntryTable<RegisteredTemplate>(
    "resource templates of",
    ({ advertised }) => advertised.uriTemplate
  )
  const prompts = new EntryTable<RegisteredPrompt>("prompts named", ({ advertised }) => advertised.name)
  const handlers = new EntryTable<RegisteredHandler>("handlers of", ({ method }) => method.name)
  const filters = new EntryTable<RegisteredFilter>("subscriptions by", ({ name }) => name)
  const tables: ReadonlyArray<readonly [Kind, EntryTable<any>]> = [
    ["tools", tools],
    ["resources", resources],
    ["resources", templates],
    ["prompts", prompts]
  ]
  const descriptions = new Set<Description>()
  const observers = new Set<ClientObserver>()
  const updates = listeners<string>()
  const notifications = listeners<ExtensionNotification>()
  return {
    tools,
    resources,
    templates,
    prompts,
    handlers,
    filters,
    descriptions,
    describe: (description) => adding(descriptions, description),
    observers,
    observe: (observer) => adding(observers, observer),
    offers: (kind) =>
      tables.some(([of, table]) => of === kind && table.wasUsed) ||
      [...descriptions].some(({ offers }) => offers.includes(kind)),
    onChange: (listener) =>
      Effect.forEach(tables, ([kind, table]) => table.onChange(() => listener(kind)), { discard: true }),
    changed: (kind) => tables.find(([of]) => of === kind)![1].announce,
    close: Effect.sync(() => {
      for (const table of [tools, resources, templates, prompts, handlers, filters]) table.close()
    }),
    updated: updates.call,
    onUpdate: updates.add,
    notify: ({ filter, key, name, params: schema }, given) =>
      Effect.matchEffect(SchemaParser.encodeUnknown(schema)(given), {
        onFailure: (issue) =>
          Effect.dieMessage(`The parameters of "${name}" do not conform to their schema: ${Issue.sentence(issue)}`),
        onSuccess: (params: JsonObject) =>
          filter === undefined
            ? Effect.void
            : notifications.call({ method: name, filter, key: key?.(given), params })
      }),
    onNotify: notifications.add
  }
})

const adding = <A>(all: Set<A>, one: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(Effect.sync(() => all.add(one)), () => Effect.sync(() => all.delete(one))))

/** Makes a set of listeners. All listeners of the set run for each value. */
const listeners = <A>() => {
  const all = new Set<(value: A) => Effect.Effect<void>>()
  return {
    call: (value: A): Effect.Effect<void> =>
      Effect.suspend(() => Effect.forEach([...all], (listener) => listener(value), { discard: true })),
    add: (listener: (value: A) => Effect.Effect<void>) => adding(all, listener)
  }
}

/**
 * Builds the features, and removes them when the scope closes. When one feature fails, this effect immediately removes the features that it
 * has built before. When a layer dies with a `FeatureError`, this effect fails with the error.
 */
const addAll = <E, R>(
  features: Layer.Layer<never, E, R>
): Effect.Effect<void, E | FeatureError, R | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const outer = yield* Effect.scope
      const own = yield* Scope.make()
      const close = (exit: Exit.Exit<unknown, unknown>) => ChangeBatch.run(Scope.close(own, exit))
      const memoMap = yield* Layer.makeMemoMap
      yield* restore(ChangeBatch.run(
        Layer.buildWithMemoMap(features, memoMap, own).pipe(
          Effect.catchSomeDefect((defect) =>
            defect instanceof FeatureError ? Option.some(Effect.fail(defect)) : Option.none()
          ),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
        )
        // An interruption may come after the layer was built.
      )).pipe(Effect.onError((cause) => close(Exit.failCause(cause))))
      yield* Scope.addFinalizerExit(outer, close)
    })
  )
