/**
 * What a server offers at the moment: tables of tools, resources, resource templates, prompts and handlers. Feature layers add entries, and
 * the server's methods read them.
 *
 * Each server has a registry of its own, which its feature layers find in their context. The registry knows neither transports nor clients.
 * Code that must learn of a change registers a listener.
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
 * A registered entry. Its effects run with the context that its feature's layer was built with. The services of the request are added to
 * this context.
 *
 * @category models
 */
export interface Registered {
  readonly context: Context.Context<never>
  /**
   * What `Feature` and `FeatureMiddleware` have put around the effects of the entry: services, checks, scopes and middleware. The outermost
   * comes first. `undefined` when there is nothing.
   */
  readonly around?: ReadonlyArray<Surrounding> | undefined
  /**
   * Whether lists include the entry. A client that knows the name of the entry can use the entry also when no list includes it. Default:
   * `true`.
   */
  readonly isListed?: boolean | undefined
  /**
   * Gives the hints for caches of the entry, for each request of a list that includes the entry. The hints of a list are the shortest time
   * and the narrowest scope of its entries and of the server's option `cache`. When it is `undefined`, or gives `undefined`, only the
   * option `cache` counts for this entry.
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
   * Called for each client that subscribes to the entry. Its effect runs in the scope of the subscription. When the effect fails, the
   * subscription of the client is refused. With revision 2026-07-28 the rest of the client's subscription goes on, but the client is not
   * notified of this resource. `uri` is the URI that the client subscribes to. `session` is the session of the request that subscribes: its
   * `changed.resource` notifies this client, with revision 2025-11-25 or earlier only. `undefined`: nothing happens when a client
   * subscribes.
   */
  readonly subscribe?:
    | ((uri: string, session: ServerSessionService) => Effect.Effect<void, unknown, Scope.Scope>)
    | undefined
}

/**
 * One thing around an entry: services for its effects, a check whether a request may see the entry, scopes that the user must have, or
 * middleware around each use. All of them run with the services of the request.
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
 * An entry of one kind, as checks of visibility and middleware see it.
 *
 * @category models
 */
export interface EntryOf<Kind extends string, Advertised> {
  readonly kind: Kind
  /**
   * The name of a tool, of a prompt, of a method, or of the filter of a subscription. For a resource it is the URI, and for a resource
   * template it is the URI template.
   */
  readonly name: string
  /**
   * The entry in the form in which the server lists it, with its title, its annotations and its `_meta`. It is `undefined` for methods and
   * filters, which no list has.
   */
  readonly advertised: Advertised
  /** All scopes that a use of the entry requires. */
  readonly scopes: ReadonlyArray<string>
}

/**
 * An entry, as checks of visibility and middleware see it.
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
 * One use of an entry of one kind: the entry, what its handler gets, and the effect that gives the result of the use.
 *
 * @category models
 */
export interface UseOf<Entry, Arguments, Result> {
  readonly entry: Entry
  /** What the handler gets, decoded. In a proxy, the arguments as the client sent them. */
  readonly arguments: Arguments
  /**
   * Runs the handler. Gives the result in the form in which it is sent. When a tool fails with a failure that it declares, `next` gives a
   * result with `isError: true`.
   */
  readonly next: Effect.Effect<Result, unknown>
}

/**
 * One use of an entry. A use is one of these: a tool is called; a resource is read, by itself or through its template; a prompt is got; an
 * argument of a prompt or of a resource template is completed; a method of the application is handled.
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
   * Decodes the arguments. When they do not decode, the server mends them, if its options say so. `undefined`: `call` gets the arguments as
   * the client sent them, as in a proxy.
   */
  readonly decode?: ((args: unknown) => Effect.Effect<unknown, ParseIssue>) | undefined
  /** Whether the server may mend the arguments. Default: `true`. */
  readonly mendArguments?: boolean | undefined
  /**
   * Runs the handler. `args` are the decoded arguments, or, without `decode`, the arguments as the client sent them. `name` is the name
   * that the client called.
   */
  readonly call: (args: unknown, name: string) => Effect.Effect<Tools.CallToolResult, unknown, any>
  /** How calls of the tool become tasks; `undefined` for a tool that never runs as a task. */
  readonly task?: {
    readonly support: "optional" | "required"
    /** Whether the handler itself begins the task, with `startTask`. */
    readonly startsInHandler: boolean
    /** The name of the engine that runs the tasks outside of the nodes (`DetachedTask`); `undefined` when the handler does the work. */
    readonly detached?: string | undefined
  } | undefined
  /** Turns the failure of a middleware or service around the tool into a result. Default: the failure is an error of the request. */
  readonly failed?: ((cause: Cause.Cause<unknown>) => Effect.Effect<Tools.CallToolResult, unknown>) | undefined
}

/** @category models */
export interface RegisteredResource extends Subscribable {
  /** The resource as `resources/list` describes it. */
  readonly advertised: Resources.Resource
  readonly read: Effect.Effect<Resources.ReadResourceResult, unknown, any>
  /** The hints for caches of the content; `undefined` when the resource has no hints of its own. */
  readonly hints?: Hints | undefined
}

/** @category models */
export interface RegisteredTemplate extends Subscribable {
  /** The template as `resources/templates/list` describes it. */
  readonly advertised: Resources.ResourceTemplate
  readonly template: UriTemplate
  /** Decodes the variables. When it fails, the template does not serve the URI. `undefined`: `read` gets the variables undecoded. */
  readonly decode?: ((variables: Readonly<Record<string, unknown>>) => Effect.Effect<unknown, ParseIssue>) | undefined
  /**
   * Runs the handler. `variables` are the decoded variables, or, without `decode`, the variables as they stand in the URI. Gives
   * `undefined` when the handler finds that the template does not serve the URI.
   */
  readonly read: (
    variables: any,
    uri: string
  ) => Effect.Effect<Resources.ReadResourceResult | undefined, unknown, any>
  /** Gives the resources of this template for `resources/list`, anew for each request; `undefined` when the template lists none. */
  readonly list: Effect.Effect<ReadonlyArray<Resources.Resource>, unknown, any> | undefined
  /** The hints for caches of the contents; `undefined` when the template has no hints of its own. */
  readonly hints?: Hints | undefined
  readonly completers: Completers
}

/** @category models */
export interface RegisteredPrompt extends Registered {
  /** The prompt as `prompts/list` describes it. */
  readonly advertised: Prompts.Prompt
  /** Decodes the arguments. `undefined`: `get` gets the arguments as the client sent them, as in a proxy. */
  readonly decode?: ((args: unknown) => Effect.Effect<unknown, ParseIssue>) | undefined
  /** Runs the handler. `args` are the decoded arguments, or, without `decode`, the arguments as the client sent them. */
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
 * The application's handler of the requests or notifications of one method. It is used in place of what the server itself does for this
 * method.
 *
 * @category models
 */
export interface RegisteredHandler extends Registered {
  readonly method: Method.Method
  /** The identifier of the extension that defines the method; `undefined` for any other method. */
  readonly extension?: string | undefined
  /** The capabilities that a client must have declared; `undefined` when it needs none. */
  readonly requires?: ClientCapabilities | undefined
  /**
   * Whether several features register this handler. The checks and the middleware around one of these features then do not apply to the
   * handler. Default: `false`.
   */
  readonly isShared?: boolean | undefined
  /** Runs the handler. `params` are the decoded parameters; `raw` are the same parameters as the client sent them. */
  readonly run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, any>
  /** The handler without `around`, which the `run` of a surrounded handler includes; `undefined` when there is nothing around it. */
  readonly inner?: Pick<RegisteredHandler, "context" | "run"> | undefined
}

/**
 * The application's function that chooses among the keys that a client wants to subscribe to, for one filter of an extension.
 *
 * @category models
 */
export interface RegisteredFilter extends Registered {
  readonly name: string
  readonly accept: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, unknown, any>
  /** The filter without `around`, which the `accept` of a surrounded filter includes; `undefined` when there is nothing around it. */
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
   * The key that this notification is about. Only clients that have subscribed to this key get the notification. `undefined` for a filter
   * that is a flag and has no keys.
   */
  readonly key: string | undefined
  readonly params: JsonObject
}

/**
 * What a feature adds to the description that its server gives of itself.
 *
 * @category models
 */
export interface Description {
  /** The kinds of entries that the server offers, even while it has no entry of the kind. */
  readonly offers: ReadonlyArray<Kind | "completions">
  /** How to use the feature. Clients give this text to their model, after the instructions of the server. */
  readonly instructions?: string | undefined
  /** The identifier of the extension that the feature needs. A server without it among its `extensions` logs a warning. */
  readonly extension?: string | undefined
}

/**
 * Functions that run when something happens to a client. A function with a `session` runs only for clients of revision 2025-11-25 or
 * earlier, whose state outlives a request. This session belongs to no request. It can ask, log and notify as long as the client is
 * connected.
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
   * Runs when an HTTP endpoint begins to serve clients that have neither a session nor a user, and that may be on other machines. The
   * server cannot tell the requests of such clients apart.
   */
  readonly onAnonymous?: Effect.Effect<void> | undefined
}

/**
 * The kinds of lists. Clients can read a list of each kind, and can be notified when it changes.
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
   * Adds an entry until the scope closes. Dies when the table already has an entry of this key. An entry with `yields` never dies for this
   * reason: another entry of the same key is used in its place, if that entry has no `yields` or was registered earlier. The entry with
   * `yields` is used again when that other entry is removed.
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
  /** The tools, by their names. A tool named `*` gets the calls of all names that no other tool has. No list should include this tool. */
  readonly tools: Entries<RegisteredTool>
  /** The resources, by their URIs. `get` also finds a resource by every URI that equals its URI by the rules of RFC 3986. */
  readonly resources: Entries<RegisteredResource>
  /** The resource templates, by their URI templates. */
  readonly templates: Entries<RegisteredTemplate>
  /** The prompts, by their names. */
  readonly prompts: Entries<RegisteredPrompt>
  /** The handlers of methods, by the names of the methods. */
  readonly handlers: Entries<RegisteredHandler>
  /** The functions that choose keys of subscriptions, by the names of their filters. */
  readonly filters: Entries<RegisteredFilter>
  /** What features add to the description of the server. */
  readonly descriptions: ReadonlySet<Description>
  /** Adds to the description of the server until the scope closes. A client keeps the description that it got in its handshake. */
  readonly describe: (description: Description) => Effect.Effect<void, never, Scope.Scope>
  readonly observers: ReadonlySet<ClientObserver>
  /** Adds an observer of clients until the scope closes. */
  readonly observe: (observer: ClientObserver) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Whether the server has, or has had, an entry of this kind, or has a description that offers the kind. A server that has once had an
   * entry of a kind still offers the kind after the last entry was removed.
   */
  readonly offers: (kind: Kind) => boolean
  /** Calls the listener after every change of an entry, until the scope closes. */
  readonly onChange: (listener: (kind: Kind) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Announces to all clients that lists of this kind have changed for some of them, as `Registry.changed` does. */
  readonly changed: (kind: Kind) => Effect.Effect<void>
  /** The server shuts down: from now on every new entry is refused. */
  readonly close: Effect.Effect<void>
  /** Reports that the content of a resource has changed. Ends when the listeners of `onUpdate` have run. */
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
 * The registry of a running server, for fibers of the application. The layer of a server provides it, beside the `Dispatcher`. Features
 * have it, too.
 *
 * @category tags
 */
export class Running extends Context.Tag("@effect-mcp/core/server/Registry/Running")<Running, RegistryService>() {}

/**
 * Adds features to the server in the context while the server runs, from any fiber, until the scope closes. It adds either all features or
 * none. Clients are notified once for each kind of list when the features have been added, and again when the scope has closed. When a
 * feature is removed while a request uses it, the request ends as if the feature were still there. The scope of a handler is the scope of
 * its request. A handler that adds features for a longer time must pass the scope of its layer, with `Scope.extend`.
 *
 * Features may require the user, or what the session layer and the middleware provide. For such features there is `add` of
 * `McpServer.define`, because this function leaves these services in its requirements.
 *
 * Fails with a `FeatureError` when a name is taken, and when the server has shut down. A client that completed its handshake before the
 * server had the first feature of a kind is served this kind only if the option `capabilities` of the server advertised the kind.
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
 * Adds and removes features as one change. Clients are notified once for each kind of list when the effect has ended, also when it has
 * failed. The lists themselves change at once.
 *
 * @category combinators
 */
export const batch: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = ChangeBatch.run

/**
 * Notifies all clients that lists have changed, for example because the checks of `Feature.visible` now give other answers. Without an
 * argument it notifies of all lists. `changed` of `ServerSession` notifies one client.
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
 * An empty registry.
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

/** Functions that run for each value. */
const listeners = <A>() => {
  const all = new Set<(value: A) => Effect.Effect<void>>()
  return {
    call: (value: A): Effect.Effect<void> =>
      Effect.suspend(() => Effect.forEach([...all], (listener) => listener(value), { discard: true })),
    add: (listener: (value: A) => Effect.Effect<void>) => adding(all, listener)
  }
}

/**
 * Builds the features, and removes them when the scope closes. When one feature fails, the features that were built before it are removed
 * at once. When a layer dies with a `FeatureError`, this effect fails with the error.
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
        // An interruption may come in the steps after the layer was built.
      )).pipe(Effect.onError((cause) => close(Exit.failCause(cause))))
      yield* Scope.addFinalizerExit(outer, close)
    })
  )
