/**
 * What a server offers right now, kind by kind: feature layers put it there, the features' rooms read it.
 *
 * It is a service of each server, never shared by two; feature layers find it in their context. It knows no wire and no
 * client: who wants to know of changes listens.
 *
 * @since 0.1.0
 */
import type { UriTemplate } from "@effect-mcp/definition/UriTemplate"
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Method from "@effect-mcp/protocol/Method"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { EntryTable } from "./features/EntryTable.js"

/**
 * What runs in the context of the feature that keeps it; the request's own services are added to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Kept {
  readonly context: Context.Context<never>
}

/**
 * A tool that is kept: what is advertised, and what to run.
 *
 * @since 0.1.0
 * @category models
 */
export interface RegisteredTool extends Kept {
  readonly advertised: Tools.Tool
  /** Runs the handler; the arguments are checked inside. */
  readonly call: (args: unknown, version: string) => Effect.Effect<Tools.CallToolResult, unknown, any>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RegisteredResource extends Kept {
  readonly advertised: Resources.Resource
  readonly read: Effect.Effect<Resources.ReadResourceResult, unknown, any>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RegisteredTemplate extends Kept {
  readonly advertised: Resources.ResourceTemplate
  readonly template: UriTemplate
  /** Runs the handler; `undefined` when the variables are none of this template's. */
  readonly read: (
    found: Readonly<Record<string, unknown>>,
    uri: string
  ) => Effect.Effect<Resources.ReadResourceResult | undefined, unknown, any>
  /** The resources of this kind that are worth listing. */
  readonly list: Effect.Effect<ReadonlyArray<Resources.Resource>, unknown, any> | undefined
  readonly completers: Completers
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RegisteredPrompt extends Kept {
  readonly advertised: Prompts.Prompt
  /** Runs the handler; the arguments are checked inside. */
  readonly get: (args: unknown) => Effect.Effect<Prompts.GetPromptResult, unknown, any>
  readonly completers: Completers
}

/**
 * What an argument may become, by its name: given what is there of it, and the other arguments.
 *
 * @since 0.1.0
 * @category models
 */
export type Completers = ReadonlyMap<
  string,
  (value: string, others: Readonly<Record<string, string>>) => Effect.Effect<Suggestions, unknown, any>
>

/**
 * What serves the requests, or hears the notifications, of one method in place of what the server would do itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface RegisteredHandler extends Kept {
  readonly method: Method.Method
  readonly run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, any>
}

/**
 * The kinds of things that are listed, and can change.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind = "tools" | "resources" | "prompts"

/**
 * @since 0.1.0
 * @category models
 */
export interface RegistryService {
  /** By name. */
  readonly tools: EntryTable<RegisteredTool>
  /** By URI. */
  readonly resources: EntryTable<RegisteredResource>
  /** By URI template. */
  readonly templates: EntryTable<RegisteredTemplate>
  /** By name. */
  readonly prompts: EntryTable<RegisteredPrompt>
  /** By method. */
  readonly handlers: EntryTable<RegisteredHandler>
  /**
   * Whether there is, or ever was, an entry of this kind. What a server has said that it offers it goes on offering, even
   * when there is nothing left of it.
   */
  readonly offers: (kind: Kind) => boolean
  /** Calls back on every change, until the scope closes. */
  readonly onChange: (listener: (kind: Kind) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Says that the content of a resource is new. */
  readonly updated: (uri: string) => Effect.Effect<void>
  /** Calls back on each of them, until the scope closes. */
  readonly onUpdate: (listener: (uri: string) => Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Registry extends Context.Tag("@effect-mcp/server/Registry")<Registry, RegistryService>() {}

/**
 * An empty registry.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<RegistryService> = Effect.sync(() => {
  const tools = new EntryTable<RegisteredTool>("tools named", ({ advertised }) => advertised.name)
  const resources = new EntryTable<RegisteredResource>("resources at", ({ advertised }) => advertised.uri)
  const templates = new EntryTable<RegisteredTemplate>(
    "resource templates of",
    ({ advertised }) => advertised.uriTemplate
  )
  const prompts = new EntryTable<RegisteredPrompt>("prompts named", ({ advertised }) => advertised.name)
  const handlers = new EntryTable<RegisteredHandler>("handlers of", ({ method }) => method.name)
  const shelves: ReadonlyArray<readonly [Kind, EntryTable<any>]> = [
    ["tools", tools],
    ["resources", resources],
    ["resources", templates],
    ["prompts", prompts]
  ]
  const readers = new Set<(uri: string) => Effect.Effect<void>>()
  return {
    tools,
    resources,
    templates,
    prompts,
    handlers,
    offers: (kind) => shelves.some(([of, shelf]) => of === kind && shelf.wasUsed),
    onChange: (listener) =>
      Effect.forEach(shelves, ([kind, shelf]) => shelf.onChange(() => listener(kind)), { discard: true }),
    updated: (uri) => Effect.suspend(() => Effect.forEach([...readers], (reader) => reader(uri), { discard: true })),
    onUpdate: (reader) =>
      Effect.acquireRelease(
        Effect.sync(() => readers.add(reader)),
        () => Effect.sync(() => readers.delete(reader))
      )
  }
})
