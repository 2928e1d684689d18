/**
 * Keeps the entries that are registered with the server equal to the lists of an upstream. It adds new entries, removes entries
 * that have gone, and replaces entries that have changed; the server notifies its clients. While the upstream cannot be reached, the
 * server does not list the entries, but a client that calls an entry gets an error with the name of the upstream.
 *
 * The lists may differ from session to session. The entries of all sessions are registered, and a client with a session of its own
 * sees the entries of its session. `Naming` chooses and names the entries, `EntryRegistration` registers each.
 */
import type { Kind } from "@effect-mcp/core/Registry"
import * as Registry from "@effect-mcp/core/Registry"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import type { ServerLists } from "@effect-mcp/core/unstable/client/Entries"
import * as Edition from "@effect-mcp/core/unstable/kit/Edition"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ProxyEntry } from "../ProxyEntry.js"
import * as EntryRegistration from "./EntryRegistration.js"
import * as Naming from "./Naming.js"
import * as Uris from "./Uris.js"

export interface Options extends EntryRegistration.Options, Naming.Options {
  readonly maxEntries: number
  /** The owner, as `setOwn` knows it, of the session of a client. Waits until the lists of the owner are set. */
  readonly ownerOf: (session: ServerSessionService) => Effect.Effect<object | undefined>
  /** Whether the upstream has resources, listed or not. */
  readonly hasResources: () => boolean
}

export interface Mirror {
  /**
   * Sets what the upstream lists in the session of all clients; `undefined` while the upstream cannot be reached. `reported` are the
   * changes that the upstream has notified.
   */
  readonly set: (lists: ServerLists | undefined, reported: ReadonlyArray<Kind>) => Effect.Effect<void>
  /** As `set`, for the session of one client; `undefined` when the session has ended. */
  readonly setOwn: (
    owner: object,
    lists: ServerLists | undefined,
    reported: ReadonlyArray<Kind>
  ) => Effect.Effect<void>
  /** The URI that clients know for a URI of the upstream. */
  readonly toOwn: (uri: string) => string
}

interface Registered {
  /** Equal, both of them, as long as the entry need not be registered anew. */
  readonly settings: string
  readonly text: string
  readonly scope: Scope.CloseableScope
}

/** The entries are removed when the scope closes. */
export const make = (options: Options): Effect.Effect<Mirror, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { maxEntries, name, registry } = options
    const scope = yield* Effect.scope
    const lock = Semaphore.make()
    const registered = new Map<string, Registered>()
    const sources = new Map<object, ServerLists>()
    let failing: ReadonlyMap<string, string> = new Map()
    const state: EntryRegistration.State = { isListed: false, uris: Uris.same }
    const renamesUris = options.rename !== undefined

    /** Whether the upstream lists an entry to the client of a request. */
    const isVisible = ({ kind, name }: ProxyEntry): Effect.Effect<boolean, never, ServerSession> =>
      Effect.map(Effect.flatMap(ServerSession, options.ownerOf), (owner) => {
        const lists = sources.get(owner ?? everyone) ?? sources.get(everyone)
        return lists === undefined || keysOf(lists).has(`${kind} ${name}`)
      })

    const { register, unlistedResources, unlistedTools } = EntryRegistration.make(options, state, isVisible)

    const update = (
      key: string,
      settings: string,
      text: string,
      registering: Effect.Effect<void, never, Scope.Scope>
    ) =>
      Effect.gen(function*() {
        const before = registered.get(key)
        if (before?.settings === settings && before.text === text) return
        if (before !== undefined) yield* ScopeEnd.close(before.scope, Exit.void)
        const own = yield* Edition.childOf(scope)
        registered.set(key, { settings, text, scope: own })
        yield* Scope.extend(registering, own)
      })

    /** Logs each entry that is left out because a function of the application threw, once for each change of the entry. */
    const report = (failed: ReadonlyArray<Naming.Failed>): Effect.Effect<void> => {
      const before = failing
      failing = new Map(failed.map(({ entry }) => [`${entry.kind} ${entry.name}`, textOf(entry.listed)]))
      const changed = failed.filter(({ entry }) => before.get(`${entry.kind} ${entry.name}`) !== textOf(entry.listed))
      return Effect.forEach(changed, ({ entry, error }) => {
        const which = `The ${entry.kind} "${entry.name}" of the upstream "${name}"`
        return Effect.logError(`${which} is left out: the option "filter" or "rename" threw for it`, Cause.die(error))
      }, { discard: true })
    }

    const apply: Effect.Effect<void> = Effect.gen(function*() {
      if (sources.size === 0) return
      const { entries, failed, left } = Naming.named(union([...sources.values()]), options, maxEntries)
      if (left > 0) {
        yield* Effect.logWarning(`The upstream "${name}" lists more than ${maxEntries} entries: ${left} are left out`)
      }
      yield* report(failed)
      if (renamesUris) {
        const of = (kind: "resource" | "template") =>
          entries.flatMap(({ entry, own }) => entry.kind === kind ? [{ upstream: entry.name, own }] : [])
        state.uris = Uris.make(of("resource"), of("template"))
      }
      const settings = `${state.isListed} ${options.completes()} ${options.isEach()} ${
        options.startsTasks() !== undefined
      }`
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
        yield* ScopeEnd.close(scope, Exit.void)
      }
    }).pipe(Registry.batch, lock.run, Effect.uninterruptible)

    const put: Mirror["setOwn"] = (owner, lists, reported) =>
      Effect.suspend(() => {
        if (lists === undefined) sources.delete(owner)
        else sources.set(owner, lists)
        const before = reported.map(revisionOf)
        // The upstream has notified a change, but the lists are the same again: clients are notified in any case.
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
          state.isListed = lists !== undefined
          return lists === undefined ? apply : put(everyone, lists, reported)
        }),
      setOwn: put,
      toOwn: (uri) => state.uris.toOwn(uri)
    }
  })

/** The owner of the lists for clients without a session of their own. */
const everyone = {}

/** The entries of all lists. Of entries with the same name, the first. */
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

/** The JSON text of an entry. Each entry is written once, however often the lists of clients change. */
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
