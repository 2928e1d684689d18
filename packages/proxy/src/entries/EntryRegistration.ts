/**
 * Registers an entry of an upstream (a tool, a prompt, a resource or a template) with the server. The server lists the description of the
 * entry. The handler of the entry sends the calls of clients to the upstream with `Forward`, and checks the results. This module also
 * registers handlers for tools and resources that the upstream serves but does not list. `Mirror` decides which entries are registered, and
 * when they are removed.
 */
import type { Hints } from "@effect-mcp/core/CacheHints"
import { ToolRefused } from "@effect-mcp/core/GroupError"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import type { Suggestions } from "@effect-mcp/core/protocol/Completion"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { type McpError, ResourceNotFound } from "@effect-mcp/core/protocol/McpError"
import { GetPromptResult } from "@effect-mcp/core/protocol/Prompts"
import { ReadResourceResult } from "@effect-mcp/core/protocol/Resources"
import { CallToolResult, type Tool } from "@effect-mcp/core/protocol/Tools"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Completers, RegisteredTool, RegistryService, Subscribable } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type { ToolFingerprints } from "@effect-mcp/core/ToolFingerprints"
import * as HiddenCharacters from "@effect-mcp/core/unstable/protocol/HiddenCharacters"
import * as SchemaCheck from "@effect-mcp/core/unstable/protocol/SchemaCheck"
import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Forward } from "../calls/Forward.js"
import type { ProxyEntry } from "../ProxyEntry.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import type * as Naming from "./Naming.js"
import type * as Uris from "./Uris.js"

export interface Options extends Pick<Naming.Options, "rename"> {
  readonly name: string
  readonly registry: RegistryService
  readonly forward: Forward
  /** The extensions that the proxy passes on. */
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
  /** Whether each client has its own session with the upstream. */
  readonly isEach: () => boolean
  /** Whether the upstream completes arguments. */
  readonly completes: () => boolean
  /**
   * Returns the task support of all tools, when the upstream decides for each call whether the call becomes a task. Returns `undefined`
   * when the upstream does not support such tasks.
   */
  readonly startsTasks: () => RegisteredTool["task"]
  /** Begins a subscription to a resource of the upstream. */
  readonly subscribe: (uri: string) => NonNullable<Subscribable["subscribe"]>
  /** The option `fingerprints` of the proxy. */
  readonly fingerprints?: ToolFingerprints | undefined
}

/** The state of all entries of the upstream. `Mirror` changes the state. */
export interface State {
  /** Whether the server lists the entries. */
  isListed: boolean
  /** Converts the URIs of the registered resources and templates. */
  uris: Uris.Uris
  /** The fingerprints of the tools that the upstream lists, by name. */
  fingerprints: ReadonlyMap<string, string>
}

/** The effects with which `Mirror` registers features. Each effect registers until the scope closes. */
export interface EntryRegistration {
  readonly register: (named: Naming.Named) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Registers a template that matches every URI, for resources that the upstream serves but does not list. `Mirror` uses this effect for a
   * proxy without the options `filter` and `rename`.
   */
  readonly unlistedResources: Effect.Effect<void, never, Scope.Scope>
  /**
   * Registers a handler for all tools that the upstream does not list. When the upstream does not have the tool either, the client gets the
   * error of the upstream.
   */
  readonly unlistedTools: Effect.Effect<void, never, Scope.Scope>
}

type Entry<Kind extends ProxyEntry["kind"]> = Extract<ProxyEntry, { readonly kind: Kind }>

/** Functions that read the lists of the upstream. */
export interface Listed {
  /** Whether the upstream lists an entry to the client of a request. */
  readonly isVisible: (entry: ProxyEntry) => Effect.Effect<boolean, never, ServerSession>
  /** Returns the caching hints of the list that a method reads. */
  readonly listHints: (method: string) => Hints | undefined
}

interface Self extends Options {
  readonly state: State
  readonly isVisible: Listed["isVisible"]
  readonly renamesUris: boolean
  /** The caching hints of the list that has an entry of this kind. */
  readonly listHints: Readonly<Record<ProxyEntry["kind"], () => Hints | undefined>>
}

export const make = (options: Options, state: State, { isVisible, listHints }: Listed): EntryRegistration => {
  const self: Self = {
    ...options,
    state,
    isVisible,
    renamesUris: options.rename !== undefined,
    listHints: {
      tool: () => listHints("tools/list"),
      prompt: () => listHints("prompts/list"),
      resource: () => listHints("resources/list"),
      template: () => listHints("resources/templates/list")
    }
  }
  return {
    register: (named) => register(self, named),
    unlistedResources: Effect.suspend(() => unlistedResources(self)),
    unlistedTools: Effect.suspend(() => unlistedTools(self))
  }
}

/** The context of the handlers, which is empty because the handlers of a proxy need no services. */
const context = Context.empty()

/** With this option, other fibers can run while the registration of a long list continues. */
const yields = { yields: true }

const register = (self: Self, { entry, own }: Naming.Named): Effect.Effect<void, never, Scope.Scope> => {
  switch (entry.kind) {
    case "tool":
      return tool(self, entry, own)
    case "prompt":
      return prompt(self, entry, own)
    case "resource":
      return resource(self, entry, own)
    case "template":
      return template(self, entry, own)
  }
}

/** Returns why the fingerprints refuse calls of a tool of the upstream; `undefined` when they accept calls. */
export const refusalOf = (
  { fingerprints, name, state }: Pick<Options, "fingerprints" | "name"> & { readonly state: State },
  tool: string
): string | undefined => fingerprints?.refusal(name, tool, state.fingerprints.get(tool))

const tool = (self: Self, entry: Entry<"tool">, own: string) => {
  const { listed, name: upstream } = entry
  const around = seenBy(self, entry)
  const check = visibilityOf(listed, self.extensions)
  const { taskSupport = "forbidden" } = listed.execution ?? {}
  const support = taskSupport === "forbidden" ? undefined : taskSupport
  return self.registry.tools.register({
    isListed: self.state.isListed && refusalOf(self, upstream) === undefined,
    listHints: self.listHints.tool,
    around: check === undefined ? around : [visible(check), ...around ?? []],
    context,
    // A client without tasks can also call a tool that requires tasks, because the proxy waits for the task of the upstream.
    advertised: {
      ...HiddenCharacters.removedFrom(listed),
      name: own,
      ...(support === "required" ? { execution: { taskSupport: "optional" } } : undefined)
    },
    task: support === undefined ? self.startsTasks() : { support: "optional", startsInHandler: false },
    call: (args) => callTool(self, upstream, args, support)
  }, yields)
}

const prompt = (self: Self, entry: Entry<"prompt">, own: string) => {
  const { listed, name: upstream } = entry
  return self.registry.prompts.register({
    isListed: self.state.isListed,
    listHints: self.listHints.prompt,
    around: seenBy(self, entry),
    context,
    advertised: { ...HiddenCharacters.removedFrom(listed), name: own },
    get: (args) => call(self, "prompts/get", withArguments(upstream, args)),
    completers: completers(
      self,
      { type: "ref/prompt", name: upstream },
      listed.arguments?.map(({ name }) => name) ?? []
    )
  }, yields)
}

const resource = (self: Self, entry: Entry<"resource">, own: string) =>
  self.registry.resources.register({
    isListed: self.state.isListed,
    listHints: self.listHints.resource,
    around: seenBy(self, entry),
    context,
    advertised: { ...HiddenCharacters.removedFrom(entry.listed), uri: own },
    read: read(self, entry.name, own),
    subscribe: self.subscribe(entry.name)
  }, yields)

const template = (self: Self, entry: Entry<"template">, own: string) =>
  Either.match(UriTemplate.parse(own), {
    onLeft: (problem) =>
      Effect.logWarning(`The resource template "${own}" of the upstream "${self.name}" is left out: ${problem}`),
    onRight: (template) => {
      const toUpstream = self.renamesUris
        ? self.state.uris.toUpstream({ upstream: entry.name, own })
        : (uri: string) => uri
      return self.registry.templates.register({
        isListed: self.state.isListed,
        listHints: self.listHints.template,
        around: seenBy(self, entry),
        context,
        template,
        advertised: { ...HiddenCharacters.removedFrom(entry.listed), uriTemplate: own },
        read: (_, uri) => Effect.suspend(() => read(self, toUpstream(uri), uri)),
        list: undefined,
        completers: completers(
          self,
          { type: "ref/resource", uri: entry.name },
          template.variables.map(({ name }) => name)
        ),
        subscribe: (uri, session) => self.subscribe(toUpstream(uri))(uri, session)
      }, yields)
    }
  })

const unlistedResources = (self: Self) => {
  const { name, registry, subscribe } = self
  let variable = "uri"
  for (let n = 2; registry.templates.has(`{+${variable}}`); n++) variable = `uri${n}`
  const uriTemplate = `{+${variable}}`
  return registry.templates.register({
    isListed: false,
    context,
    template: Either.getOrThrow(UriTemplate.parse(uriTemplate)),
    advertised: { name: `other resources of ${name}`, uriTemplate },
    read: (_, uri) => Effect.catchTag(read(self, uri, uri), "ResourceNotFound", () => Effect.succeed(undefined)),
    list: undefined,
    completers: new Map(),
    subscribe: (uri, session) => subscribe(uri)(uri, session)
  })
}

const unlistedTools = (self: Self) =>
  self.registry.tools.register({
    isListed: false,
    context,
    advertised: { name: "*", inputSchema: { type: "object" } },
    task: self.startsTasks(),
    call: (args, tool) => callTool(self, tool, args)
  }, yields)

/** Returns the check that hides an entry from a client when the upstream does not list it in the session of this client. */
const seenBy = ({ isEach, isVisible }: Self, entry: ProxyEntry) => isEach() ? [visible(isVisible(entry))] : undefined

/** Makes a check for visibility. The server runs the check with the services of the request. */
const visible = (check: Effect.Effect<boolean, never, ServerSession | RequestContext>) => ({
  _tag: "Visibility" as const,
  check: () => check as Effect.Effect<boolean>
})

const withArguments = (name: string, args: unknown): JsonObject => ({
  name,
  ...(args === undefined ? undefined : { arguments: args })
})

/**
 * Calls a tool of the upstream. When the fingerprints refuse the tool, returns a result with `isError`, because hosts show only results to
 * models.
 */
const callTool = (self: Self, tool: string, args: unknown, support?: "optional" | "required") =>
  Effect.suspend(() => {
    const reason = refusalOf(self, tool)
    if (reason === undefined) return call(self, "tools/call", withArguments(tool, args), support)
    const text = new ToolRefused({ server: self.name, tool, reason }).message
    return Effect.succeed({ content: [{ type: "text", text }], isError: true })
  })

/** Sends a call to the upstream, and checks the result. */
const call = (
  { forward, name, renamesUris, state }: Self,
  method: CheckedMethod,
  params: JsonObject,
  support?: "optional" | "required"
): Effect.Effect<any, McpError, ServerSession> =>
  Effect.flatMap(ServerSession, (session) =>
    Effect.flatMap(forward(session, method, params, support), (result) => {
      const valid = validResult(method, renamesUris ? state.uris.inResult(result) : result)
      return valid === undefined
        ? Effect.zipRight(
          Effect.logWarning(`The upstream "${name}" sent no valid result of "${method}"`),
          Effect.fail(UpstreamError.of(name, `sent no valid result of "${method}"`))
        )
        : Effect.succeed(valid)
    }))

const read = (self: Self, uri: string, own: string) =>
  Effect.mapError(
    call(self, "resources/read", { uri }),
    (error) => error._tag === "ResourceNotFound" && uri !== own ? new ResourceNotFound({ uri: own }) : error
  )

const completers = (self: Self, ref: JsonObject, names: ReadonlyArray<string>): Completers =>
  new Map(self.completes() ? names.map((argument) => [argument, complete(self, ref, argument)] as const) : [])

const complete =
  (self: Self, ref: JsonObject, argument: string) => (value: string, others: Readonly<Record<string, string>>) =>
    Effect.flatMap(ServerSession, (session) => {
      const given = Object.keys(others).length === 0 ? undefined : { context: { arguments: others } }
      const params = { ref, argument: { name: argument, value }, ...given }
      return Effect.flatMap(
        self.forward(session, "completion/complete", params),
        ({ completion }) =>
          Array.isArray((completion as JsonObject | undefined)?.values)
            ? Effect.succeed(completion as Suggestions)
            : Effect.fail(UpstreamError.of(self.name, "sent no valid result of \"completion/complete\""))
      )
    })

/** The methods whose results this module checks before clients get them. */
type CheckedMethod = "tools/call" | "prompts/get" | "resources/read"

const checks: Readonly<Record<CheckedMethod, (value: unknown) => boolean>> = {
  "tools/call": SchemaCheck.compile(CallToolResult),
  "prompts/get": SchemaCheck.compile(GetPromptResult),
  "resources/read": SchemaCheck.compile(ReadResourceResult)
}

/**
 * Returns the result for the client; `undefined` when the value is not a valid result of the method. Content of a kind that this library
 * does not support stays unchanged, because the client may support this kind.
 */
const validResult = (method: CheckedMethod, result: JsonObject): JsonObject | undefined => {
  const conforms = checks[method]
  return conforms(result) || conforms(readable(method, result)) ? MethodHandler.unchecked(result) : undefined
}

/** Returns the result with an empty text in place of each content of an unknown kind. */
const readable = (method: CheckedMethod, result: JsonObject): unknown => {
  if (method === "tools/call") {
    // Clients accept a result with structured content and without `content`, so the proxy accepts such a result, too.
    return { ...result, content: Array.isArray(result.content) ? result.content.map(known) : result.content ?? [] }
  }
  if (method === "prompts/get" && Array.isArray(result.messages)) {
    return {
      ...result,
      messages: result.messages.map((one) => Predicate.isRecord(one) ? { ...one, content: known(one.content) } : one)
    }
  }
  return result
}

const kinds: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"])

const known = (content: unknown): unknown =>
  Predicate.isRecord(content) && typeof content.type === "string" && !kinds.has(content.type)
    ? { type: "text", text: "" }
    : content

/**
 * Returns the check that decides whether a client gets a tool; `undefined` for a tool that every client may get. When the proxy has the
 * extension for MCP Apps, a tool may be only for views. A client that has not declared MCP Apps does not get such a tool, because this
 * client could give the tool to its model.
 */
const visibilityOf = (
  tool: Tool,
  extensions: ReadonlyArray<Extension.Extension.Any>
): Effect.Effect<boolean, never, RequestContext> | undefined =>
  Apps.isForModel(tool) || !extensions.some(({ id }) => id === Apps.extension.id) ? undefined : mayShowViews

// For a client of revision 2025-11-25 or earlier without a session, the server does not have the capabilities of the client.
const mayShowViews = Effect.map(
  RequestContext,
  ({ client: { capabilities, requestedVersion }, version }) =>
    capabilities.extensions?.[Apps.extension.id] !== undefined ||
    (Version.isLegacy(version) && requestedVersion === undefined)
)
