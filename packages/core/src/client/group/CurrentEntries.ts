/**
 * The current entries of a group: the entries of one server are added, read again, hidden and removed, each time in one
 * change. The lists of the server are read before the change.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Outbox from "../../kit/Outbox.js"
import type { ClientError } from "../ClientError.js"
import type { ClientSessionService } from "../ClientSession.js"
import type * as GroupEntries from "../GroupEntries.js"
import { DuplicateEntry } from "../GroupError.js"
import * as Entries from "./Entries.js"
import type { Naming } from "./Names.js"
import * as Names from "./Names.js"
import * as ServerLists from "./ServerLists.js"

/** One stay of a server in the group: another server may have the name later. */
export interface Membership {
  readonly name: string
  /** Of two servers with an entry of the same name, the one with the lower number keeps the name. */
  readonly order: number
}

export interface Options extends Naming {
  /** Whether a server is refused when it has a name of another server, instead of renaming the entry. */
  readonly refuseCollisions: boolean
}

export interface CurrentEntries {
  readonly entries: Effect.Effect<GroupEntries.Entries>
  /** The entries now, and after each change. A slow listener misses older ones. */
  readonly changes: Stream.Stream<GroupEntries.Entries>
  /** Reads the lists of a server and adds its entries. Gives whether the server gave all of its lists. */
  readonly add: (
    member: Membership,
    session: ClientSessionService
  ) => Effect.Effect<boolean, ClientError | DuplicateEntry>
  /** Reads the lists of a server again. A list that the server does not give stays as it was. */
  readonly refresh: (member: Membership, session: ClientSessionService) => Effect.Effect<boolean, ClientError>
  /** Takes the entries away while the server is not connected. Their names stay reserved for it. */
  readonly hide: (member: Membership) => Effect.Effect<void>
  readonly remove: (member: Membership) => Effect.Effect<void>
}

/** How many changes wait for a slow listener before it loses the oldest. The newest is never lost. */
const CAPACITY = 16

type Listener = Outbox.Outbox<GroupEntries.Entries>

type Servers = ReadonlyMap<Membership, Entries.Server>

interface State {
  readonly servers: Servers
  readonly entries: GroupEntries.Entries
}

/**
 * Each change is one synchronous step: a lock would be lost when a server that has just taken it is interrupted. `state` is
 * what was published last.
 */
export const make = (options: Options): Effect.Effect<CurrentEntries> =>
  Effect.sync(() => {
    let state: State = { servers: new Map(), entries: Entries.empty }
    const listeners = new Set<Listener>()
    const publish = (next: State): void => {
      state = next
      for (const listener of listeners) listener.unsafeSlide(next.entries)
    }
    const listener: Effect.Effect<Listener, never, Scope.Scope> = Effect.acquireRelease(
      Effect.sync(() => {
        const listener = Outbox.make<GroupEntries.Entries>(CAPACITY)
        listeners.add(listener)
        listener.unsafeOffer(state.entries)
        return listener
      }),
      (listener) =>
        Effect.sync(() => {
          listeners.delete(listener)
          listener.end(Exit.void)
        })
    )
    /** Sets what is known of a server, and logs which entries were renamed for it. */
    const set = <E>(
      member: Membership,
      server: Entries.Server,
      accept: (entries: GroupEntries.Entries) => Exit.Exit<void, E>
    ): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        const before = state.entries
        const next = stateOf(new Map(state.servers).set(member, server), options)
        const accepted = accept(next.entries)
        if (Exit.isFailure(accepted)) return accepted
        publish(next)
        return Effect.forEach(
          Entries.renamed(before, next.entries),
          (renamed) => Effect.logWarning(sentence(renamed)),
          { discard: true }
        )
      })
    const update = (member: Membership, change: (server: Entries.Server) => Entries.Server | undefined) =>
      Effect.sync(() => {
        const server = state.servers.get(member)
        if (server === undefined) return
        const changed = change(server)
        const others = new Map(state.servers)
        others.delete(member)
        publish(stateOf(changed === undefined ? others : others.set(member, changed), options))
      })
    const read = <E>(
      member: Membership,
      session: ClientSessionService,
      accept: (entries: GroupEntries.Entries) => Exit.Exit<void, E>
    ) =>
      Effect.gen(function*() {
        const { isComplete, lists } = yield* ServerLists.read(session, state.servers.get(member)?.lists)
        yield* set(member, { name: member.name, info: session.serverInfo, lists, isAway: false }, accept)
        return isComplete
      })
    return {
      entries: Effect.sync(() => state.entries),
      changes: Stream.unwrapScoped(Effect.map(listener, ({ stream }) => stream)),
      add: (member, session) =>
        read(member, session, (entries): Exit.Exit<void, DuplicateEntry> => {
          const collision = options.refuseCollisions ? Entries.collisions(entries, member.name) : undefined
          return collision === undefined
            ? Exit.void
            : Exit.fail(new DuplicateEntry({ server: member.name, ...collision }))
        }),
      refresh: (member, session) => read(member, session, () => Exit.void),
      hide: (member) => update(member, (server) => ({ ...server, isAway: true })),
      remove: (member) => update(member, () => undefined)
    }
  })

const stateOf = (servers: Servers, naming: Naming): State => ({
  servers,
  entries: Entries.of([...servers].sort(([a], [b]) => a.order - b.order).map(([, server]) => server), naming)
})

const sentence = ({ kind, names, server }: Entries.Renamed): string =>
  `The server "${server}" has ${Names.noun[kind]}s whose names other servers of the group have. They are renamed: ${
    Names.listed([...names].map(([name, taken]) => `${taken} is ${name}`))
  }. ${Names.advice(kind)}`
