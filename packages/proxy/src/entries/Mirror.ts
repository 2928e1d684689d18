/**
 * Registers the entries of an upstream with the server: what is new is added, what has gone is removed, what has changed is
 * both, and the server notifies its clients. While the upstream cannot be reached, its entries are not listed, but a
 * client that calls them gets an error with the name of the upstream.
 *
 * What the upstream lists may differ from session to session. The entries of all sessions are registered, and a client whose
 * session with the upstream is its own sees those of that session.
 */
import type { ServerLists } from "@effect-mcp/client/unstable/Entries"
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/Semaphore"
import type { Suggestions } from "@effect-mcp/protocol/Completion"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { ResourceNotFound } from "@effect-mcp/protocol/McpError"
import type { Completers, Kind, RegisteredTool, RegistryService, Subscribable } from "@effect-mcp/server/Registry"
import * as Registry from "@effect-mcp/server/Registry"
import type { RequestContext } from "@effect-mcp/server/RequestContext"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Forward } from "../calls/Forward.js"
import * as ResultCheck from "../calls/ResultCheck.js"
import type { ProxyEntry } from "../ProxyEntry.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import * as AppTools from "./AppTools.js"
import * as Naming from "./Naming.js"
import * as Uris from "./Uris.js"

export interface Options extends Naming.Options {
  readonly name: string
  readonly registry: RegistryService
  readonly forward: Forward
  /** The extensions that the proxy passes on. */
  readonly extensions: ReadonlyArray<Extension.Extension.Any>
  readonly maxEntries: number
  /** Whether clients have sessions of their own. */
  readonly isEach: () => boolean
  /** The owner, for `setOwn`, of the session that a client has; waits until its lists are set. */
  readonly ownerOf: (session: ServerSessionService) => Effect.Effect<object | undefined>
  /** Whether the upstream completes arguments. */
  readonly completes: () => boolean
  /** How each call of a tool becomes a task, where the upstream decides that; `undefined` where it does not. */
  readonly startsTasks: () => RegisteredTool["task"]
  /** Whether the upstream has resources, listed or not. */
  readonly hasResources: () => boolean
  /** Begins a subscription to a resource of the upstream. */
  readonly subscribe: (uri: string) => NonNullable<Subscribable["subscribe"]>
}

export interface Mirror {
  /** Sets what the upstream lists to all clients; `undefined` while it cannot be reached. It has `reported` these changes. */
  readonly set: (lists: ServerLists | undefined, reported: ReadonlyArray<Kind>) => Effect.Effect<void>
  /** Sets what the upstream lists in the session of one client; `undefined` when the session has ended. */
  readonly setOwn: (
    owner: object,
    lists: ServerLists | undefined,
    reported: ReadonlyArray<Kind>
  ) => Effect.Effect<void>
  /** The URI that clients know for one of the upstream. */
  readonly toOwn: (uri: string) => string
}

interface Registered {
  /** Equal, both of them, as long as the entry need not be registered anew. */
  readonly settings: string
  readonly text: string
  readonly scope: Scope.CloseableScope
}

/** The services of the request are there when the check runs. */
const visible = (check: Effect.Effect<boolean, never, ServerSession | RequestContext>) => ({
  _tag: "Visibility" as const,
  check: check as Effect.Effect<boolean>
})

/** The entries are removed when the scope closes. */
export const make = (options: Options): Effect.Effect<Mirror, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { forward, maxEntries, name, registry, subscribe } = options
    const scope = yield* Effect.scope
    const lock = Semaphore.make()
    const registered = new Map<string, Registered>()
    const sources = new Map<object, ServerLists>()
    let isListed = false
    let uris: Uris.Uris = Uris.same
    const renamesUris = options.rename !== undefined
    const context = Context.empty()

    const call = (
      method: ResultCheck.Method,
      params: JsonObject,
      support?: "optional" | "required"
    ): Effect.Effect<any, McpError, ServerSession> =>
      Effect.flatMap(ServerSession, (session) =>
        Effect.flatMap(forward(session, method, params, support), (result) => {
          const valid = ResultCheck.valid(method, renamesUris ? uris.inResult(result) : result)
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
        return Effect.flatMap(completing, ({ completion }) =>
          Array.isArray((completion as JsonObject | undefined)?.values)
            ? Effect.succeed(completion as Suggestions)
            : Effect.fail(UpstreamError.of(options.name, "sent no valid result of \"completion/complete\"")))
      })

    /** Whether the upstream lists an entry to the client of a request. */
    const isVisible = ({ kind, name }: ProxyEntry): Effect.Effect<boolean, never, ServerSession> =>
      Effect.map(Effect.flatMap(ServerSession, options.ownerOf), (owner) => {
        const lists = sources.get(owner ?? everyone) ?? sources.get(everyone)
        return lists === undefined || keysOf(lists).has(`${kind} ${name}`)
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
            isListed,
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
            isListed,
            around,
            context,
            advertised: { ...entry.listed, name: own },
            get: (args) =>
              call("prompts/get", { name: entry.name, ...(args === undefined ? undefined : { arguments: args }) }),
            completers: completers(
              { type: "ref/prompt", name: entry.name },
              entry.listed.arguments?.map(({ name }) =>
                name
              ) ?? []
            )
          }, yields)
        case "resource":
          return registry.resources.register({
            isListed,
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
                ? uris.toUpstream({ upstream: entry.name, own })
                : (uri: string) => uri
              return registry.templates.register({
                isListed,
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

    const update = (
      key: string,
      settings: string,
      text: string,
      registering: Effect.Effect<void, never, Scope.Scope>
    ) =>
      Effect.gen(function*() {
        const before = registered.get(key)
        if (before?.settings === settings && before.text === text) return
        if (before !== undefined) yield* Scope.close(before.scope, Exit.void)
        const own = yield* Scope.fork(scope, ExecutionStrategy.sequential)
        registered.set(key, { settings, text, scope: own })
        yield* Scope.extend(registering, own)
      })

    const apply: Effect.Effect<void> = Effect.gen(function*() {
      if (sources.size === 0) return
      const { entries, left } = Naming.named(union([...sources.values()]), options, maxEntries)
      if (left > 0) {
        yield* Effect.logWarning(`The upstream "${name}" lists more than ${maxEntries} entries: ${left} are left out`)
      }
      if (renamesUris) {
        const of = (kind: "resource" | "template") =>
          entries.flatMap(({ entry, own }) => entry.kind === kind ? [{ upstream: entry.name, own }] : [])
        uris = Uris.make(of("resource"), of("template"))
      }
      const settings = `${isListed} ${options.completes()} ${options.isEach()} ${options.startsTasks() !== undefined}`
      const wanted = new Set<string>()
      for (const one of entries) {
        const key = `${one.entry.kind} ${one.own}`
        wanted.add(key)
        yield* update(
          key,
          `${settings} ${one.entry.name}`,
          textOf(one.entry.listed),
          Effect.suspend(() => register(one))
        )
      }
      if (options.filter === undefined && !renamesUris) {
        if (options.hasResources()) {
          wanted.add("resources")
          yield* update("resources", "", "", unlistedResources)
        }
        if (options.prefix === undefined) {
          wanted.add("tools")
          yield* update("tools", settings, "", unlistedTools)
        }
      }
      for (const [key, { scope }] of registered) {
        if (wanted.has(key)) continue
        registered.delete(key)
        yield* Scope.close(scope, Exit.void)
      }
    }).pipe(Registry.batch, lock.run, Effect.uninterruptible)

    const put: Mirror["setOwn"] = (owner, lists, reported) =>
      Effect.suspend(() => {
        if (lists === undefined) sources.delete(owner)
        else sources.set(owner, lists)
        const before = reported.map(revisionOf)
        // A change that the lists do not show any more was reported all the same.
        const silent = Effect.suspend(() =>
          Effect.forEach(
            reported.filter((kind, i) => revisionOf(kind) === before[i]),
            registry.changed,
            { discard: true }
          )
        )
        return Effect.zipRight(apply, silent)
      })
    const revisionOf = (kind: Kind): number =>
      kind === "resources" ? registry.resources.revision + registry.templates.revision : registry[kind].revision

    return {
      set: (lists, reported) =>
        Effect.suspend(() => {
          isListed = lists !== undefined
          return lists === undefined ? apply : put(everyone, lists, reported)
        }),
      setOwn: put,
      toOwn: (uri) => uris.toOwn(uri)
    }
  })

/** The owner of the lists that clients without a session of their own get. */
const everyone = {}

/** The entries of all lists; of equal ones the first. */
const union = (all: ReadonlyArray<ServerLists>): ServerLists => ({
  tools: joined(all.map(({ tools }) => tools), ({ name }) => name),
  prompts: joined(all.map(({ prompts }) => prompts), ({ name }) => name),
  resources: joined(all.map(({ resources }) => resources), ({ uri }) => uri),
  templates: joined(all.map(({ templates }) => templates), ({ uriTemplate }) => uriTemplate)
})

const joined = <A>(lists: ReadonlyArray<ReadonlyArray<A>>, keyOf: (one: A) => string): ReadonlyArray<A> => {
  const known = new Map<string, A>()
  for (const list of lists) {
    for (const one of list) {
      const key = keyOf(one)
      if (!known.has(key)) known.set(key, one)
    }
  }
  return [...known.values()]
}

const texts = new WeakMap<object, string>()

/** What is listed as text, which is written once: the lists of other clients leave it as it is. */
const textOf = (listed: object): string => {
  let text = texts.get(listed)
  if (text === undefined) texts.set(listed, text = JSON.stringify(listed))
  return text
}

const keys = new WeakMap<ServerLists, ReadonlySet<string>>()

const keysOf = (lists: ServerLists): ReadonlySet<string> => {
  let found = keys.get(lists)
  if (found === undefined) {
    const { entries } = Naming.named(lists, {}, Infinity)
    keys.set(lists, found = new Set(entries.map(({ entry }) => `${entry.kind} ${entry.name}`)))
  }
  return found
}
