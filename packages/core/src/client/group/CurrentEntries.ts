/**
 * The current entries of a `ClientSessionGroup`: the tools, resources, resource templates and prompts of all its servers. Adds, updates,
 * hides or removes all entries of one server in a single change. `ServerLists` reads the lists of the server before the change, and
 * `Entries` combines the lists of all servers.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as MutableRef from "effect/MutableRef"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Outbox from "../../kit/Outbox.js"
import type * as Tools from "../../protocol/Tools.js"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type * as GroupEntries from "../GroupEntries.js"
import { DuplicateEntry } from "../GroupError.js"
import type { ToolFingerprints } from "../ToolFingerprints.js"
import * as Entries from "./Entries.js"
import * as ListReport from "./ListReport.js"
import * as Names from "./Names.js"
import * as ServerLists from "./ServerLists.js"

/**
 * The membership of one server in the group. When the server has left, another server may get the same name; that server has a new
 * `Membership`.
 */
export interface Membership {
  readonly name: string
  /** When two servers have an entry of the same name, the server with the lower number keeps the name. */
  readonly order: number
}

export interface Options extends Names.Naming {
  /** Whether the group refuses a server that has the name of an entry of another server. With `false`, the group renames the entry. */
  readonly refuseCollisions: boolean
  /** Finds tools to which the application has not agreed (see `ToolFingerprints`); `undefined` when the group does not check this. */
  readonly fingerprints: ToolFingerprints | undefined
}

export interface CurrentEntries {
  readonly entries: Effect.Effect<GroupEntries.Entries>
  /** The entries now, and after each change. A slow listener misses older values. */
  readonly changes: Stream.Stream<GroupEntries.Entries>
  /** Reads the lists of a server, and adds its entries. */
  readonly add: (
    member: Membership,
    session: ClientSessionService
  ) => Effect.Effect<ServerLists.Listing, ClientError | DuplicateEntry>
  /** Reads the lists of a server again. When the server refuses to give a list, the earlier list stays. */
  readonly refresh: (
    member: Membership,
    session: ClientSessionService
  ) => Effect.Effect<ServerLists.Listing, ClientError>
  /** Removes the entries of a server while it is not connected. Their names stay reserved for the server. */
  readonly hide: (member: Membership) => Effect.Effect<void>
  readonly remove: (member: Membership) => Effect.Effect<void>
  /** Publishes the entries again, because the application has agreed to a tool, or a tool has changed. */
  readonly renew: Effect.Effect<void>
  /** Returns why calls of a tool are refused; `undefined` when they are not refused. */
  readonly refusal: (tool: GroupEntries.Entry<Tools.Tool>) => string | undefined
}

/** How many changes wait for a slow listener. When more changes wait, the oldest are dropped; the newest is never dropped. */
const CAPACITY = 16

type Listener = Outbox.Outbox<GroupEntries.Entries>

type Servers = ReadonlyMap<Membership, Entries.Server>

interface State {
  readonly servers: Servers
  readonly entries: GroupEntries.Entries
}

interface Self {
  readonly options: Options
  /** The state that was published last. Only `publish` changes it. */
  readonly state: MutableRef.MutableRef<State>
  readonly listeners: Set<Listener>
  readonly report: ListReport.ListReport
  /** The fingerprints of the tools that servers have listed. `read` sets them. */
  readonly fingerprintOf: WeakMap<Tools.Tool, string>
}

/**
 * Makes the entries of a group. Each change is one synchronous step, so it needs no lock. A fiber that is interrupted directly after it
 * took a lock would never release the lock.
 */
export const make = (options: Options): Effect.Effect<CurrentEntries> =>
  Effect.map(ListReport.make, (report) => {
    const self: Self = {
      options,
      state: MutableRef.make<State>({ servers: new Map(), entries: Entries.empty }),
      listeners: new Set(),
      report,
      fingerprintOf: new WeakMap()
    }
    return {
      entries: Effect.sync(() => MutableRef.get(self.state).entries),
      changes: Stream.unwrapScoped(Effect.map(listener(self), ({ stream }) => stream)),
      add: (member, session) => read(self, member, session, (entries) => refusal(self, member, entries)),
      refresh: (member, session) => read(self, member, session, () => Exit.void),
      hide: (member) => update(self, member, (server) => ({ ...server, isAway: true })),
      remove: (member) => update(self, member, () => undefined),
      renew: Effect.sync(() => publish(self, stateOf(self, MutableRef.get(self.state).servers))),
      refusal: ({ listed, server }) => refusalOf(self)(server, listed)
    }
  })

const publish = ({ listeners, state }: Self, next: State): void => {
  MutableRef.set(state, next)
  for (const listener of listeners) listener.unsafeSlide(next.entries)
}

const listener = ({ listeners, state }: Self): Effect.Effect<Listener, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const listener = Outbox.make<GroupEntries.Entries>(CAPACITY)
      listeners.add(listener)
      listener.unsafeOffer(MutableRef.get(state).entries)
      return listener
    }),
    (listener) =>
      Effect.sync(() => {
        listeners.delete(listener)
        listener.end(Exit.void)
      })
  )

/** Decides whether the group accepts a change that leads to these entries. A failure refuses the change. */
type Accept<E> = (entries: GroupEntries.Entries) => Exit.Exit<void, E>

const refusal = (
  { options }: Self,
  member: Membership,
  entries: GroupEntries.Entries
): Exit.Exit<void, DuplicateEntry> => {
  const collision = options.refuseCollisions ? Entries.collisions(entries, member.name) : undefined
  return collision === undefined ? Exit.void : Exit.fail(new DuplicateEntry({ server: member.name, ...collision }))
}

/** Reads the lists of a server, and puts its entries into the group if `accept` allows it. */
const read = Effect.fnUntraced(function*<E>(
  self: Self,
  member: Membership,
  session: ClientSessionService,
  accept: Accept<E>
) {
  const before = MutableRef.get(self.state).servers.get(member)?.lists
  const { lists, ...listing } = yield* ServerLists.read(session, before)
  const fingerprints = yield* self.options.fingerprints?.see(member.name, lists.tools) ?? noFingerprints
  for (const tool of lists.tools) self.fingerprintOf.set(tool, fingerprints.get(tool.name) ?? "")
  yield* set(self, member, { name: member.name, info: session.serverInfo, lists, isAway: false }, accept)
  return listing
})

const noFingerprints = Effect.succeed<ReadonlyMap<string, string>>(new Map())

const refusalOf = ({ fingerprintOf, options: { fingerprints } }: Self): Entries.Refusal => (server, tool) =>
  fingerprints?.refusal(server, tool.name, fingerprintOf.get(tool))

/** Sets the lists of a server, and logs the entries that are renamed because of this change. */
const set = <E>(self: Self, member: Membership, server: Entries.Server, accept: Accept<E>): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const before = MutableRef.get(self.state)
    const next = stateOf(self, new Map(before.servers).set(member, server))
    const accepted = accept(next.entries)
    if (Exit.isFailure(accepted)) return accepted
    publish(self, next)
    return Effect.zipRight(
      Effect.forEach(
        Entries.renamed(before.entries, next.entries),
        (renamed) => Effect.logWarning(sentence(renamed)),
        { discard: true }
      ),
      self.report.report(Entries.listings(inOrder(next.servers)))
    )
  })

/** Changes the stored lists of a server that is in the group. When `change` returns `undefined`, the server is removed. */
const update = (
  self: Self,
  member: Membership,
  change: (server: Entries.Server) => Entries.Server | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    const { servers } = MutableRef.get(self.state)
    const server = servers.get(member)
    if (server === undefined) return
    const changed = change(server)
    const others = new Map(servers)
    others.delete(member)
    publish(self, stateOf(self, changed === undefined ? others : others.set(member, changed)))
  })

const stateOf = (self: Self, servers: Servers): State => ({
  servers,
  entries: Entries.of(inOrder(servers), self.options, refusalOf(self))
})

const inOrder = (servers: Servers): ReadonlyArray<Entries.Server> =>
  [...servers].sort(([a], [b]) => a.order - b.order).map(([, server]) => server)

const sentence = ({ kind, names, server }: Entries.Renamed): string =>
  `The server "${server}" has ${Names.noun[kind]}s whose names other servers of the group have. They are renamed: ${
    Names.listed([...names].map(([name, taken]) => `${taken} is ${name}`))
  }. ${Names.advice(kind)}`
