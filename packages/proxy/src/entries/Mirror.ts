/**
 * Keeps the entries of an upstream registered with the server. `Proxy` passes the lists of the upstream to this module after each reading.
 * This module registers new entries, replaces entries that have changed, and removes entries that the upstream no longer lists. Then the
 * server notifies its clients. While the upstream cannot be reached, the entries stay registered but the server does not list them. A
 * client that calls such an entry gets an error with the name of the upstream.
 *
 * The upstream may have different lists in different sessions. This module registers the entries of all sessions. A client with its own
 * session gets only the entries of this session. `Naming` chooses and names the entries, `EntryChanges` compares them with the registered
 * entries, and `EntryRegistration` registers each entry.
 */
import * as Registry from "@effect-mcp/core/Registry"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import type { ServerLists } from "@effect-mcp/core/unstable/client/Entries"
import * as ListReport from "@effect-mcp/core/unstable/client/ListReport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as HiddenCharacters from "@effect-mcp/core/unstable/protocol/HiddenCharacters"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ProxyEntry } from "../ProxyEntry.js"
import * as ListedHints from "../upstream/ListedHints.js"
import type { UpstreamLists } from "../upstream/ListFollower.js"
import { changes, type Version } from "./EntryChanges.js"
import * as EntryRegistration from "./EntryRegistration.js"
import * as Naming from "./Naming.js"
import * as Uris from "./Uris.js"

export interface Options extends EntryRegistration.Options, Naming.Options {
  readonly maxEntries: number
  /**
   * Returns the object under which `setOwn` has stored the lists of a client's own session. Waits for these lists. Returns `undefined` for
   * a client that gets the lists of the shared session.
   */
  readonly ownerOf: (session: ServerSessionService) => Effect.Effect<object | undefined>
  /** Returns whether the upstream declares the capability `resources`. It may list its resources or not. */
  readonly hasResources: () => boolean
}

export interface Mirror {
  /**
   * Sets the lists of the shared session. `lists` is `undefined` while the upstream cannot be reached. `reported` are the kinds of lists
   * for which the upstream has sent a notification.
   */
  readonly set: (lists: UpstreamLists | undefined, reported: ReadonlyArray<Registry.Kind>) => Effect.Effect<void>
  /**
   * Sets the lists of a session that belongs to one client. `owner` identifies the session. `lists` is `undefined` when this session has
   * ended.
   */
  readonly setOwn: (
    owner: object,
    lists: UpstreamLists | undefined,
    reported: ReadonlyArray<Registry.Kind>
  ) => Effect.Effect<void>
  /** Converts a URI of the upstream to the URI that clients get. */
  readonly toOwn: (uri: string) => string
  /** Registers the entries again, after the application has accepted a changed tool. */
  readonly renew: Effect.Effect<void>
}

/** An entry that is registered until its scope closes. */
interface Registered extends Version {
  readonly scope: Scope.CloseableScope
}

/** An entry that has to be registered. */
interface Wanted extends Version {
  readonly registering: Effect.Effect<void, never, Scope.Scope>
}

interface Self extends Options {
  readonly scope: Scope.Scope
  /** The lock that lets only one update run at a time. */
  readonly lock: Semaphore.Semaphore
  readonly registration: EntryRegistration.EntryRegistration
  /** The registered entries, by kind and name. `add` and `remove` change this map. */
  readonly registered: Map<string, Registered>
  /** The lists of each session with the upstream, by the owner of the session. `put` writes them. */
  readonly sources: Map<object, UpstreamLists>
  readonly report: ListReport.ListReport
  /** The state that all registered entries read. `set` changes `isListed`. `update` changes `uris` and `fingerprints`. */
  readonly state: EntryRegistration.State
  /** The JSON texts of the entries for which the option `filter` or `rename` has thrown. `reportFailed` writes this map. */
  failing: ReadonlyMap<string, string>
}

/** Makes a `Mirror`, which removes its entries when the scope closes. */
export const make = (options: Options): Effect.Effect<Mirror, never, Scope.Scope> =>
  Effect.map(Effect.zip(Effect.scope, ListReport.make), ([scope, report]) => {
    const state: EntryRegistration.State = { isListed: false, uris: Uris.same, fingerprints: new Map() }
    const self: Self = {
      ...options,
      scope,
      lock: Semaphore.make(),
      registration: EntryRegistration.make(options, state, {
        isVisible: (entry) => isVisible(self, entry),
        listHints: (method) => ListedHints.least([...self.sources.values()].map(({ hints }) => hints), method)
      }),
      registered: new Map(),
      sources: new Map(),
      report,
      state,
      failing: new Map()
    }
    return {
      set: (lists, reported) => Effect.suspend(() => set(self, lists, reported)),
      setOwn: (owner, lists, reported) => Effect.suspend(() => put(self, owner, lists, reported)),
      toOwn: (uri) => state.uris.toOwn(uri),
      renew: Effect.suspend(() => apply(self))
    }
  })

const set = (
  self: Self,
  lists: UpstreamLists | undefined,
  reported: ReadonlyArray<Registry.Kind>
): Effect.Effect<void> => {
  self.state.isListed = lists !== undefined
  return lists === undefined ? apply(self) : put(self, everyone, lists, reported)
}

const put = (
  self: Self,
  owner: object,
  lists: UpstreamLists | undefined,
  reported: ReadonlyArray<Registry.Kind>
): Effect.Effect<void> => {
  const { registry, sources } = self
  if (lists === undefined) sources.delete(owner)
  else sources.set(owner, lists)
  const before = reported.map((kind) => revisionOf(self, kind))
  // Notifies clients when the upstream has sent a notification, but the entries for clients have not changed.
  const silent = Effect.suspend(() =>
    Effect.forEach(
      reported.filter((kind, i) => revisionOf(self, kind) === before[i]),
      registry.changed,
      { discard: true }
    )
  )
  return Effect.zipRight(apply(self), silent)
}

const revisionOf = ({ registry }: Self, kind: Registry.Kind): number =>
  kind === "resources" ? registry.resources.revision + registry.templates.revision : registry[kind].revision

/** Returns whether the upstream lists an entry to the client of a request. */
const isVisible = (
  { ownerOf, sources }: Self,
  { kind, name }: ProxyEntry
): Effect.Effect<boolean, never, ServerSession> =>
  Effect.map(Effect.flatMap(ServerSession, ownerOf), (owner) => {
    const lists = sources.get(owner ?? everyone) ?? sources.get(everyone)
    return lists === undefined || keysOf(lists).has(`${kind} ${name}`)
  })

/** Makes the registered entries equal to the lists. */
const apply = (self: Self): Effect.Effect<void> =>
  update(self).pipe(Registry.batch, self.lock.run, Effect.uninterruptible)

const update = Effect.fnUntraced(function*(self: Self) {
  const { fingerprints, maxEntries, name, registered, sources, state } = self
  const lists = union([...sources.values()])
  const { entries, failed, left } = Naming.named(lists, self, maxEntries)
  if (left > 0) {
    yield* Effect.logWarning(`The upstream "${name}" lists more than ${maxEntries} entries: ${left} are left out`)
  }
  yield* reportFailed(self, failed)
  yield* self.report.report(listings(name, entries))
  // When there are no lists, the upstream cannot be reached. The fingerprints must not treat this as a change of the tools.
  if (fingerprints !== undefined && sources.size > 0) state.fingerprints = yield* fingerprints.see(name, lists.tools)
  if (self.rename !== undefined) state.uris = urisOf(entries)
  const wanted = wantedOf(self, entries)
  for (const { _tag, key } of changes(registered, wanted)) {
    if (_tag !== "Add") yield* remove(self, key)
    if (_tag !== "Remove") yield* add(self, key, wanted.get(key)!)
  }
})

const add = Effect.fnUntraced(function*(self: Self, key: string, { registering, settings, text }: Wanted) {
  const own = yield* EffectInternals.childOf(self.scope)
  self.registered.set(key, { settings, text, scope: own })
  yield* Scope.extend(registering, own)
})

const remove = ({ registered }: Self, key: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { scope } = registered.get(key)!
    registered.delete(key)
    return ScopeEnd.close(scope, Exit.void)
  })

/**
 * Returns everything that has to be registered: the entries, and the handlers for tools and resources that the upstream serves but does not
 * list.
 */
const wantedOf = (self: Self, entries: ReadonlyArray<Naming.Named>): ReadonlyMap<string, Wanted> => {
  const { register, unlistedResources, unlistedTools } = self.registration
  const startsTasks = self.startsTasks() !== undefined
  const refusal = ({ kind, name }: ProxyEntry) => kind === "tool" ? EntryRegistration.refusalOf(self, name) : undefined
  const settings = `${self.state.isListed} ${self.completes()} ${self.isEach()} ${startsTasks}`
  const wanted = new Map(entries.map((one): [string, Wanted] => [`${one.entry.kind} ${one.own}`, {
    settings: `${settings} ${refusal(one.entry) ?? ""} ${one.entry.name}`,
    text: textOf(one.entry.listed),
    registering: Effect.suspend(() => register(one))
  }]))
  if (self.filter !== undefined || self.rename !== undefined) return wanted
  if (self.hasResources()) wanted.set("resources", { settings: "", text: "", registering: unlistedResources })
  if (self.prefix === undefined) wanted.set("tools", { settings, text: "", registering: unlistedTools })
  return wanted
}

const kinds = ["tool", "prompt", "resource", "template"] as const

/** Returns the names and texts that the upstream lists, for a report. */
const listings = (server: string, entries: ReadonlyArray<Naming.Named>): ReadonlyArray<ListReport.Listing> =>
  kinds.map((kind) => ({
    subject: `the entries of the kind ${kind} of the upstream`,
    isNamed: kind === "tool" || kind === "prompt",
    entries: entries.flatMap(({ entry: { kind: own, listed } }) =>
      own === kind
        ? [{
          server,
          name: listed.name,
          isChanged: HiddenCharacters.removedFrom<ProxyEntry["listed"]>(listed) !== listed
        }]
        : []
    )
  }))

const urisOf = (entries: ReadonlyArray<Naming.Named>): Uris.Uris => {
  const of = (kind: "resource" | "template") =>
    entries.flatMap(({ entry, own }) => entry.kind === kind ? [{ upstream: entry.name, own }] : [])
  return Uris.make(of("resource"), of("template"))
}

/** Logs each entry for which the option `filter` or `rename` has thrown. Logs an entry again only after the entry has changed. */
const reportFailed = (self: Self, failed: ReadonlyArray<Naming.Failed>): Effect.Effect<void> => {
  const before = self.failing
  self.failing = new Map(failed.map(({ entry }) => [`${entry.kind} ${entry.name}`, textOf(entry.listed)]))
  const changed = failed.filter(({ entry }) => before.get(`${entry.kind} ${entry.name}`) !== textOf(entry.listed))
  return Effect.forEach(changed, ({ entry, error }) => {
    const which = `The ${entry.kind} "${entry.name}" of the upstream "${self.name}"`
    return Effect.logError(`${which} is left out: the option "filter" or "rename" threw for it`, Cause.die(error))
  }, { discard: true })
}

/** The owner of the lists for clients without their own session. */
const everyone = {}

/** Returns the entries of all lists. When several entries have the same name, the result has only the first of them. */
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

/** Returns the JSON text of an entry. The text is computed only once for each entry. */
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
