/**
 * What a server offers at the moment: tables of tools, resources, resource templates, prompts and handlers. Feature layers
 * add entries; the server's methods read them.
 *
 * Each server has a registry of its own, which its feature layers find in their context. The registry knows neither
 * transports nor clients: code that must know of a change registers a listener.
 *
 * @since 0.1.0
 */
import type { UriTemplate } from "@effect-mcp/definition/UriTemplate"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Method from "@effect-mcp/protocol/Method"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import type * as Scope from "effect/Scope"
import type { Hints } from "./CacheOptions.js"
import { EntryTable } from "./features/EntryTable.js"

/**
 * A registered entry. Its effects run with the context that its feature's layer was built with, to which the services of
 * the request are added.
 */
export interface Registered {
  readonly context: Context.Context<never>
}

export interface RegisteredTool extends Registered {
  /** The tool as `tools/list` describes it. */
  readonly advertised: Tools.Tool
  /** Decodes the arguments and runs the handler. */
  readonly call: (args: unknown) => Effect.Effect<Tools.CallToolResult, unknown, any>
}

export interface RegisteredResource extends Registered {
  /** The resource as `resources/list` describes it. */
  readonly advertised: Resources.Resource
  readonly read: Effect.Effect<Resources.ReadResourceResult, unknown, any>
  /** The hints for caches of clients, if the resource has hints of its own. */
  readonly hints?: Hints | undefined
}

export interface RegisteredTemplate extends Registered {
  /** The template as `resources/templates/list` describes it. */
  readonly advertised: Resources.ResourceTemplate
  readonly template: UriTemplate
  /** Decodes the variables and runs the handler. Gives `undefined` when the template does not accept the variables. */
  readonly read: (
    variables: Readonly<Record<string, unknown>>,
    uri: string
  ) => Effect.Effect<Resources.ReadResourceResult | undefined, unknown, any>
  /** The resources of this template that `resources/list` includes. Runs for each request. */
  readonly list: Effect.Effect<ReadonlyArray<Resources.Resource>, unknown, any> | undefined
  /** The hints for caches of clients, if the template has hints of its own. */
  readonly hints?: Hints | undefined
  readonly completers: Completers
}

export interface RegisteredPrompt extends Registered {
  /** The prompt as `prompts/list` describes it. */
  readonly advertised: Prompts.Prompt
  /** Decodes the arguments and runs the handler. */
  readonly get: (args: unknown) => Effect.Effect<Prompts.GetPromptResult, unknown, any>
  readonly completers: Completers
}

/** Completers by the name of their argument. Each gets the text that the user has typed, and the other arguments. */
export type Completers = ReadonlyMap<
  string,
  (value: string, others: Readonly<Record<string, string>>) => Effect.Effect<Suggestions, unknown, any>
>

/**
 * The application's handler of the requests or notifications of one method. It comes before what the server itself does
 * for that method.
 */
export interface RegisteredHandler extends Registered {
  readonly method: Method.Method
  /** The identifier of the extension that defines the method. */
  readonly extension?: string | undefined
  /** The capabilities that a client must have declared. */
  readonly requires?: ClientCapabilities | undefined
  /** `params` are decoded; `raw` are the same parameters as the client sent them. */
  readonly run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, any>
}

/** The application's choice among the keys that a client wants to subscribe to, for one filter of an extension. */
export interface RegisteredFilter extends Registered {
  readonly name: string
  readonly accept: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, unknown, any>
}

/** A notification of an extension for the clients that have subscribed to it. */
export interface ExtensionNotification {
  readonly method: string
  readonly filter: string
  /** What it is about, when the filter holds keys. */
  readonly key: string | undefined
  readonly params: JsonObject
}

/** The kinds of entries that clients list, and whose changes they can be notified of. */
export type Kind = "tools" | "resources" | "prompts"

/** A table of entries of one kind, by key. */
export interface Entries<in out A> extends Iterable<[key: string, entry: A]> {
  readonly size: number
  /** Incremented whenever an entry is added or removed. */
  readonly revision: number
  /** Whether the table has, or ever had, an entry. */
  readonly wasUsed: boolean
  readonly get: (key: string) => A | undefined
  readonly has: (key: string) => boolean
  readonly keys: () => IterableIterator<string>
  readonly values: () => IterableIterator<A>
  /** Adds an entry until the scope closes. Dies when the table has an entry of this key already. */
  readonly register: (entry: A) => Effect.Effect<void, never, Scope.Scope>
  /** Calls the listener after every change, until the scope closes. */
  readonly onChange: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

export interface RegistryService {
  /** By name. */
  readonly tools: Entries<RegisteredTool>
  /** By URI. */
  readonly resources: Entries<RegisteredResource>
  /** By URI template. */
  readonly templates: Entries<RegisteredTemplate>
  /** By name. */
  readonly prompts: Entries<RegisteredPrompt>
  /** By the name of their method. */
  readonly handlers: Entries<RegisteredHandler>
  /** By the name of their filter. */
  readonly filters: Entries<RegisteredFilter>
  /**
   * Whether there is, or ever was, an entry of this kind. A server that has advertised a kind goes on offering it after
   * the last entry was removed.
   */
  readonly offers: (kind: Kind) => boolean
  /** Calls the listener after every change of an entry, until the scope closes. */
  readonly onChange: (listener: (kind: Kind) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Reports that the content of a resource has changed. Waits until the listeners of `onUpdate` have run. */
  readonly updated: (uri: string) => Effect.Effect<void>
  /** Runs the listener for each resource whose content has changed, until the scope closes. */
  readonly onUpdate: (listener: (uri: string) => Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Sends a notification of an extension to the clients that have subscribed to it. Dies when the parameters do not conform
   * to their schema.
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

export class Registry extends Context.Tag("@effect-mcp/server/Registry")<Registry, RegistryService>() {}

/** An empty registry. */
export const make: Effect.Effect<RegistryService> = Effect.sync(() => {
  const tools = new EntryTable<RegisteredTool>("tools named", ({ advertised }) => advertised.name)
  const resources = new EntryTable<RegisteredResource>("resources at", ({ advertised }) => advertised.uri)
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
  const updates = listeners<string>()
  const notifications = listeners<ExtensionNotification>()
  return {
    tools,
    resources,
    templates,
    prompts,
    handlers,
    filters,
    offers: (kind) => tables.some(([of, table]) => of === kind && table.wasUsed),
    onChange: (listener) =>
      Effect.forEach(tables, ([kind, table]) => table.onChange(() => listener(kind)), { discard: true }),
    updated: updates.call,
    onUpdate: updates.add,
    notify: ({ filter, key, name, params: schema }, given) =>
      Effect.matchEffect(ParseResult.encodeUnknown(schema)(given), {
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

/** Functions that run for each value. */
const listeners = <A>() => {
  const all = new Set<(value: A) => Effect.Effect<void>>()
  return {
    call: (value: A): Effect.Effect<void> =>
      Effect.suspend(() => Effect.forEach([...all], (listener) => listener(value), { discard: true })),
    add: (listener: (value: A) => Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => all.add(listener)),
        () => Effect.sync(() => all.delete(listener))
      )
  }
}
