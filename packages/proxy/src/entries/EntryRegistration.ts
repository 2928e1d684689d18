/**
 * Registers one entry of an upstream with the server: what the server lists, and how a call of a client goes on to the upstream
 * and its result comes back. `Mirror` decides which entries are registered, and until when.
 */
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { ResourceNotFound } from "@effect-mcp/protocol/McpError"
import type { Completers, RegisteredTool, RegistryService, Subscribable } from "@effect-mcp/server/Registry"
import type { RequestContext } from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Forward } from "../calls/Forward.js"
import * as ResultCheck from "../calls/ResultCheck.js"
import type { ProxyEntry } from "../ProxyEntry.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import * as AppTools from "./AppTools.js"
import type * as Naming from "./Naming.js"
import type * as Uris from "./Uris.js"

export interface Options extends Pick<Naming.Options, "rename"> {
  readonly name: string
  readonly registry: RegistryService
  readonly forward: Forward
  /** The extensions that the proxy passes on. */
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
  /** Whether clients have sessions of their own. */
  readonly isEach: () => boolean
  /** Whether the upstream completes arguments. */
  readonly completes: () => boolean
  /** How each call of a tool becomes a task, where the upstream decides that; `undefined` where it does not. */
  readonly startsTasks: () => RegisteredTool["task"]
  /** Begins a subscription to a resource of the upstream. */
  readonly subscribe: (uri: string) => NonNullable<Subscribable["subscribe"]>
}

/** What holds for all entries of the upstream. `Mirror` changes it. */
export interface State {
  /** Whether lists include the entries. */
  isListed: boolean
  /** The URIs of the resources and templates that are registered. */
  uris: Uris.Uris
}

/** What registers an entry, until the scope closes. */
export interface EntryRegistration {
  readonly register: (named: Naming.Named) => Effect.Effect<void, never, Scope.Scope>
  readonly unlistedResources: Effect.Effect<void, never, Scope.Scope>
  readonly unlistedTools: Effect.Effect<void, never, Scope.Scope>
}

/** The services of the request are there when the check runs. */
const visible = (check: Effect.Effect<boolean, never, ServerSession | RequestContext>) => ({
  _tag: "Visibility" as const,
  check: check as Effect.Effect<boolean>
})

/** `isVisible` tells whether the upstream lists an entry to the client of a request. */
export const make = (
  options: Options,
  state: State,
  isVisible: (entry: ProxyEntry) => Effect.Effect<boolean, never, ServerSession>
): EntryRegistration => {
  const { forward, name, registry, subscribe } = options
  const renamesUris = options.rename !== undefined
  const context = Context.empty()

  const call = (
    method: ResultCheck.Method,
    params: JsonObject,
    support?: "optional" | "required"
  ): Effect.Effect<any, McpError, ServerSession> =>
    Effect.flatMap(ServerSession, (session) =>
      Effect.flatMap(forward(session, method, params, support), (result) => {
        const valid = ResultCheck.valid(method, renamesUris ? state.uris.inResult(result) : result)
        return valid === undefined
          ? Effect.zipRight(
            Effect.logWarning(`The upstream "${name}" sent no valid result of "${method}"`),
            Effect.fail(UpstreamError.of(name, `sent no valid result of "${method}"`))
          )
          : Effect.succeed(valid)
      }))

  const read = (uri: string, own: string) =>
    Effect.mapError(
      call("resources/read", { uri }),
      (error) => error._tag === "ResourceNotFound" && uri !== own ? new ResourceNotFound({ uri: own }) : error
    )

  const completers = (ref: JsonObject, names: ReadonlyArray<string>): Completers =>
    new Map(options.completes() ? names.map((argument) => [argument, complete(ref, argument)] as const) : [])

  const complete = (ref: JsonObject, name: string) => (value: string, others: Readonly<Record<string, string>>) =>
    Effect.flatMap(ServerSession, (session) => {
      const given = Object.keys(others).length === 0 ? undefined : { context: { arguments: others } }
      const completing = forward(session, "completion/complete", { ref, argument: { name, value }, ...given })
      return Effect.flatMap(
        completing,
        ({ completion }) =>
          Array.isArray((completion as JsonObject | undefined)?.values)
            ? Effect.succeed(completion as Suggestions)
            : Effect.fail(UpstreamError.of(options.name, "sent no valid result of \"completion/complete\""))
      )
    })

  const register = ({ entry, own }: Naming.Named): Effect.Effect<void, never, Scope.Scope> => {
    const yields = { yields: true }
    const around = options.isEach() ? [visible(isVisible(entry))] : undefined
    switch (entry.kind) {
      case "tool": {
        const check = AppTools.visibility(entry.listed, options.extensions)
        const { taskSupport = "forbidden" } = entry.listed.execution ?? {}
        const support = taskSupport === "forbidden" ? undefined : taskSupport
        return registry.tools.register({
          isListed: state.isListed,
          around: check === undefined ? around : [visible(check), ...around ?? []],
          context,
          // A client without tasks can call each tool: the proxy waits for the task of the upstream.
          advertised: {
            ...entry.listed,
            name: own,
            ...(support === "required" ? { execution: { taskSupport: "optional" } } : undefined)
          },
          task: support === undefined ? options.startsTasks() : { support: "optional", startsInHandler: false },
          call: (args) =>
            call(
              "tools/call",
              { name: entry.name, ...(args === undefined ? undefined : { arguments: args }) },
              support
            )
        }, yields)
      }
      case "prompt":
        return registry.prompts.register({
          isListed: state.isListed,
          around,
          context,
          advertised: { ...entry.listed, name: own },
          get: (args) =>
            call("prompts/get", { name: entry.name, ...(args === undefined ? undefined : { arguments: args }) }),
          completers: completers(
            { type: "ref/prompt", name: entry.name },
            entry.listed.arguments?.map(({ name }) => name) ?? []
          )
        }, yields)
      case "resource":
        return registry.resources.register({
          isListed: state.isListed,
          around,
          context,
          advertised: { ...entry.listed, uri: own },
          read: read(entry.name, own),
          subscribe: subscribe(entry.name)
        }, yields)
      case "template":
        return Either.match(UriTemplate.parse(own), {
          onLeft: (problem) =>
            Effect.logWarning(`The resource template "${own}" of the upstream "${name}" is left out: ${problem}`),
          onRight: (template) => {
            const toUpstream = renamesUris
              ? state.uris.toUpstream({ upstream: entry.name, own })
              : (uri: string) => uri
            return registry.templates.register({
              isListed: state.isListed,
              around,
              context,
              template,
              advertised: { ...entry.listed, uriTemplate: own },
              read: (_, uri) => Effect.suspend(() => read(toUpstream(uri), uri)),
              list: undefined,
              completers: completers(
                { type: "ref/resource", uri: entry.name },
                template.variables.map(({ name }) => name)
              ),
              subscribe: (uri, session) => subscribe(toUpstream(uri))(uri, session)
            }, yields)
          }
        })
    }
  }

  /** Resources that the upstream serves and does not list, where clients may read all that it has. */
  const unlistedResources = Effect.suspend(() => {
    let variable = "uri"
    for (let n = 2; registry.templates.has(`{+${variable}}`); n++) variable = `uri${n}`
    const uriTemplate = `{+${variable}}`
    return registry.templates.register({
      isListed: false,
      context,
      template: Either.getOrThrow(UriTemplate.parse(uriTemplate)),
      advertised: { name: `other resources of ${name}`, uriTemplate },
      read: (_, uri) => Effect.catchTag(read(uri, uri), "ResourceNotFound", () => Effect.succeed(undefined)),
      list: undefined,
      completers: new Map(),
      subscribe: (uri, session) => subscribe(uri)(uri, session)
    })
  })

  /** Tools that the upstream does not list. It may have them all the same; if not, its error goes to the client. */
  const unlistedTools = Effect.suspend(() =>
    registry.tools.register({
      isListed: false,
      context,
      advertised: { name: "*", inputSchema: { type: "object" } },
      task: options.startsTasks(),
      call: (args, tool) =>
        call("tools/call", { name: tool, ...(args === undefined ? undefined : { arguments: args }) })
    }, { yields: true })
  )

  return { register, unlistedResources, unlistedTools }
}
